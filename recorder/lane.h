/* lane.h - how a lane goes from a thread that has ended to another. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_LANE_H_
#define RECORDER_LANE_H_

#include "word.h"

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- owner --
 *
 * The owner of a lane is a thread's id, 0 before the first one.
 *   O1 id = owner                 relaxed
 *   O2 id is 0, or has ended                else the lane is another's
 *   O3 owner: id -> taken         acquire   if it is still id; else another's
 *   O4 id has ended, still        acquire   else put it back: another's
 *   O5 owner = me                 release
 *   O3, O4    An id may be given again, to a thread that takes this lane
 *             between O2 and O3. Else two threads write to the ring of one.
 *   O5 -> O3  Who finds that thread's id sees at O4 that it lives.
 *   O4        A thread's stores come before its end, and before who sees that
 *             (the kernel's order). Else positions are handed out again.
 *
 * tests/model takes each label away in turn; the checker must then fail.
 */
/* Takes a lane for the thread `me`. Returns false if it is another's. `ended`
 * says whether a thread has. */
RECORDER_INLINE_ bool recorder_owner_take_(uintptr_t *owner, uintptr_t me,
                                           bool (*ended)(uintptr_t id))
{
    const uintptr_t nobody = 0, taken = UINTPTR_MAX;
    uintptr_t id = recorder_get_(owner);
    bool mine;
    RECORDER_STEP_(O1);
    if (id == taken || (id != nobody && !ended(id)))
        return false;
    RECORDER_STEP_(O2);
    if (!__atomic_compare_exchange_n(owner, &id, taken, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    RECORDER_STEP_(O3);
    mine = id == nobody || ended(id);
    recorder_fence_acquire_(); RECORDER_STEP_(O4);
    __atomic_store_n(owner, mine ? me : id, __ATOMIC_RELEASE);
    RECORDER_STEP_(O5);
    return mine;
}

RECORDER_C_END_
#endif
