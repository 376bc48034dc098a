// main.go - a ferry: goroutines that record what they do, by cgo.
// SPDX-License-Identifier: MIT
package main

// Each record is a C function of its own: the compiler checks its format, and
// its place is its line in this file. Strings of Go end with no NUL and may be
// moved or freed, so their bytes are copied into the ring.

/*
#cgo CFLAGS: -O2 -I${SRCDIR}/../..
#include "recorder.h"

RECORDER_DECLARE(trips);
RECORDER_DECLARE(tickets);
#define TEXT(name, string) \
	RECORDER_COPY_BYTES(name, _GoStringPtr(string), _GoStringLen(string))

static void leave(int boat, int passengers)
{
	record(trips, "> boat %d leaves with %d", boat, passengers);
}
static void arrive(int boat, double hours)
{
	record(trips, "< boat %d: %.2f hours", boat, hours);
}
static void ticket(int seat, _GoString_ name)
{
	record(tickets, "seat %d: %s", seat, TEXT(tickets, name));
}
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"time"
)

func trip(boat int, passengers []string) {
	C.leave(C.int(boat), C.int(len(passengers)))
	for seat, name := range passengers {
		C.ticket(C.int(seat), name)
	}
	C.arrive(C.int(boat), C.double(0.25*float64(1+len(passengers))))
}

func main() {
	var boats sync.WaitGroup
	names := []string{"Ada", "Grace", "Zoë"}
	for boat := 1; boat <= 3; boat++ {
		boats.Add(1)
		go func(boat int) {
			defer boats.Done()
			trip(boat, names[:boat])
		}(boat)
	}
	boats.Wait()
	if len(os.Args) > 1 && os.Args[1] == "hang" {
		fmt.Println("PID", os.Getpid())
		time.Sleep(time.Minute)
	}
}
