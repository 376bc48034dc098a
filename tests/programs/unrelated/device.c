/* device.c - a device that main records at start. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: SIGSEGV: call of */
#include "unrelated.h"
RECORDER(drv, 256, "Driver")
struct registers {
    unsigned control, status;
};
struct device {
    int irq;
    volatile struct registers *regs;
    void (*ops[4])(struct device *);
    unsigned long flags;
};
static struct device *dev;
static void op(struct device *d)
{
    d->irq++;
}
static NOINLINE void setup(void)
{
    dev = calloc(1, sizeof *dev);
    dev->irq = 9;
    for (int i = 0; i < 4; i++)
        dev->ops[i] = op;
    dev->flags = 0x4141414142424242;
}
static NOINLINE void tick(unsigned n)
{
    record(drv, "irq=%d n=%u", dev->irq, n);
    dev->ops[n % 4](dev);
}
int main(int argc, char **argv)
{
    setup();
    record(drv, "attach device=%p irq=%d", A(dev), dev->irq);
    for (unsigned i = 0; i < 100; i++)
        tick(i);
    if (argv[1][0] == 'a') {
        struct device *d = dev;
        d->regs->control = 1;
        return (int)d->regs->status;
    }
    tick(100);
    {
        int n = argc * 2 + 2;
        dev->ops[n](dev);
    }
    return 0;
}
