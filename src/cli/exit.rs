//! Exit codes (docs/compatibility.md).

use std::process::ExitCode;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and nothing was found.
    Clean = 0,
    /// Done, and there is something to look at.
    Findings = 1,
    /// The arguments are invalid.
    Usage = 2,
    /// Some files failed, the rest was done.
    Partly = 3,
    /// Nothing was done.
    Nothing = 4,
    /// Interrupted.
    Interrupted = 130,
}

impl Exit {
    /// The exit code of several parts that were done one after the other.
    pub(crate) fn of_all(parts: &[Self]) -> Self {
        let any = |exit| parts.contains(&exit);
        if any(Self::Interrupted) {
            Self::Interrupted
        } else if any(Self::Partly) || any(Self::Nothing) && parts.iter().any(|exit| *exit != Self::Nothing) {
            Self::Partly
        } else if any(Self::Nothing) {
            Self::Nothing
        } else if any(Self::Findings) {
            Self::Findings
        } else {
            Self::Clean
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Counts what became of the files of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Files that were read, or changed, or rightly left alone.
    pub(crate) done: usize,
    /// Files that failed.
    pub(crate) failed: usize,
    /// Whether there is something to look at.
    pub(crate) findings: bool,
}

impl Tally {
    /// The exit code of a run that read files.
    pub(crate) fn exit(self) -> Exit {
        match self {
            Self { done: 0, failed: 1.., .. } => Exit::Nothing,
            Self { failed: 1.., .. } => Exit::Partly,
            Self { findings: true, .. } => Exit::Findings,
            _ => Exit::Clean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_outweighs_a_finding_and_nothing_done_outweighs_both() {
        let tally = |done, failed, findings| Tally { done, failed, findings }.exit();
        assert_eq!(tally(3, 0, false), Exit::Clean);
        assert_eq!(tally(0, 0, false), Exit::Clean);
        assert_eq!(tally(3, 0, true), Exit::Findings);
        assert_eq!(tally(3, 1, true), Exit::Partly);
        assert_eq!(tally(0, 2, false), Exit::Nothing);
        assert_eq!(Exit::of_all(&[Exit::Clean, Exit::Nothing]), Exit::Partly);
        assert_eq!(Exit::of_all(&[Exit::Clean, Exit::Findings]), Exit::Findings);
        assert_eq!(Exit::of_all(&[Exit::Nothing]), Exit::Nothing);
    }
}
