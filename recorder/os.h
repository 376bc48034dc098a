/* os.h - what recorder asks of an operating system. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_H_
#define RECORDER_OS_H_

#include "language.h"

#if !defined(RECORDER_HOSTED_)
#include "os_none.h"
#elif defined(RECORDER_LINUX_)
#include "os_linux.h"
#else
#include "os_posix.h"
#endif

#endif
