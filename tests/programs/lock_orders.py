# lock_orders.py - a random program that takes locks, and whether it can hang.
# SPDX-License-Identifier: MIT
"""
usage: lock_orders.py SEED PROGRAM.c

Writes a program whose threads take pairs of locks, make and join threads, and
destroy and initialise locks, one step after the other. Prints 1 if a deadlock is
possible where the steps of the threads may come in any order that their
creations and joins allow, else 0.
"""
import itertools
import random
import sys

CALLS = {
    "mutex": ("pthread_mutex_t", "pthread_mutex_lock", "pthread_mutex_unlock",
              "pthread_mutex_init(&l[%d], 0)", "pthread_mutex_destroy"),
    "rwlock": ("pthread_rwlock_t", "pthread_rwlock_wrlock",
               "pthread_rwlock_unlock", "pthread_rwlock_init(&l[%d], 0)",
               "pthread_rwlock_destroy"),
    "spin": ("pthread_spinlock_t", "pthread_spin_lock", "pthread_spin_unlock",
             "pthread_spin_init(&l[%d], 0)", "pthread_spin_destroy"),
    "c11": ("mtx_t", "mtx_lock", "mtx_unlock", "mtx_init(&l[%d], 0)",
            "mtx_destroy"),
}


class Schedule:
    """One order of steps, with a vector clock for each thread."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kind = self.random.choice(["mutex"] * 2 + sorted(CALLS))
        self.threads = self.random.randint(2, 5)
        self.locks = self.random.randint(2, 4)
        self.life = [0] * self.locks
        self.steps = []  # thread, what, with what
        self.taken = []  # thread, lock held, lock taken, clock
        self.clock = {0: {0: 1}}
        self.parent = {}
        self.left = {t: self.random.randint(t > 0, 3)
                     for t in range(self.threads + 1)}
        self.often = self.random.choice([0, 0, 0.15])
        self.unborn = list(range(1, self.threads + 1))
        while len(self.steps) < 60 and self.step():
            pass

    def step(self):
        alive = sorted(self.clock)
        can = [("take", t) for t in alive if self.left[t]]
        can += [("make", 0)] if self.unborn else []
        can += [("join", t) for t in alive if t and not self.left[t]]
        if self.random.random() < self.often:
            can.append(("begin", self.random.choice(alive)))
        if can:
            what, t = self.random.choice(can)
            getattr(self, what)(t)
        return can

    def tick(self, t):
        self.clock[t][t] = self.clock[t].get(t, 0) + 1

    def take(self, t):
        held, taken = self.random.sample(range(self.locks), 2)
        self.left[t] -= 1
        self.tick(t)
        self.steps.append((t, "take", (held, taken)))
        self.taken.append((t, (held, self.life[held]),
                           (taken, self.life[taken]), dict(self.clock[t])))

    def make(self, t):
        made = self.unborn.pop(0)
        self.tick(t)
        self.clock[made] = {**self.clock[t], made: 1}
        self.steps.append((t, "make", made))
        self.tick(t)

    def join(self, of):
        for t, time in self.clock.pop(of).items():
            self.clock[0][t] = max(self.clock[0].get(t, 0), time)
        self.tick(0)
        self.steps.append((0, "join", of))

    def begin(self, t):
        lock = self.random.randrange(self.locks)
        self.life[lock] += 1
        self.tick(t)
        self.steps.append((t, "begin", lock))

    def can_hang(self):
        def before(a, b):
            return b[3].get(a[0], 0) >= a[3][a[0]]
        def at_once(a, b):
            return a[0] != b[0] and not before(a, b) and not before(b, a)
        return any(
            all(c[i][2] == c[(i + 1) % n][1] for i in range(n))
            and all(at_once(a, b) for a, b in itertools.combinations(c, 2))
            for n in (2, 3, 4) for c in itertools.permutations(self.taken, n))

    def code(self, what, of):
        _, lock, unlock, begin, end = CALLS[self.kind]
        if what == "take":
            return "".join(f"{call}(&l[{i}]);" for call, i in (
                (lock, of[0]), (lock, of[1]), (unlock, of[1]), (unlock, of[0])))
        if what == "make":
            return f"pthread_create(&t[{of}], 0, f{of}, 0);"
        if what == "join":
            return f"pthread_join(t[{of}], 0);"
        return f"{end}(&l[{of}]);{begin % of};"

    def body(self, t):
        return "\n".join(
            f"while (turn != {i}) usleep(200); {self.code(what, of)} turn++;"
            for i, (by, what, of) in enumerate(self.steps) if by == t)

    def program(self):
        lines = ["#include <pthread.h>", "#include <threads.h>",
                 "#include <unistd.h>", "static _Atomic int turn;",
                 f"static {CALLS[self.kind][0]} l[{self.locks}];",
                 "static pthread_t t[9];"]
        lines += [f"static void *f{t}(void *p) {{ {self.body(t)} return p; }}"
                  for t in range(self.threads, 0, -1)]
        begins = "".join(CALLS[self.kind][3] % i + ";"
                         for i in range(self.locks))
        lines.append(f"int main(void) {{ {begins}{self.body(0)}")
        lines.append(f"while (turn < {len(self.steps)}) usleep(200);")
        lines.append("usleep(20000); return 0; }")
        return "\n".join(lines) + "\n"


schedule = Schedule(int(sys.argv[1]))
with open(sys.argv[2], "w") as file:
    file.write(schedule.program())
print(int(schedule.can_hang()))
