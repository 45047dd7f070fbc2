//! The help: what it shows can be typed, and there is some for everything.

use crate::support;

use support::cli::Cli;

/// Every command, and the commands below it.
fn commands(cli: &Cli) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while let Some(parent) = found.get(at).cloned() {
        let help = cli.run(&format!("{parent} --help")).clean().stdout;
        let names = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
        let names = names.filter(|name| *name != "help").map(|name| format!("{parent} {name}").trim().to_owned());
        found.extend(names.collect::<Vec<_>>());
        at += 1;
    }
    found
}

#[test]
fn every_command_has_help_with_an_example() {
    let cli = Cli::new();
    let commands = commands(&cli);
    for expected in ["scan", "show", "check", "prune", "delete", "backup", "backup create", "backup verify", "restore"]
    {
        assert!(commands.iter().any(|command| command == expected), "{expected}: {commands:?}");
    }
    for command in &commands {
        let help = cli.run(&format!("{command} --help")).clean().stdout;
        assert!(help.starts_with(|c: char| c.is_uppercase()), "{command}: {help}");
        // What is below `backup` is shown with it.
        assert!(command.contains(' ') || help.contains("\nExamples:\n"), "{command} has no example");
        let long = help.lines().find(|line| line.chars().count() > 100);
        assert!(long.is_none(), "{command}: {long:?}");
        // A text that is wrapped by hand and then again leaves words on lines of their own.
        let after = help.split("Print help").nth(1).unwrap_or_default();
        let torn = after.lines().skip(1).find(|line| line.ends_with(',') && line.split(' ').count() < 3);
        assert!(torn.is_none(), "{command}: {torn:?}");
    }
    assert_eq!(cli.run("").exits(2).stdout, "");
    let version = cli.run("--version").clean().stdout;
    assert_eq!(version.trim(), concat!("jlfix ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_short_help_of_each_command_has_at_most_40_lines() {
    let cli = Cli::new();
    for command in commands(&cli).into_iter().filter(|command| !command.is_empty()) {
        let help = cli.run(&format!("{command} -h")).clean().stdout;
        let lines = help.lines().count();
        assert!(lines <= 40, "{command}: {lines} lines\n{help}");
    }
}

/// The command lines among the examples, without what is said of them.
#[cfg(unix)]
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  jlfix "));
    lines.map(|line| format!("jlfix {}", line.split("  ").next().unwrap_or_default())).collect()
}

#[cfg(unix)]
fn line_is(line: &str, command: &str) -> bool {
    line.starts_with(&format!("jlfix {command} "))
}

/// Each example is typed into a shell as it stands, in a folder where FOLDER and FILE are such, and the user's
/// samples are there.
#[cfg(unix)]
#[test]
fn every_example_is_a_command_line_that_works() {
    use std::path::Path;
    use support::build::ListBuilder;
    use support::cli::{EXPLORER, NOTEPAD, bloated};

    let cli = Cli::with_samples();
    cli.write(format!("samples/AutomaticDestinations/{EXPLORER}"), &std::fs::read(bloated()).unwrap());
    let mut count = 0;
    let path = Path::new(env!("CARGO_BIN_EXE_jlfix")).parent().unwrap().to_string_lossy().into_owned();
    let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
    for command in commands(&cli) {
        for example in examples(&cli.run(&format!("{command} --help")).stdout) {
            for name in [NOTEPAD, EXPLORER] {
                cli.write(format!("FOLDER/{name}"), &ListBuilder::files(4, 60).build());
                cli.write(name, &ListBuilder::files(4, 60).build());
                cli.write(format!("FROM/{name}"), &ListBuilder::files(4, 9).pin(2).build());
                cli.write(format!("INTO/{name}"), &ListBuilder::files(4, 3).build());
            }
            cli.write("DRIVE/Windows/win.ini", b"");
            let _ = std::fs::remove_file(cli.path("pins.json"));
            if line_is(&example, "pins import") {
                cli.run("pins export FROM -o pins.json").exits(0);
            }
            for name in ["A", "B", "C"] {
                cli.write(name, &ListBuilder::files(4, 60).build());
            }
            cli.write(format!("EVIDENCE/{NOTEPAD}"), &ListBuilder::files(4, 60).build());
            cli.write("executables.txt", br"C:\Windows\notepad.exe");
            let pinned = [53, 57, 58, 59].iter().fold(ListBuilder::files(4, 60), |list, at| list.pin(*at));
            let list = if line_is(&example, "pins") { pinned } else { ListBuilder::files(4, 60) };
            cli.write("FILE", &list.build());
            cli.write("5f7b5f1e01b83767.automaticDestinations-ms", &ListBuilder::files(4, 60).build());
            // Something to restore.
            cli.run(&format!("prune --keep 55 {EXPLORER}")).clean();
            if example.contains("--redo") {
                cli.run("restore").clean();
            }
            let line = example.split(" | ").next().unwrap().replace("/mnt/c", "DRIVE");
            let line = line.as_str();
            let mut shell = cli.command("sh");
            shell.args(["-c", line]).env("PATH", &path);
            let out = support::cli::finish(shell);
            let told = format!("{line}: {}\n{}{}", out.code, out.stdout, out.stderr);
            // An id that nobody has, and a setting that only Windows has.
            let fails = line.contains("20261130T") || line.contains("tracking");
            // An export tells on stderr which files it wrote.
            let exports = line_is(line, "export") || line_is(line, "pins export");
            assert!(!out.stdout.is_empty() || fails || exports, "{told}");
            if fails {
                assert_eq!(out.code, 4, "{told}");
            } else {
                // The lists of this test have no path that the pattern of the example matches, and none is slow.
                let unmatched = [
                    "jlfix: --match: no entry matches\n",
                    "jlfix: --only slow: selects none of 2 lists\n",
                    "jlfix: --only slow --larger-than 1048576: selects none of 2 lists\n",
                ]
                .contains(&out.stderr.as_str());
                assert!(out.code < 2 && (out.stderr.is_empty() || exports || unmatched), "{told}");
            }
            count += 1;
        }
    }
    assert!(count > 15, "only {count} examples");
}
