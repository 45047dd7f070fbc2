//! Starting a process, again where Wine failed to.

#![allow(dead_code, unreachable_pub, reason = "every test takes in the whole of it and uses a part")]

use std::io;
use std::time::Duration;

/// Wine's word for a process that ended before it began, which happens once in some thousand times on a busy machine.
/// Nothing of the program has run then.
const INTERNAL_ERROR: i32 = 1359;

/// Starts a process by `attempt`, a few times if need be.
pub fn start<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for pause in [10, 100, 1000] {
        match attempt() {
            Err(e) if cfg!(windows) && e.raw_os_error() == Some(INTERNAL_ERROR) => {
                println!("starting a process failed ({e}); once more");
                std::thread::sleep(Duration::from_millis(pause));
            }
            done => return done,
        }
    }
    attempt()
}
