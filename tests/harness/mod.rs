//! Running the program under strace.

pub mod strace;
