/* interpreter.c - an interpreter: values and places that are small. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: SIGILL: illegal instruction */
#include "unrelated.h"
RECORDER(vm, 1024, "Interpreter")
enum op { PUSH, ADD, POP, PRINT, HALT };
struct vm {
    int pc, sp;
    long stack[32];
    const char *names[4];
};
static NOINLINE size_t name_length(const struct vm *vm, int n)
{
    return strlen(vm->names[n]);
}
static NOINLINE int run(struct vm *vm, const unsigned char *code)
{
    for (;;) {
        unsigned char op = code[vm->pc++];
        switch (op) {
        case PUSH:
            vm->stack[vm->sp++] = code[vm->pc++];
            record(vm, "push v=%ld sp=%d", vm->stack[vm->sp - 1], vm->sp);
            break;
        case ADD:
            vm->sp--;
            vm->stack[vm->sp - 1] += vm->stack[vm->sp];
            record(vm, "add v=%ld sp=%d pc=%d", vm->stack[vm->sp - 1], vm->sp,
                   vm->pc);
            break;
        case POP:
            vm->sp--;
            record(vm, "pop sp=%d", vm->sp);
            break;
        case PRINT: return (int)name_length(vm, (int)vm->stack[--vm->sp]);
        default: __builtin_trap();
        }
    }
}
int main(int argc, char **argv)
{
    struct vm *vm = calloc(1, sizeof *vm);
    unsigned char code[64];
    int n = 0;
    record(vm, "new vm=%p code=%p", A(vm), A(code));
    vm->names[0] = "x";
    for (int i = 0; i < 8; i++) {
        code[n++] = PUSH;
        code[n++] = (unsigned char)i;
        code[n++] = PUSH;
        code[n++] = 2;
        code[n++] = ADD;
        code[n++] = POP;
    }
    code[n++] = PUSH;
    code[n++] = 2;
    code[n++] = argv[1][0] == 'a' ? PRINT : 77;
    return run(vm, code);
}
