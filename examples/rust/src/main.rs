// main.rs - a ferry: threads that record what they do, by the C ABI.
// SPDX-License-Identifier: MIT
mod recorder;
use std::thread;

recorders!(trips, tickets);

fn trip(boat: u32, passengers: &[&str]) -> f64 {
    record!(trips, "> boat %u leaves with %d", boat, passengers.len());
    for (seat, name) in passengers.iter().enumerate() {
        record!(tickets, "seat %d: %s", seat, *name);
    }
    let hours = 0.25 * (1 + passengers.len()) as f64;
    record!(trips, "< boat %u: %.2f hours", boat, hours);
    hours
}

fn main() {
    let boats: Vec<_> = (1..=3)
        .map(|boat| thread::spawn(move || trip(boat, &["Ada", "Grace", "Zoë"][..boat as usize])))
        .collect();
    let hours: f64 = boats.into_iter().map(|boat| boat.join().unwrap()).sum();
    record!(
        trips, "%d boats, %.2f hours: %d %d %d %d %d %d %c %s",
        3, hours, -1, 2i64, 3u8, 4, 5, 6, 'F', "ten words"
    );
    if std::env::args().nth(1).as_deref() == Some("dump") {
        recorder::dump();
    }
    if std::env::args().nth(1).as_deref() == Some("hang") {
        println!("PID {}", std::process::id());
        thread::sleep(std::time::Duration::from_secs(60));
    }
}
