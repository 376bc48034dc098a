/* board.h - functions of the board that main.c calls. */
/* SPDX-License-Identifier: MIT */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

void board_every(uint32_t microseconds); /* calls SysTick_Handler; 0: no more */
_Noreturn void board_reset(void);
_Noreturn void board_end(int status); /* of the simulation */

int main(void);
void SysTick_Handler(void);
void HardFault_Handler(void);

#endif
