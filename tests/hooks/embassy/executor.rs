// executor.rs - a stand-in for two executors: that of main, and one in an interrupt.
// SPDX-License-Identifier: MIT
mod critical_section {
    pub fn with<R>(f: impl FnOnce(()) -> R) -> R {
        f(())
    }
}
mod trace {
    use crate::critical_section;
    include!(concat!(env!("PWD"), "/trace.rs"));
}
extern "Rust" {
    fn _embassy_trace_task_new(executor: u32, task: u32);
    fn _embassy_trace_task_end(executor: u32, task: u32);
    fn _embassy_trace_task_exec_begin(executor: u32, task: u32);
    fn _embassy_trace_task_exec_end(executor: u32, task: u32);
    fn _embassy_trace_task_ready_begin(executor: u32, task: u32);
    fn _embassy_trace_poll_start(executor: u32);
    fn _embassy_trace_executor_idle(executor: u32);
}

const TASKS: usize = 5; // the last one is of the interrupt
#[derive(Clone, Copy, Default)]
struct Task {
    ready: bool,
    ended: bool,
    counts: [u32; 3], // runs, blocked, preempted
}
struct World {
    tasks: [Task; TASKS],
    state: u32,
}
impl World {
    fn below(&mut self, n: u32) -> u32 {
        self.state = self.state.wrapping_mul(1103515245).wrapping_add(12345);
        (self.state >> 16) % n
    }
    fn wake(&mut self, i: usize) {
        if !self.tasks[i].ready && !self.tasks[i].ended {
            self.tasks[i].ready = true;
            unsafe { _embassy_trace_task_ready_begin(0, i as u32 + 1) }
        }
    }
    fn poll(&mut self, i: usize, preempts: Option<usize>, last: bool) {
        if let Some(other) = preempts {
            self.tasks[other].counts[2] += 1;
        }
        self.tasks[i].ready = false;
        self.tasks[i].counts[0] += 1;
        unsafe { _embassy_trace_task_exec_begin(0, i as u32 + 1) }
        if preempts.is_none() && self.below(4) == 0 {
            self.wake(TASKS - 1);
            self.poll(TASKS - 1, Some(i), false);
        }
        if self.below(4) == 0 {
            self.wake(i);
        }
        self.tasks[i].ended = last && !self.tasks[i].ready;
        if self.tasks[i].ended {
            unsafe { _embassy_trace_task_end(0, i as u32 + 1) }
        } else {
            let why = if self.tasks[i].ready { 2 } else { 1 };
            self.tasks[i].counts[why] += 1;
        }
        unsafe { _embassy_trace_task_exec_end(0, i as u32 + 1) }
        if let Some(other) = preempts {
            self.tasks[other].counts[0] += 1;
        }
    }
}

fn main() {
    let mut w = World { tasks: [Task::default(); TASKS], state: 1 };
    for i in 0..TASKS {
        unsafe { _embassy_trace_task_new(0, i as u32 + 1) }
        w.wake(i);
    }
    for step in 0..3000 {
        unsafe { _embassy_trace_poll_start(0) }
        let first = w.below(TASKS as u32 - 1) as usize;
        let next = (0..TASKS - 1).map(|k| (first + k) % (TASKS - 1)).find(|&i| w.tasks[i].ready);
        let ended = w.tasks.iter().filter(|t| t.ended).count();
        match next {
            Some(i) => w.poll(i, None, step > 1000 + 1000 * ended && ended < 2),
            None => unsafe { _embassy_trace_executor_idle(0) },
        }
        let woken = w.below(TASKS as u32 - 1) as usize;
        w.wake(woken);
    }
    for (i, t) in w.tasks.iter().enumerate() {
        println!("task {} {} {} {}", i, t.counts[0], t.counts[1], t.counts[2]);
    }
    let command = std::env::args().nth(1).unwrap();
    std::process::Command::new("sh")
        .args(["-c", &command])
        .env("PID", std::process::id().to_string())
        .status()
        .unwrap();
}
