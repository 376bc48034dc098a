/* bare-stream.c - sends its records while they are made, by UART or RTT. */
/* SPDX-License-Identifier: MIT */
/*
 * RECORDS of main, each a third of them of the timer's interrupt, at the pace
 * at which they are sent. Their arguments tell a reader whether one is wrong.
 */
#include "port.h"

#define RECORDER_STREAM_RTT 2048
#define RECORDER_STREAM_ITM 0xe0000000u
#include "recorder_stream.h"

RECORDER(numbers, 64, "n, its square and its complement");
RECORDER(timer, 16, "Records of the timer's interrupt");
RECORDER(texts, 32, "Texts that are copied");

#define UART(offset) (*(volatile uint32_t *)(0x40004000u + (offset)))

bool uart(const void *frame, size_t size);
bool uart(const void *frame, size_t size)
{
    size_t i;
    UART(16) = 16; /* the least divider of the clock */
    UART(8) = 1;
    for (i = 0; i < size; i++) {
        while (UART(4) & 1)
            ;
        UART(0) = ((const unsigned char *)frame)[i];
    }
    return true;
}

static struct recorder_stream stream;

void SysTick_Handler(void)
{
    static unsigned samples;
    samples++;
    record(timer, "sample %u, of %u", samples, samples ^ 0x5a5a5a5au);
}
void HardFault_Handler(void)
{
    port_exit(4);
}

static void wait(unsigned microseconds)
{
    uint32_t start = RECORDER_TIME();
    while (RECORDER_TIME() - start < microseconds)
        recorder_stream_send(&stream, STREAM);
}

int main(void)
{
    unsigned n;
    char text[] = "text 0000";
    port_every(7000);
    for (n = 1; n <= RECORDS; n++) {
        record(numbers, "n=%u %u %u", n, n * n, ~n);
        if (n % 10 == 0) {
            text[8] = (char)('0' + n / 10 % 10);
            record(texts, "%s of %u", RECORDER_COPY(texts, text), n / 10 % 10);
        }
        wait(PACE);
    }
    port_every(0);
    wait(1000000);
    return 0;
}
