// The C++ file of a user who installed the headers by whatever package.
// SPDX-License-Identifier: MIT
#include <recorder.h>

RECORDER(part, 16, "Of another language")

static const auto order = record(part, "version %s", RECORDER_VERSION);
