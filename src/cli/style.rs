//! Colours, and what they mean: red is damaged, yellow asks for something, green is well, dim is what can be skipped.

use anstyle::{AnsiColor, Style};
use jlfix::model::Severity;
use jlfix::report::State;

pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const HEAD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const COMMAND: Style = AnsiColor::Cyan.on_default();

/// `text` in `style`; the stream it is written to takes the style out where there is no colour.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The colour of a state.
pub(crate) fn of_state(state: State) -> Style {
    match state {
        State::Damaged => BAD,
        State::Slow => AnsiColor::Red.on_default(),
        State::Stale => WARN,
        State::Empty => DIM,
        State::Ok => GOOD,
    }
}

/// The colour of a severity.
pub(crate) fn of_severity(severity: Severity) -> Style {
    match severity {
        Severity::Error => BAD,
        Severity::Warning => WARN,
        Severity::Info => DIM,
    }
}
