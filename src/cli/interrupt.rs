//! Ctrl-C: the file at hand is finished, the rest is left alone, and what was done is told with the way to undo it. A
//! second Ctrl-C ends the program at once; that loses nothing either, as every file is replaced in one step.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on.
pub(crate) fn listen() {
    // Where no handler can be set, Ctrl-C ends the program, as it does without one.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(super::exit::Exit::Interrupted as i32);
        }
    });
}

/// True once the user asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
