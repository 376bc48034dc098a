/* sched_note.h - a stand-in: the functions that the kernel calls. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHED_NOTE_H
#define SCHED_NOTE_H

#include "sched.h"

void sched_note_start(struct tcb_s *tcb);
void sched_note_stop(struct tcb_s *tcb);
void sched_note_suspend(struct tcb_s *tcb);
void sched_note_resume(struct tcb_s *tcb);
void sched_note_irqhandler(int irq, void *handler, bool enter);

#endif
