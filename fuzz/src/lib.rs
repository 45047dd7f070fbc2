//! What the targets share: the oracles, which the tests of the project use as well.

#[path = "../../tests/support/oracle.rs"]
pub mod oracle;
