"""recorder-tasks.py - tasks of schedulers inside the program, in gdb."""
# SPDX-License-Identifier: MIT
#
#   (gdb) recorder tasks
#   (gdb) recorder task T3
#   (gdb) bt
#   (gdb) recorder prev
#
# recorder-gdb.py sources this file, and is what it is built on. A tour shows the
# stacks of tasks that do not run: an unwinder says that the selected thread's
# innermost frame was called by the task. So frame 0 stays the thread's, frame 1
# is the task's, and no register and no memory is written.

import collections

from gdb.unwinder import Unwinder, register_unwinder

# ------------------------------------------------------------------ unwinder --

# gdb's names of registers, by their DWARF numbers.
NAMES = {
    62: ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"] +
        ["r%d" % i for i in range(8, 16)] + ["rip"],
    3: ["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"],
    183: ["x%d" % i for i in range(31)] + ["sp", "pc"],
    40: ["r%d" % i for i in range(13)] + ["sp", "lr", "pc"],
    8: ["r%d" % i for i in range(29)] + ["sp", "s8", "ra"] + [None] * 31 +
        ["pc"]}

# Where a tour is: a task's registers by name, which the unwinder shows on one
# thread, or None: the frames are that thread's own.
Stop = collections.namedtuple("Stop", "thread registers sp address")


class FrameId:
    """The key of a frame in gdb."""

    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


class TaskUnwinder(Unwinder):
    """Says of the innermost function of one thread that a task called it."""

    def __init__(self):
        super().__init__("recorder-task")

    def __call__(self, pending):
        stop = Tour.now
        if not Tour.is_shown() or not Tour.is_innermost(pending):
            return None
        # Below the task's own frames, or gdb takes the stack for a corrupt one.
        info = pending.create_unwind_info(FrameId(stop.sp - 256, 0))
        for name, value in stop.registers.items():
            kind = pending.read_register(name).type
            value = gdb.Value(value)
            if kind.code == gdb.TYPE_CODE_PTR or kind.sizeof == 8:
                info.add_saved_register(name, value.cast(kind))
            else:
                info.add_saved_register(
                    name, (value & ((1 << 8 * kind.sizeof) - 1)).cast(kind))
        return info


class TaskFilter:
    """Hides the thread's frame from the backtrace of a task, and the 0 to which
    its outermost function would return."""

    def __init__(self):
        self.name, self.enabled, self.priority = "recorder-task", True, 100
        gdb.frame_filters[self.name] = self

    @staticmethod
    def filter(frames):
        """As gdb asks for it."""
        if not Tour.is_shown():
            return frames
        return (frame for frame in frames
                if frame.inferior_frame().level() > Tour.level and
                frame.inferior_frame().pc() != 0)

# ---------------------------------------------------------------------- tour --

# The commands that continue the program. A tour must end before them: gdb looks
# at frame 0 when it begins to step, before it reports that the program
# continues.
GOES_ON = ("continue next nexti step stepi finish advance until jump signal "
           "queue-signal run start starti kill detach reverse-continue "
           "reverse-next reverse-nexti reverse-step reverse-stepi "
           "reverse-finish").split()


class Tour:
    """The way through tasks: last in, first out."""

    now = None      # where it is: a Stop; None: there is none
    before = []     # where it was
    place = None    # the thread's own program counter and stack pointer
    level = 0       # of its innermost function's frame: those of what was
                    # inlined into it come before
    hooked = False
    limits = None   # gdb's settings, which would end a stack at the thread's
                    # main(): as the user had them

    @classmethod
    def limit(cls, shows):
        """Lets gdb continue to the task's frames after main() of the thread."""
        names = ["backtrace past-main", "backtrace past-entry"]
        if shows and cls.limits is None:
            cls.limits = [gdb.parameter(name) for name in names]
            for name in names:
                output_of("set %s on" % name)
        elif not shows and cls.limits is not None:
            for name, value in zip(names, cls.limits):
                output_of("set %s %s" % (name, "on" if value else "off"))
            cls.limits = None

    @classmethod
    def is_shown(cls):
        """Does the selected thread show a task's frames?"""
        thread = gdb.selected_thread()
        return (cls.now is not None and cls.now.registers is not None and
                thread is not None and thread.is_valid() and
                thread.ptid == cls.now.thread.ptid)

    @classmethod
    def is_innermost(cls, pending):
        """Is it the frame of the thread's innermost function?"""
        return cls.place == tuple(int(pending.read_register(name))
                                  for name in ("pc", "sp"))

    @classmethod
    def show(cls, stop):
        """Goes there."""
        cls.now = None
        stop.thread.switch()
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        cls.place = tuple(int(frame.read_register(name))
                          for name in ("pc", "sp"))
        cls.level = 0
        cls.now = stop
        cls.limit(stop.registers is not None)
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        if stop.registers is not None:
            while frame.type() == gdb.INLINE_FRAME:
                frame = frame.older()
            cls.level = frame.level()
            frame = frame.older()
        if frame is None:
            cls.end()
            raise gdb.GdbError("recorder: gdb shows no frame of this task")
        frame.select()

    @classmethod
    def push(cls, stop):
        """Goes on to another place."""
        cls.hook()
        cls.before.append(cls.now or
                          Stop(gdb.selected_thread(), None, 0, 0))
        cls.show(stop)

    @classmethod
    def pop(cls):
        """Goes back by one. False: this is the start."""
        if not cls.before:
            return False
        cls.show(cls.before.pop())
        if not cls.before:
            cls.now = None
        return True

    @classmethod
    def end(cls):
        """Returns to the start, unless the user has selected another thread."""
        if cls.now is None:
            return
        now, start = cls.now, (cls.before or [cls.now])[0]
        cls.now, cls.before = None, []
        cls.limit(False)
        selected = gdb.selected_thread()
        gdb.invalidate_cached_frames()
        if selected is None:
            return
        if selected.ptid == now.thread.ptid and start.thread.is_valid():
            start.thread.switch()
            gdb.newest_frame().select()
            # `advance 10` means the file of the frame shown last.
            output_of("frame")

    @classmethod
    def forget(cls, event=None):
        """The program continues, or has ended."""
        if cls.now is not None:
            cls.now, cls.before = None, []
            cls.limit(False)
            gdb.invalidate_cached_frames()

    @classmethod
    def hook(cls):
        """At the first task: each continuing command ends the tour first."""
        if cls.hooked:
            return
        cls.hooked = True
        for name in GOES_ON:
            try:
                gdb.execute("show user hook-" + name, to_string=True)
                gdb.write("recorder: hook-%s is yours: let it call "
                          "`recorder reset quietly`\n" % name, gdb.STDERR)
            except gdb.error:
                output_of("define hook-%s\nrecorder reset quietly\nend" % name)


register_unwinder(None, TaskUnwinder(), True)
TaskFilter()
for happened in "cont", "exited", "connection_removed", "clear_objfiles":
    if hasattr(gdb.events, happened):
        getattr(gdb.events, happened).connect(Tour.forget)

# ------------------------------------------------------------------ commands --


class Tasks(Program):
    """The tasks of gdb's current program: with Tasks() as tasks: ..."""

    def __init__(self):
        super().__init__("tasks_open")

    def all(self):
        """(index, Task) of each."""
        found, i = [], 0
        while True:
            task = Task()
            if not self.call("task", i, ctypes.byref(task)):
                return found
            found.append((i, task))
            i += 1

    def here(self):
        """The address of the task that is shown, or that runs on the selected
        thread; 0: none."""
        if Tour.is_shown():
            return Tour.now.address
        selected = gdb.selected_thread()
        for _, task in self.all():
            thread = self.thread_of(task)
            if thread and selected and thread.ptid == selected.ptid:
                return task.address
        return 0

    def thread_of(self, task):
        """The thread that runs a task, or None. A stub without a system has one
        for all of them."""
        if task.thread >= 0:
            return self.thread_at(task.thread)
        threads = self.inferior.threads()
        return threads[0] if task.running and len(threads) == 1 else None

    def stop(self, i, task):
        """Where a tour goes to, for that task."""
        if task.dead:
            raise gdb.GdbError("recorder: task %s is dead" % title(task))
        if task.running:
            thread = self.thread_of(task)
            if not thread:
                raise gdb.GdbError(
                    "recorder: task %s runs, and on which thread is not known" %
                    title(task))
            return Stop(thread, None, 0, task.address)
        registers = Registers()
        names = NAMES.get(self.target.machine)
        if not names or not self.call("task_registers", i,
                                      ctypes.byref(registers)):
            raise gdb.GdbError("recorder: the context of task %s is not known, "
                               "or cannot be read" % title(task))
        values = {names[k]: registers.value[k] for k in range(len(names))
                  if names[k] and registers.known >> k & 1}
        if registers.xpsr:
            values["xpsr"] = registers.xpsr
        return Stop(gdb.selected_thread(), values,
                    registers.value[registers.sp], task.address)

    def find(self):
        """As Program's; there may be no recorder."""
        try:
            super().find()
        except gdb.error:
            pass


def title(task):
    """"T3 (3, userCluster)" """
    return "%s (%d, %s)" % (text_of(task.name) or "0x%x" % task.address,
                            task.id, text_of(task.group))


class Groups(Command):
    """Show the groups of tasks.

Usage: recorder groups"""

    def invoke(self, argument, from_tty):
        self.nothing(argument)
        with Tasks() as tasks:
            gdb.write(text_of(tasks.call("groups")))
            tasks.warn("tasks_warnings")


class Workers(Command):
    """Show the threads, and the task that each runs.

Usage: recorder workers [GROUP]

THREAD is gdb's number, ID the kernel's. With GROUP, only the threads that
run one of its tasks."""

    def invoke(self, argument, from_tty):
        wanted = argument.strip()
        with Tasks() as tasks:
            runs = {task.thread: task for _, task in tasks.all()
                    if task.thread >= 0}
            gdb.write("  THREAD       ID  %-15s  GROUP            TASK\n" %
                      "NAME")
            for i, thread in sorted(enumerate(tasks.threads.values()),
                                    key=lambda row: row[1].num):
                task = runs.get(i)
                group = text_of(task.group) if task else ""
                if wanted and group != wanted:
                    continue
                mark = "*" if thread == gdb.selected_thread() else " "
                gdb.write(("%s %6d %8d  %-15s  %-15s  %s" % (
                    mark, thread.num, thread.ptid[1] or thread.ptid[2],
                    thread.name or "", group,
                    "%s (%d)" % (text_of(task.name), task.id)
                    if task else "")).rstrip() + "\n")


class List_(Command):
    """Show the tasks, their states and waits.

Usage: recorder tasks [all|GROUP]

GROUP is an extended regular expression for whole names of groups. The
scheduler's own tasks, whose ids are below 0, are shown with either. The *
marks gdb's position."""

    def invoke(self, argument, from_tty):
        words = argument.split()
        if len(words) > 1:
            self.misuse("%s: only one group" % words[1])
        every = words == ["all"]
        group = words[0].encode() if words and not every else None
        with Tasks() as tasks:
            text = tasks.call("tasks", group, bool(words), tasks.here())
            if text is None:
                self.misuse("%s is no regular expression" % words[0])
            gdb.write(text_of(text))
            tasks.warn("tasks_warnings")


class Go(Command):
    """Show the stack of a task: bt, up, down, info locals are its own.

Usage: recorder task ID [GROUP] | NAME | 0xADDRESS
       recorder task apply all|REGEX COMMAND

No register and no memory is written. A task that runs is shown by its thread.
`recorder prev` goes back to where the last task was chosen, `recorder reset` to
the start, which next, continue and their like do by themselves. Frame 0 is the
thread's; thread-local variables and $_siginfo are the thread's, too, not the
task's. `apply` runs a command for all tasks, or for those whose whole name
matches, and comes back."""

    def invoke(self, argument, from_tty):
        words = argument.split(None, 2)
        if not words:
            self.misuse("which task?")
        if words[0] == "apply" and len(words) == 3:
            self.apply(words[1], words[2])
            return
        if words[0] == "apply" or len(argument.split()) > 2:
            self.misuse("%s" % argument)
        with Tasks() as tasks:
            stop = tasks.stop(*self.one(tasks, argument.split()))
        Tour.push(stop)
        gdb.execute("frame")

    @staticmethod
    def one(tasks, words):
        """The task that is meant, by number, address or name."""
        group = words[1] if len(words) > 1 else None
        number = re.match("-?[0-9]+$", words[0])
        address = re.match("0x[0-9a-fA-F]+$", words[0])
        if address:
            found = [one for one in tasks.all()
                     if one[1].address == int(words[0], 16)]
        else:
            found = [one for one in tasks.all()
                     if text_of(one[1].name) == words[0] or
                     number and one[1].id == int(words[0])]
        found = [one for one in found
                 if not group or text_of(one[1].group) == group]
        if not found:
            raise gdb.GdbError("recorder: no task %s" % " ".join(words))
        alive = [one for one in found if not one[1].dead]
        if len(alive or found) > 1:
            raise gdb.GdbError("recorder: %s may be\n%s" % (
                words[0], "\n".join("  0x%x %s" % (task.address, title(task))
                                    for _, task in (alive or found))))
        return (alive or found)[0]

    @staticmethod
    def apply(which, command):
        """As `thread apply` does."""
        try:
            name = None if which == "all" else re.compile(which)
        except re.error as error:
            raise gdb.GdbError("recorder: %s: %s" % (which, error))
        with Tasks() as tasks:
            chosen = [(i, task) for i, task in tasks.all() if not task.dead and
                      (not name or name.fullmatch(text_of(task.name)))]
            for i, task in chosen:
                gdb.write("\nTask %s:\n" % title(task))
                try:
                    Tour.push(tasks.stop(i, task))
                except gdb.GdbError as error:
                    gdb.write("%s\n" % error)
                    continue
                try:
                    gdb.execute(command)
                except gdb.error as error:
                    gdb.write("%s\n" % error)
                if not Tour.pop():
                    return  # the program went on


class Prev(Command):
    """Go back to where the last task was chosen.

Usage: recorder prev"""

    def invoke(self, argument, from_tty):
        self.nothing(argument)
        if not Tour.pop():
            raise gdb.GdbError("recorder: the tour is at its start")
        gdb.execute("frame")


class Reset(Command):
    """End a tour of tasks: go back to where it began.

Usage: recorder reset [quietly]"""

    def invoke(self, argument, from_tty):
        if argument.strip() not in ("", "quietly"):
            self.misuse("%s is not taken" % argument.strip())
        Tour.end()
        if not argument.strip() and gdb.selected_thread():
            gdb.execute("frame")


Groups("groups")
Workers("workers")
List_("tasks")
Go("task")
Prev("prev")
Reset("reset")
