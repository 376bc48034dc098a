/* hosted_windows.c - recorder/os_windows.h: a program and a DLL of Windows. */
/* SPDX-License-Identifier: MIT */
/*
hosted_windows.exe [crash HOW | killed]; run.sh looks at what it prints. -DDLL:
the DLL. -DOTHER: another file of the program.
*/
#include "recorder_dump.h"
#include "recorder_trigger.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <excpt.h>
#include <io.h>

#ifdef __cplusplus
extern "C" {
#endif
uintptr_t other_record(int number);
BOOL WINAPI __real_GetComputerNameA(LPSTR name, LPDWORD size);
BOOL WINAPI __wrap_GetComputerNameA(LPSTR name, LPDWORD size);
EXCEPTION_DISPOSITION take(struct _EXCEPTION_RECORD *e, void *frame,
                           struct _CONTEXT *context, void *dispatcher);
__declspec(dllexport) uintptr_t dll_record(int number);
#ifdef __cplusplus
}
#endif

#if defined(DLL)
RECORDER(of_dll, 16, "Of a DLL")
uintptr_t dll_record(int number)
{
    if (number == 0)
        recorder_dump_on_common_signals(0, 0);
    return record(of_dll, "%d %s", number, "from the DLL");
}
#elif defined(OTHER)
RECORDER(of_other, 16, "Of another file")
uintptr_t other_record(int number)
{
    return record(of_other, "%d %s", number, "from the other file");
}
#else
RECORDER(of_main, 16, "Of this file")
RECORDER_LANES(of_threads, 256, 4, "Of its threads")

static char text[1 << 20];
static size_t text_size;
static void gather(void *context, const char *line, size_t size)
{
    (void)context;
    if (text_size + size < sizeof text) {
        memcpy(text + text_size, line, size);
        text_size += size;
        text[text_size] = '\0';
    }
}
static const char *dumped(void)
{
    text_size = 0;
    recorder_dump_to(gather, NULL);
    return text;
}
#define MUST(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("line %d: %s\n%s\n", __LINE__, #condition, text);           \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

enum { THREADS = 8, EACH = 20000 };
static DWORD WINAPI work(void *number)
{
    typedef HRESULT WINAPI describe(HANDLE, PCWSTR);
    FARPROC name =
        GetProcAddress(GetModuleHandleA("kernel32"), "SetThreadDescription");
    if (name)
        ((describe *)(uintptr_t)name)(GetCurrentThread(),
                                      L"worker \x00e9\x20ac");
    for (int i = 0; i < EACH; i++)
        record(of_threads, "%d of thread %d", i, (int)(intptr_t)number);
    return 0;
}
static void threads(void)
{
    HANDLE thread[THREADS];
    unsigned long long order, last = 0, lines = 0;
    for (int i = 0; i < THREADS; i++)
        thread[i] = CreateThread(NULL, 0, work, (void *)(intptr_t)i, 0, NULL);
    WaitForMultipleObjects(THREADS, thread, TRUE, INFINITE);
    recorder_line("{order} {name} {message}");
    dumped();
    MUST(strstr(text, " worker \xc3\xa9\xe2\x82\xac 19999 of thread "));
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        if (sscanf(at, "\n%llu ", &order) == 1) {
            MUST(order > last);
            last = order;
            lines++;
        }
    MUST(last >= THREADS * EACH && lines >= 256);
    recorder_line(NULL);
}

static volatile LONG repaired;
static LONG CALLBACK repair(EXCEPTION_POINTERS *e)
{
    if (e->ExceptionRecord->ExceptionCode != 0xe0001234)
        return EXCEPTION_CONTINUE_SEARCH;
    repaired++;
    return EXCEPTION_CONTINUE_EXECUTION;
}
static volatile int zero;
static void fault(void)
{
    *(volatile int *)(intptr_t)(8 + zero) = 1;
}

/* A recording that cannot be filled leaves no file, and not even an open one.
 * The headers ask for the machine's name after they measured the file, and then
 * the table of threads is larger. */
static uintptr_t more_threads;
BOOL WINAPI __wrap_GetComputerNameA(LPSTR name, LPDWORD size)
{
    struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t more = more_threads;
    more_threads = registry->threads_max;
    if (more)
        registry->threads_max = more;
    return __real_GetComputerNameA(name, size);
}
static void unfilled(void)
{
    int before = _open("nul", 0), after;
    HANDLE again;
    _close(before);
    more_threads = 1 << 20;
    MUST(!recorder_file("unfilled.rec"));
    recorder_home_.registry->threads_max = more_threads;
    more_threads = 0;
    after = _open("nul", 0);
    _close(after);
    MUST(after == before && before > 0);
    again = CreateFileA("unfilled.rec", GENERIC_WRITE, 0, NULL, CREATE_NEW,
                        FILE_FLAG_DELETE_ON_CLOSE, NULL);
    MUST(again != INVALID_HANDLE_VALUE);
    CloseHandle(again);
}

/* Exceptions that the program handles: by a vectored handler, by a frame. */
static void *page;
static LONG CALLBACK unprotect(EXCEPTION_POINTERS *e)
{
    DWORD before;
    if (e->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION ||
        e->ExceptionRecord->ExceptionInformation[1] != (ULONG_PTR)page)
        return EXCEPTION_CONTINUE_SEARCH;
    repaired++;
    VirtualProtect(page, 4096, PAGE_READWRITE, &before);
    return EXCEPTION_CONTINUE_EXECUTION;
}
EXCEPTION_DISPOSITION take(struct _EXCEPTION_RECORD *e, void *frame,
                           struct _CONTEXT *context, void *dispatcher)
{
    (void)e, (void)frame, (void)context, (void)dispatcher;
    return (EXCEPTION_DISPOSITION)EXCEPTION_EXECUTE_HANDLER;
}
__attribute__((noinline)) static void by_frame(void)
{
#ifdef __clang__
    __try {
        fault();
    } __except (EXCEPTION_EXECUTE_HANDLER) {
    }
#else
    __try1(take);
    fault();
    __asm__ volatile("nop\n\t.l_endw: nop"); /* __except1 of GNU C */
#endif
}
static void handle(void)
{
    int seen = (int)repaired;
    void *vector = AddVectoredExceptionHandler(0, unprotect);
    DWORD before;
    page = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    for (int i = 1; i <= 3; i++) {
        VirtualProtect(page, 4096, PAGE_NOACCESS, &before);
        SetLastError(4711);
        *(volatile int *)page = i;
        MUST(GetLastError() == 4711);
        MUST(repaired == seen + i);
    }
    by_frame();
    RemoveVectoredExceptionHandler(vector);
    puts("handled");
}

/* Filters that take our place. */
static LPTOP_LEVEL_EXCEPTION_FILTER earlier;
static LONG WINAPI theirs(EXCEPTION_POINTERS *e)
{
    (void)e;
    puts("theirs");
    return EXCEPTION_EXECUTE_HANDLER;
}
static LONG WINAPI chained(EXCEPTION_POINTERS *e)
{
    puts("theirs");
    return earlier(e);
}
static int deeper(volatile int *n)
{
    volatile int more[1000];
    more[0] = *n + 1;
    return *n < 0 ? 0 : deeper(more) + more[0];
}
static int crash(const char *how)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    recorder_dump_on_common_signals(0, 0);
    record(of_main, "last words before %s", how);
    if (!strcmp(how, "segv"))
        fault();
    if (!strcmp(how, "handled")) {
        handle();
        SetUnhandledExceptionFilter(theirs);
        handle();
        return 77;
    }
    if (!strcmp(how, "replaced")) {
        SetUnhandledExceptionFilter(theirs);
        handle();
        fault();
    }
    if (!strcmp(how, "chained")) {
        earlier = SetUnhandledExceptionFilter(chained);
        recorder_dump_on_signal(SIGFPE);
        fault();
    }
    if (!strcmp(how, "other")) { /* is theirs alone */
        SetUnhandledExceptionFilter(theirs);
        handle();
        RaiseException(0xe0001234, 0, 0, NULL);
    }
    if (!strcmp(how, "gone")) { /* the code of a filter was unloaded */
        void *code = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT,
                                  PAGE_EXECUTE_READWRITE);
        memcpy(code, "\x31\xc0\xc3", 3); /* return 0 */
        SetUnhandledExceptionFilter(
            (LPTOP_LEVEL_EXCEPTION_FILTER)(uintptr_t)code);
        handle();
        VirtualFree(code, 0, MEM_RELEASE);
        fault();
    }
    if (!strcmp(how, "heap")) /* as Windows tells of it */
        RaiseException(STATUS_HEAP_CORRUPTION, EXCEPTION_NONCONTINUABLE, 0,
                       NULL);
    if (!strcmp(how, "dll")) { /* asks for dumps, too, and is let go */
        HMODULE dll = LoadLibraryA("hosted_windows.dll");
        MUST(dll);
        SetUnhandledExceptionFilter(theirs);
        ((uintptr_t(*)(int))(uintptr_t)GetProcAddress(dll, "dll_record"))(0);
        FreeLibrary(dll);
        handle();
        fault();
    }
    if (!strcmp(how, "held")) { /* a register has a pointer of a record */
        char *volatile *at = (char *volatile *)malloc(sizeof *at);
        MUST(at);
        *at = (char *)(uintptr_t)0x4141414141414141;
        record(of_main, "holds at=%p", (void *)at);
        zero += **at;
        record(of_main, "held at=%p", (void *)at);
    }
    if (!strcmp(how, "divide"))
        return 100 / zero;
    if (!strcmp(how, "illegal"))
        __builtin_trap();
    if (!strcmp(how, "deep"))
        return deeper(&zero);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "term")) {
        recorder_dump_on_signal(SIGTERM);
        raise(SIGTERM);
    }
    if (!strcmp(how, "break")) {
        recorder_dump_on_signal(SIGBREAK);
        raise(SIGBREAK);
    }
    return 77;
}

typedef uintptr_t of_dll(int number);

/* Says what a reader of the program's recording must show, and is killed. */
static int killed(void)
{
    HMODULE dll = LoadLibraryA("hosted_windows.dll");
    MUST(dll);
    ((of_dll *)(uintptr_t)GetProcAddress(dll, "dll_record"))(5);
    threads();
    other_record(6);
    record(of_main, "killed %s", "now");
    recorder_line("{order} {recorder} {name} {message}");
    fputs(dumped(), stdout);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), 9);
    return 0;
}

int main(int argc, char **argv)
{
    HMODULE dll;
    FARPROC function;
    uintptr_t first;
    if (argc > 2)
        return crash(argv[2]);
    if (argc > 1)
        return killed();
    /* what a program has of errors stays, at a thread's first record, too */
    SetLastError(4711);
    errno = EDOM;
    first = record(of_main, "%d %.1f %s %s", 42, 0.5, "text",
                   RECORDER_ADDRESS((const char *)(uintptr_t)8));
    MUST(GetLastError() == 4711 && errno == EDOM);
    MUST(other_record(1) == first + 1);
    SetLastError(4711);
    dumped();
    MUST(GetLastError() == 4711 && errno == EDOM);
    MUST(strstr(text, "hosted_windows.c:"));
    MUST(strstr(text, "] of_main: 42 0.5 text 0x8\n"));
    MUST(strstr(text, "] of_other: 1 from the other file\n"));
    MUST(strstr(text, "PROGRAM hosted_windows.exe, PID "));
    /* a DLL shares order and dumps, and leaves */
    dll = LoadLibraryA("hosted_windows.dll");
    MUST(dll);
    function = GetProcAddress(dll, "dll_record");
    MUST(((of_dll *)(uintptr_t)function)(2) == first + 2);
    MUST(record(of_main, "behind it") == first + 3);
    MUST(strstr(dumped(), "of_dll: 2 from the DLL\n"));
    FreeLibrary(dll);
    MUST(!strstr(dumped(), "DUMPING of_dll"));
    threads();
    unfilled();
    /* an exception that the program handles is none of ours */
    recorder_dump_on_common_signals(0, 0);
    AddVectoredExceptionHandler(0, repair);
    RaiseException(0xe0001234, 0, 0, NULL);
    MUST(repaired == 1);
    /* a trigger; a dump to a descriptor */
    MUST(recorder_trigger("of_main: \"freeze\": freeze"));
    record(of_main, "freeze now");
    record(of_main, "never seen");
    MUST(strstr(dumped(), "freeze now") && !strstr(text, "never seen"));
    return puts("ok") < 0;
}
#endif
