// Compiles src/recorder.c; the cc crate would do it as well.
// SPDX-License-Identifier: MIT
use std::{env, path::Path, process::Command};

// Runs a command that must end well.
fn must(command: &mut Command) {
    let status = command.status();
    assert!(
        matches!(&status, Ok(status) if status.success()),
        "{:?}: {:?}",
        command,
        status
    );
}

fn main() {
    // The folder of recorder.h, unless the compiler finds it by itself.
    let headers = env::var("RECORDER_INCLUDE").unwrap_or("../..".into());
    let out = env::var("OUT_DIR").unwrap();
    let object = Path::new(&out).join("recorder.o");
    let library = Path::new(&out).join("librecorder_c.a");
    let cc = env::var("CC").unwrap_or("cc".into());
    must(Command::new(cc)
        .args(["-O2", "-g", "-fPIC", "-I", &headers, "-c", "src/recorder.c", "-o"])
        .arg(&object));
    must(Command::new("ar").arg("crs").arg(&library).arg(&object));
    println!("cargo:rustc-link-search=native={}", out);
    println!("cargo:rustc-link-lib=static=recorder_c");
    println!("cargo:rerun-if-changed=src/recorder.c");
    println!("cargo:rerun-if-env-changed=RECORDER_INCLUDE");
}
