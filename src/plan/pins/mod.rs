//! Pins: read from lists, kept in a pins file, carried to another profile, added, removed and put in another order.

mod carry;
mod change;
mod file;
mod map;
mod rewrite;

pub use carry::{NewPin, carry};
pub use change::{NewList, PinPlan, add_pins, remove_pins, reorder_pins, stored_pins};
pub use file::{ApplicationPins, LARGEST_PINS_FILE, PINS_VERSION, PinsFile, PinsFileError, StoredPin};
pub use map::{MapError, MappedPath, PathMap};
