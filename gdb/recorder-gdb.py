"""recorder-gdb.py - the flight recorder's commands in gdb: help recorder."""
# SPDX-License-Identifier: MIT
#
#   (gdb) source gdb/recorder-gdb.py
#   (gdb) recorder dump net.* last 20
#   (gdb) recorder at 4711
#
# Reads what a live process, a core file, a recording or a remote stub holds, by
# gdb's own way to its memory. No code of the program is run, and no debug
# information is needed. Rings are read and text is made by librecorder.so.1, the
# reader of the `recorder` command, which the Python module `recorder` calls.
#
# RECORDER_LIBRARY in the environment names another library than the one that
# was installed or built with this file.

import bisect
import glob
import os
import platform
import re
import struct
import sys

import gdb

try:
    import ctypes
except ImportError as missing:
    raise gdb.GdbError("recorder-gdb.py: the Python of this gdb cannot load "
                       "libraries: %s" % missing)
if not hasattr(gdb.Architecture, "integer_type"):
    raise gdb.GdbError("recorder-gdb.py: needs gdb 12 or later")

HERE = os.path.dirname(os.path.abspath(__file__))

# ------------------------------------------------------------------- module --

# The module of this checkout; or where gdb's Python looks; or of this prefix.
if os.path.exists(os.path.join(HERE, "..", "python", "recorder")):
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
sys.path += glob.glob(os.path.join(HERE, "..", "..", "lib", "python3*",
                                   "*-packages"))
try:
    import recorder
    from recorder._gdb import CALLBACKS, Event, Registers, Target, Task, text_of
except ImportError as missing:
    raise gdb.GdbError("recorder-gdb.py: no Python module `recorder`, which "
                       "make install puts where Python finds it: %s" % missing)


def load_library():
    """librecorder, with the functions of gdb/library.h."""
    try:
        return recorder._gdb.library()
    except recorder.Error as error:
        raise gdb.GdbError("recorder: %s" % error)

# ------------------------------------------------------------------- target --


def output_of(command):
    """The output of a command of gdb; "" if it fails."""
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error:
        return ""


class Core:
    """The facts of a core file that gdb does not show."""

    def __init__(self, path):
        self.size = 1 << 32
        self.registry = None  # its address, which the note of a recording has
        self.missing = []     # (start, end) of memory that was left out
        self.loads = []       # (start, end, writable) of all memory
        try:
            with open(path, "rb") as file:
                self.size = os.fstat(file.fileno()).st_size
                self.read(file)
        except (OSError, OverflowError, IndexError, struct.error):
            pass  # gdb has said what it thinks of the file

    def read(self, file):
        """The program headers."""
        _, wide, big = struct.unpack("4s2b", file.read(6))  # e_ident
        file.seek(0)
        order = ">" if big == 2 else "<"  # ELFDATA2MSB
        wide = wide == 2                  # ELFCLASS64
        word = struct.Struct(order + ("Q" if wide else "I"))

        def members(layout):
            """The next values of the file; W is a word, x is skipped."""
            layout = struct.Struct(order + layout.replace("W", word.format[-1]))
            return layout.unpack(file.read(layout.size))

        # Elf32_Ehdr and Elf64_Ehdr, up to e_phnum
        _, _, table, _, _, _, size, count = members("16s8xWWWIHHH")
        for i in range(count):
            file.seek(table + i * size)
            # Elf64_Phdr, to p_memsz, and Elf32_Phdr, to p_flags
            if wide:
                kind, flags, offset, start, _, there, all_ = members("IIWWWWW")
            else:
                kind, offset, start, _, there, all_, flags = members("IWWWWWI")
            if kind == 1:
                self.loads.append((start, start + max(there, all_),
                                   bool(flags & 2)))
            if kind == 1 and there < all_:  # PT_LOAD
                self.missing.append((start + there, start + all_))
            elif kind == 4:  # PT_NOTE
                file.seek(offset)
                self.notes(file.read(min(there, self.size)), order, word)

    def notes(self, notes, order, word):
        """The values of our notes in a segment: {layout, registry}."""
        at, head = 0, struct.Struct(order + "3I")
        while at + head.size <= len(notes):
            name, value, kind = head.unpack_from(notes, at)
            owner = at + head.size
            data = owner + (name + 3 & ~3)
            if kind == 1 and notes[owner:owner + name] == b"RECORDER\0":
                _, self.registry = struct.unpack_from(
                    order + 2 * word.format[-1], notes, data)
            at = data + (value + 3 & ~3)


def mappings():
    """(start, end, "rw-p" or "", file or "") of the process's mappings; none
    without an operating system."""
    return [(int(start, 16), int(end, 16), flags or "", path.strip())
            for start, end, flags, path in re.findall(
                r"^[ \t]+0x(\w+) +0x(\w+) +0x\w+ +0x\w+ +([-rwxsp]{4})?(.*)$",
                output_of("info proc mappings"), re.M)]


# Processors with the same clock ticks as this machine, by Python's names.
NATIVE = {"x86_64": ["i386:x86-64", "i386:x64-32", "i386"],
          "aarch64": ["aarch64"], "riscv64": ["riscv:rv64"],
          "s390x": ["s390:64-bit"], "ppc64le": ["powerpc:common64"],
          "ppc64": ["powerpc:common64"]}


# The ELF numbers of processors whose tasks have stacks.
MACHINES = {"i386:x86-64": 62, "i386": 3, "aarch64": 183}


def stack_pointer(thread):
    """Of a thread that may not be selected; 0: it has none."""
    before = gdb.selected_thread()
    try:
        frame = gdb.selected_frame().level()
        thread.switch()
        return int(gdb.newest_frame().read_register("sp"))
    except gdb.error:
        return 0
    finally:
        before.switch()
        output_of("frame %d" % frame)


def callback(failed):
    """For a method that the library calls: an error does not pass through the
    library, which gets `failed`; Program.call() raises the error."""
    def decorate(method):
        def called(self, _, *arguments):
            try:
                return method(self, *arguments)
            except BaseException as error:
                self.interrupted = error
                return failed
        return called
    return decorate


class Program:
    """The recorders of gdb's current program: with Program() as program: ..."""

    def __init__(self, opens="open", *arguments):
        self.opens = opens
        self.arguments = arguments
        self.library = load_library()
        self.inferior = gdb.selected_inferior()
        self.interrupted = None
        if self.inferior.pid == 0:
            raise gdb.GdbError("recorder: no program runs here, and no core "
                               "file or recording is open")
        self.threads = {thread.ptid[1] or thread.ptid[2]: thread
                        for thread in self.inferior.threads()}
        connection = self.inferior.connection
        kind = connection.type if connection else ""
        self.live = kind != "core"
        self.remote = "remote" in kind
        files = output_of("info files")
        core = re.search(r"core dump file:\n\t`(.*)', file type", files)
        self.core = Core(core.group(1)) if core and not self.live else None
        self.registry = self.core and self.core.registry
        self.sections = sorted(
            (int(start, 16), int(end, 16), name) for start, end, name in
            re.findall(r"^\t0x(\w+) - 0x(\w+) is (\S+)", files, re.M))
        self.mapped = mappings()
        # The library's callbacks must live as long as it.
        self.target = self.make_target()
        self.of = self.library.recorder_gdb_new(ctypes.byref(self.target))
        if not self.of:
            raise gdb.GdbError("recorder: there is no memory for it")

    def make_target(self):
        """struct recorder_gdb_target"""
        architecture = self.inferior.architecture()
        byte = architecture.integer_type(8)
        one = gdb.Value(b"\1\0", architecture.integer_type(16))
        target = Target()
        target.live = self.live
        target.stale_order = bool(self.registry)
        target.word_bytes = byte.pointer().sizeof
        target.big_endian = int(one) != 1
        target.native = (architecture.name() in
                         NATIVE.get(platform.machine(), []))
        target.size = self.size()
        name = architecture.name()
        target.machine = MACHINES.get(name, 40 if name.startswith("arm") else
                                      8 if name.startswith("mips") else 0)
        # A recording has one thread, which is not the program's. Without an
        # operating system, gdb's threads are not the program's, either.
        has = {"write": self.live,
               "thread": not self.registry and (self.mapped or not self.live),
               "constant": self.mapped or self.core}
        for name, kind in CALLBACKS.items():
            if has.get(name, True):
                setattr(target, name, kind(getattr(self, name)))
        return target

    def size(self):
        """Of all that can be read at most, so that damaged figures take no more
        memory than that."""
        if self.core:
            return self.core.size
        return sum(end - start for start, end, *_ in self.mapped) or 1 << 32

    def __enter__(self):
        try:
            if not self.arguments:
                self.find()
            self.must(self.call(self.opens, *self.arguments))
        except BaseException:
            self.library.recorder_gdb_free(self.of)
            raise
        return self

    def __exit__(self, *_):
        self.library.recorder_gdb_free(self.of)

    # ---------------------------------------------------------- callbacks --

    def piece(self, at, size):
        """The bytes of a core file's memory that gdb can read at once. gdb
        fills gaps with zeros, and continues with zeros in the memory after
        them."""
        if not self.core:
            return size
        if any(start <= at < end for start, end in self.core.missing):
            files = [(start, end) for start, end, name in self.sections
                     if not name.startswith("load") and "bss" not in name]
            files += [(start, end) for start, end, _, path in self.mapped
                      if os.path.exists(path)]
            if not any(start <= at < end for start, end in files):
                return 0
        after = bisect.bisect(self.sections, (at + 1,))
        return min([size] + [start - at for start, _, _ in
                             self.sections[after:after + 1]])

    @callback(0)
    def read(self, address, to, size):
        """The `read` of struct memory: if gdb reports a gap, continues in ever
        smaller pieces."""
        done, piece = 0, 0 if self.interrupted else size
        while done < size and piece:
            at = address + done
            piece = self.piece(at, min(piece, size - done))
            if not piece:
                break
            try:
                got = bytes(self.inferior.read_memory(at, piece))
                ctypes.memmove(to + done, got, piece)
                done += piece
                piece = size
            except (gdb.error, OverflowError):
                piece //= 2
        return done

    @callback(False)
    def write(self, address, start, size):
        """As struct memory's."""
        try:
            self.inferior.write_memory(address, ctypes.string_at(start, size))
            return True
        except gdb.error:
            return False

    @callback(False)
    def thread(self, number, name):
        """As struct memory's, by gdb's list of threads."""
        thread = self.threads.get(number)
        if thread and thread.name:
            text = thread.name.encode("utf-8", "replace")[:15] + b"\0"
            ctypes.memmove(name, text, len(text))
        return thread is not None

    @callback(False)
    def constant(self, address):
        """The `constant` of struct memory: by the flags of the mapping or, if
        a recording lacks it, by the name of its section."""
        if self.mapped:
            mapped = next((row for row in self.mapped
                           if row[0] <= address < row[1]), None)
            if not mapped or not mapped[3].startswith("/"):
                return False
            if self.live and mapped[2]:
                return mapped[2][1] != "w" and mapped[2][3] == "p"
        for start, end, writable in self.core.loads if self.core else ():
            if start <= address < end:
                return not writable
        after = bisect.bisect(self.sections, (address + 1,))
        start, end, name = self.sections[after - 1]
        return after > 0 and address < end and (
            name.startswith((".rodata", ".text")))

    @callback(0)
    def symbol(self, name, size):
        """As struct tasks_program's."""
        name = name.decode()
        # After the number, gdb may write that the frame has another
        # language.
        at = re.match("0x([0-9a-f]+)", output_of(
            "with language c -- output/x (unsigned long)&%s" % name))
        many = re.match("([0-9]+)", output_of(
            "with language c -- output sizeof(%s)" % name))
        size[0] = int(many.group(1)) if many else 0
        return int(at.group(1), 16) if at else 0

    @callback(False)
    def member(self, type_, member, offset, size):
        """As struct tasks_program's: "a.b" is a member of a member."""
        try:
            bits, kind = 0, gdb.lookup_type(type_.decode())
            for name in filter(None, member.decode().split(".")):
                field = kind.strip_typedefs()[name]
                bits, kind = bits + field.bitpos, field.type
            offset[0], size[0] = bits // 8, kind.sizeof
            return True
        except (gdb.error, KeyError, AttributeError):
            return False

    @callback(False)
    def variable(self, address, to, size):
        """As struct tasks_program's."""
        said = re.match(r"(\S+)(?: \+ (\d+))? in section \.(\w+)", output_of(
            "info symbol 0x%x" % address))
        if not said or said.group(3) == "text":
            return False
        text = said.group(1) + ("+0x%x" % int(said.group(2))
                                if said.group(2) else "")
        text = text.encode()[:size - 1] + b"\0"
        ctypes.memmove(to, text, len(text))
        return True

    @callback(False)
    def is_code(self, address):
        """As struct tasks_program's."""
        return " in section " in output_of("info symbol 0x%x" % address)

    @callback(False)
    def writable(self, i, start, end):
        """As struct tasks_program's."""
        if self.core:
            parts = [(a, b) for a, b, writable in self.core.loads
                     if writable]
        else:
            parts = [row[:2] for row in self.mapped
                     if not row[3].startswith("/") and
                     (row[2] or "rw-p")[1] == "w"]
        if i < len(parts):
            start[0], end[0] = parts[i]
        return i < len(parts)

    @callback(False)
    def has_library(self, name):
        """As struct tasks_program's."""
        return any(os.path.basename(one.filename or "").startswith(
            name.decode()) for one in gdb.objfiles())

    @callback(False)
    def kernel_thread(self, i, number, sp):
        """As struct tasks_program's, of thread i of gdb's list."""
        thread = self.thread_at(i)
        if thread:
            number[0] = thread.ptid[1] or thread.ptid[2]
            if sp:
                sp[0] = stack_pointer(thread)
        return thread is not None

    @callback(None)
    def thread_name(self, i, to):
        """As struct tasks_program's."""
        thread = self.thread_at(i)
        text = ("%d %s" % (thread.ptid[1] or thread.ptid[2],
                           thread.name or "")).strip()
        text = text.encode("utf-8", "replace")[:63] + b"\0"
        ctypes.memmove(to, text, len(text))

    def thread_at(self, i):
        """Thread i of the program; None: it has fewer."""
        if self.registry or i >= len(self.threads):
            return None
        return list(self.threads.values())[i]

    # --------------------------------------------------------------- calls --

    def call(self, name, *arguments):
        """Calls a function of the library; an error in a callback is raised
        here."""
        result = getattr(self.library, "recorder_gdb_" + name)(self.of, *arguments)
        if self.interrupted:
            raise self.interrupted
        return result

    def must(self, wrong):
        """Null of the library, or the end."""
        if wrong is not None:
            raise gdb.GdbError("recorder: " + text_of(wrong))

    def must_live(self):
        """Only a running program obeys commands."""
        if not self.live:
            raise gdb.GdbError("recorder: this is no running process: nothing "
                               "there can be set")

    def find(self):
        """Finds the registry: where the user or the note of a recording says;
        by its symbol, where it takes long to read; else by a look at the
        program's variables, which tells whether there are several."""
        symbol = re.match("0x([0-9a-f]+)$", output_of(
            "with language c -- output/x (long)&recorder_registry"))
        symbol = int(symbol.group(1), 16) if symbol else 0
        named = Registry.address()
        known = named or self.registry or (self.remote and symbol)
        if known and self.call("candidate", known) or named:
            return
        variables = [(start, end) for start, end, flags, path in self.mapped
                     if path.startswith("/") and "w" in (flags or "w")]
        for ranges in variables, self.sections:
            if any([self.call("scan", *where[:2]) for where in ranges]):
                return
        if symbol:
            self.call("candidate", symbol)

    def write_dump(self, names, last):
        """A dump, and the warnings after it."""
        self.must(self.call("take", names, last))
        for text in iter(lambda: self.call("dump"), b""):
            gdb.write(text_of(text))
        self.warn("several")
        self.warn("warnings")

    def warn(self, name):
        """Prints a text of the library for the user."""
        gdb.write(text_of(self.call(name)), gdb.STDERR)

    def names(self):
        """Of recorders and tweaks."""
        names = []
        while True:
            name = self.call("name", len(names))
            if name is None:
                return [text_of(name) for name in names]
            names.append(name)

# ----------------------------------------------------------------- commands --


class Registry(gdb.Parameter):
    """Which registry of recorders `recorder` reads: its address; 0: the first.

Libraries that share nothing with each other have one each. Where there are
several, `recorder list` shows their addresses."""

    set_doc = "Set which registry of recorders is read: its address, or 0."
    show_doc = "Show which registry of recorders is read."

    def __init__(self):
        super().__init__("recorder-registry", gdb.COMMAND_DATA,
                         gdb.PARAM_STRING_NOESCAPE)
        self.value = "0"

    def get_set_string(self):
        try:
            int(gdb.parse_and_eval(self.value or "0"))
        except gdb.error as error:
            wrong, self.value = self.value, "0"
            raise gdb.GdbError("recorder: %s: %s" % (wrong, error))
        return ""

    def get_show_string(self, value):
        return "The registry of recorders that is read: %s." % value

    @staticmethod
    def address():
        """The value of a setting, as it is now."""
        return int(gdb.parse_and_eval(
            gdb.parameter("recorder-registry") or "0"))


class Recorder(gdb.Command):
    """Show the last events of the program, from its flight recorders.

No code of the program is run. The recorders are read as they are now: in a
live process, a core file, a recording or a remote stub."""

    def __init__(self):
        super().__init__("recorder", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("recorder: there is no command %s: see help "
                               "recorder" % argument.split()[0])
        gdb.execute("help recorder")


class Command(gdb.Command):
    """A command `recorder NAME`."""

    def __init__(self, name):
        super().__init__("recorder " + name, gdb.COMMAND_DATA)
        self.usage = self.__doc__.partition("Usage: ")[2].partition("\n")[0]

    def misuse(self, what):
        """Reports a wrong argument."""
        raise gdb.GdbError("recorder: %s\nUsage: %s" % (what, self.usage))

    def number(self, text):
        """A natural number, in C's notations."""
        try:
            number = int(text, 0)
        except ValueError:
            number = -1
        if not 0 <= number < 1 << 64:
            self.misuse("%s is no number" % text)
        return number

    def nothing(self, argument):
        """For commands without arguments."""
        if argument.strip():
            self.misuse("%s is not taken" % argument.strip())

    def names(self):
        """Of recorders and tweaks, for completion: errors are for commands."""
        try:
            with Program() as program:
                return program.names()
        except (gdb.error, gdb.GdbError):
            return []

    def complete(self, text, word):
        return gdb.COMPLETE_NONE


class List(Command):
    """Show the recorders, their figures, and the threads.

Usage: recorder list"""

    def invoke(self, argument, from_tty):
        self.nothing(argument)
        with Program() as program:
            program.must(program.call("take", None, 0))
            gdb.write(text_of(program.call("list")))
            program.warn("several")


class Dump(Command):
    """Print the records of all recorders, by sequence number.

Usage: recorder dump [REGEX] [last N]

REGEX is an extended regular expression for whole names of recorders. With
`last`, only the last N records of these are printed. recorder_dump()
and the command `recorder dump` print the same text."""

    def invoke(self, argument, from_tty):
        words = argument.split()
        last = 0
        if words and words[-1] == "last":
            self.misuse("the last how many?")
        if "last" in words[-2:]:
            last = self.number(words[-1])
            words = words[:-2]
        if len(words) > 1:
            self.misuse("%s: only one regular expression" % words[1])
        with Program() as program:
            program.write_dump(words[0].encode() if words else None, last)

    def complete(self, text, word):
        before = text[:len(text) - len(word)].split()
        words = ["last"] if len(before) < 2 and "last" not in before else []
        if not before:
            words += self.names()
        return [name for name in words if name.startswith(word)]


def outside():
    """The source of threads that the library opens itself: name, executable
    and root of files. None: gdb reaches the program through another program."""
    inferior = gdb.selected_inferior()
    connection = inferior.connection
    files = output_of("info files")
    core = re.search(r"core dump file:\n\t`(.*)', file type", files)
    if core:
        root = gdb.parameter("sysroot") or ""
        file = gdb.current_progspace().filename
        return (core.group(1).encode(), file.encode() if file else None,
                root.encode() if os.path.isdir(root) else None)
    if connection and connection.type == "native" and inferior.pid:
        return str(inferior.pid).encode(), None, None
    return None


class Threads(Command):
    """Show the wait of each thread, its holder, and the stack.

Usage: recorder threads [THREAD | --locks]

The command `recorder threads` prints the same text, for any process or core
file, with or without recorders: deadlocks first and, if `recorder run` started
the program, the maker of each thread. THREAD is a number (T2), the kernel's id,
which is the LWP of `info threads`, or a name. Through a remote stub, and in
other recordings, only threads with records are listed. --locks shows
the locks with waiting threads, and their holders; if `recorder run` started the
program, also the times of waits, and locks that are taken in a circle."""

    def invoke(self, argument, from_tty):
        wanted = argument.strip()
        where = outside()
        if where:
            try:
                with Program("threads_open", *where) as program:
                    text = (program.call("locks") if wanted == "--locks" else
                            program.call("waits",
                                         wanted.encode() if wanted else None))
                    if not text:
                        raise gdb.GdbError("recorder: no thread is %s" % wanted)
                    gdb.write(text_of(text))
                    return
            except gdb.GdbError as error:
                if " recording without " not in str(error):
                    raise
        if wanted == "--locks":
            raise gdb.GdbError("recorder: the locks of a process of this "
                               "machine, a core file or a recording can be "
                               "read, not through a remote stub")
        self.nothing(argument)
        with Program() as program:
            gdb.write(text_of(program.call("threads")))


def is_file(symtab, name):
    return os.path.basename(symtab.filename) == os.path.basename(name)


def path_around(pc, file):
    """The path of a file that has a function around this code; else `file`."""
    block = gdb.block_for_pc(pc)
    while block and not block.is_static and not block.is_global:
        if block.function and is_file(block.function.symtab, file):
            return block.function.symtab.fullname()
        block = block.superblock
    return file


class At(Command):
    """Show one record and its place in the source, and select its thread.

Usage: recorder at ORDER

ORDER is the number at the start of the record's line in `recorder dump`. The
thread that wrote it is selected if it is alive."""

    def invoke(self, argument, from_tty):
        words = argument.split()
        if len(words) != 1:
            self.misuse("one order")
        order, event = self.number(words[0]), Event()
        with Program() as program:
            program.must(program.call("at", order, ctypes.byref(event)))
            gdb.write(text_of(event.line))
            self.show_source(event)
            self.select(program, event)

    @staticmethod
    def show_source(event):
        """Lists the source around the record; without it, says where it is."""
        before = event.caller - 1  # the call, not the line after it
        file, line = text_of(event.file), event.file_line
        symtab = gdb.find_pc_line(before).symtab
        if symtab:
            place = "*0x%x" % before
            if line and not is_file(symtab, file):  # inlined, as ours is
                gdb.write("%s:%d\n" % (file, line))
                place = '"%s":%d' % (path_around(before, file), line)
            try:
                gdb.execute("list %s" % place)
                return
            except gdb.error as error:
                gdb.write("%s\n" % error)
        gdb.write("%s:%d\n" % (file, line))

    @staticmethod
    def select(program, event):
        """Selects the thread that wrote the record, as `thread` does."""
        thread = program.threads.get(event.thread)
        name = "%s (%d)" % (text_of(event.name), event.thread)
        if event.is_task:
            gdb.write("It is of task %s: recorder task %s\n" %
                      (text_of(event.name), text_of(event.name)))
        elif not event.thread:
            gdb.write("Its thread is unknown.\n")
        elif program.registry:
            gdb.write("Its thread was %s; a recording has no stacks.\n" % name)
        elif not event.alive or not thread:
            gdb.write("Its thread, %s, has ended.\n" % name)
        else:
            gdb.execute("thread %d.%d" % (program.inferior.num, thread.num))


class Set(Command):
    """Turn recorders of the running program on or off, or clear them.

Usage: recorder set NAME=VALUE...|clear

NAME is an extended regular expression for whole names of recorders, or else of
tweaks. VALUE is on (record), off, trace (also print each record at once),
freeze (off, but remembered), thaw (as before freeze), or a number. All settings
are checked before the first is made. clear hides the present records."""

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        if not argument.strip():
            self.misuse("NAME=VALUE is missing")
        with Program() as program:
            program.must_live()
            program.must(program.call("set", argument.encode()))

    def complete(self, text, word):
        item = (text.split() or [""])[-1] if text[-1:].strip() else ""
        name, equals, _ = item.partition("=")
        values = ["on", "off", "trace", "freeze", "thaw"]
        if equals and word != item:  # gdb takes the text after it for a word
            return [value for value in values if value.startswith(word)]
        names = [one for one in self.names() if one.startswith(name)]
        if len(names) != 1 and name not in names:
            return names
        # With the value: after a name alone, gdb would put a blank.
        both = [(name if name in names else names[0]) + "=" + value
                for value in values]
        return [one for one in both if one.startswith(item)]


def say_no_stack():
    """Says why gdb shows no stack of a recording whose program did not crash."""
    where = outside()
    try:
        if (where and os.path.isfile(where[0]) and
                Core(where[0].decode()).registry is not None and
                int(gdb.parse_and_eval("(long) $pc")) == 0):
            gdb.write("recorder: this recording holds no crash, so it has no "
                      "stack: recorder dump shows its records\n")
    except gdb.error:
        pass
    return where


def first_prompt():
    gdb.events.before_prompt.disconnect(first_prompt)
    say_no_stack()


Registry()
Recorder()
List("list")
Dump("dump")
Threads("threads")
At("at")
Set("set")

if not say_no_stack(): # gdb opens the file after this one
    gdb.events.before_prompt.connect(first_prompt)

# Tasks of schedulers inside the program: commands that are built on all this.
gdb.execute("source " + os.path.join(HERE, "recorder-tasks.py"))
