// recorder.rs - record!() for Rust: a flight recorder of C.
// SPDX-License-Identifier: MIT
//
// recorders!(trips, tickets);                  those that recorder.c defines
// record!(trips, "%d of %s", 3, "people");     a printf format, up to 12 words
//
// The format and the place are constants of the program, as in C, so that
// readers find them after a kill -9, too. Nobody compares the conversions with
// the arguments: integers are %ld or %d, f64 is %f, &str is %s.
#![allow(dead_code)]
use std::sync::atomic::{AtomicIsize, Ordering};

/// The head of struct recorder (recorder/layout.h), which stays where it is.
#[repr(C)]
pub struct Recorder {
    trace: AtomicIsize,
}

// What the macros of C call (recorder/record.h): of the headers that recorder.c
// includes, and no interface. Other headers may ask for other declarations.
extern "C" {
    fn recorder_record_few_(
        recorder: *const Recorder,
        format: *const u8,
        a: usize,
        b: usize,
        c: usize,
        d: usize,
    ) -> usize;
    #[rustfmt::skip]
    fn recorder_record_more_(
        recorder: *const Recorder, format: *const u8, records: u32,
        a: usize, b: usize, c: usize, d: usize, e: usize, f: usize,
        g: usize, h: usize, i: usize, j: usize, k: usize, l: usize,
    ) -> usize;
    fn recorder_copy_bytes_(recorder: *const Recorder, text: *const u8, size: usize) -> usize;
    fn rust_dump();
}

/// Writes all records to stderr.
pub fn dump() {
    unsafe { rust_dump() };
}

/// True unless the recorder is off.
#[inline]
pub fn is_on(recorder: *const Recorder) -> bool {
    unsafe { (*recorder).trace.load(Ordering::Relaxed) >= 0 }
}

/// Records up to 12 words; returns the order. Inline, as the place where it is
/// called is the record's caller, and up to 4 words travel in registers.
#[inline(always)]
pub fn record<const N: usize>(
    recorder: *const Recorder,
    format: &'static str,
    words: [usize; N],
) -> usize {
    assert!(N <= 12, "record!: at most 12 arguments");
    let word = |i: usize| if i < N { words[i] } else { 0 };
    let format = format.as_ptr();
    unsafe {
        if N <= 4 {
            return recorder_record_few_(recorder, format, word(0), word(1), word(2), word(3));
        }
        #[rustfmt::skip]
        let order = recorder_record_more_(
            recorder, format, if N <= 8 { 2 } else { 3 },
            word(0), word(1), word(2), word(3), word(4), word(5),
            word(6), word(7), word(8), word(9), word(10), word(11));
        order
    }
}

/// What a record keeps of an argument: one word.
pub trait Word {
    fn word(self, recorder: *const Recorder) -> usize;
}
macro_rules! integers {
    ($($kind:ty)*) => { $(impl Word for $kind {
        fn word(self, _: *const Recorder) -> usize { self as usize }
    })* };
}
integers!(i8 u8 i16 u16 i32 u32 isize usize bool char);
#[cfg(target_pointer_width = "64")]
integers!(i64 u64);

impl Word for f64 {
    #[cfg(target_pointer_width = "64")]
    fn word(self, _: *const Recorder) -> usize {
        self.to_bits() as usize
    }
    #[cfg(target_pointer_width = "32")]
    fn word(self, _: *const Recorder) -> usize {
        (self as f32).to_bits() as usize
    }
}
impl<T> Word for *const T {
    fn word(self, _: *const Recorder) -> usize {
        self as usize
    }
}
/// The text is copied into the ring.
impl Word for &str {
    fn word(self, recorder: *const Recorder) -> usize {
        unsafe { recorder_copy_bytes_(recorder, self.as_ptr(), self.len()) }
    }
}

#[macro_export]
macro_rules! recorders {
    ($($name:ident),*) => {
        pub mod recorders {
            extern "C" {
                $(#[link_name = concat!("recorder_for_", stringify!($name))]
                pub static $name: $crate::recorder::Recorder;)*
            }
        }
    };
}

#[macro_export]
macro_rules! record {
    ($name:ident, $format:literal $(, $argument:expr)* $(,)?) => {{
        #[allow(unused_unsafe)]
        let recorder = unsafe {
            std::ptr::addr_of!($crate::recorders::$name)
        };
        if $crate::recorder::is_on(recorder) {
            const FORMAT: &str =
                concat!($format, "\0", file!(), ":", line!(), "\0");
            $crate::recorder::record(recorder, FORMAT,
                [$($crate::recorder::Word::word($argument, recorder)),*])
        } else {
            0
        }
    }};
}
