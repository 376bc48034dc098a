/* service.h - a command that runs as a service of systemd. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Sends a state, "READY=1" or "WATCHDOG=1", to the service manager that started
 * this process, if any. sd_notify(3) defines the protocol: one datagram. */
void service_notify(const char *state);
