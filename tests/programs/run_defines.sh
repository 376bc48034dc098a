# run_defines.sh - prints a program that defines what librecorder-run.so calls.
# SPDX-License-Identifier: MIT
# usage: run_defines.sh libc.c libc.so.6
#
# Each function of the list in libc.c is a trap until main() runs, and goes on
# in libc from then on; those that libc's own machinery does not need, such as
# dlsym(), are a trap for good.
names=$(grep -o 'X([a-z][a-z_0-9]*)' "$1" | sed 's/X(\(.*\))/\1/')
# What the library interposes and calls itself, too.
names="$names close poll read write"
cat <<X
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
struct call; typedef unsigned long word;
extern int pthread_create(word *, void *, void *(*)(void *), void *);
extern int pthread_join(word, void **);
extern int pthread_mutex_lock(void *), pthread_mutex_unlock(void *);
word base;
__asm__(".text; trap: ud2");
#define TRAP if (!base) __builtin_trap()
#define LOOP __asm__ volatile("")
void *memset(void *t, int b, word n)
{ TRAP; for (word i = 0; i < n; i++) { LOOP; ((char *)t)[i] = b; } return t; }
void *memcpy(void *t, const void *f, word n)
{ TRAP; for (word i = 0; i < n; i++) { LOOP; ((char *)t)[i] = ((char *)f)[i]; }
  return t; }
word strlen(const char *s)
{ TRAP; word n = 0; while (s[n]) { LOOP; n++; } return n; }
int memcmp() { __builtin_trap(); }
char *strstr() { __builtin_trap(); }
X
for name in $names; do
    at=$(nm -D "$2" | sed -n "s/^0*\([0-9a-f]*\) [TW] $name@@.*/0x\1/p")
    case $name in dl* | *attr* | *key* | getenv) at= ;; esac
    if [ "$at" ]; then
        code="mov base(%rip), %r11; test %r11, %r11; jz trap; add \$$at, %r11"
        echo "__asm__(\".globl $name; $name: $code; jmp *%r11\");"
    else
        echo "__asm__(\".globl $name; $name: ud2\");"
    fi
done
cat <<X
static word mutex[16];
static void *work(void *p)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return p;
}
int main(void)
{
    word thread[3];
    base = ((struct link_map *)dlopen("libc.so.6", RTLD_LAZY))->l_addr;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], 0, work, 0))
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], 0);
    puts("done");
    return 7;
}
X
