//! `jlfix completions` and `jlfix man`: what a shell and `man` want to know, made from the same words as the help.

use std::io::Write as _;

use clap_complete::Shell;

use super::exit::Exit;
use super::{Stop, output};

/// Write the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix completions bash  > ~/.local/share/bash-completion/completions/jlfix
  jlfix completions powershell  >> $PROFILE")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs, mut program: clap::Command) -> Result<Exit, Stop> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "jlfix", &mut text);
    let mut out = output::data();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Write the manual page of the program, or of one of its commands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix man  > jlfix.1
  jlfix man prune  | man -l -")]
pub(crate) struct ManArgs {
    /// The command; the program itself if none is named
    command: Option<String>,
}

pub(crate) fn man(args: &ManArgs, mut program: clap::Command) -> Result<Exit, Stop> {
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => {
            program.find_subcommand(name).cloned().ok_or_else(|| Stop::Usage(format!("there is no command {name}")))?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    let mut out = output::data();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Clean)
}
