//! `colgrep completions SHELL`: what the shell needs to complete colgrep's flags.
//!
//! clap's scripts take a word before a flag for a subcommand's name. Here it is usually a query, so the scripts of fish
//! and zsh get the list of subcommands. clap also completes every value as a file's name; here only flags that take
//! files do so.

use std::io::Write as _;

use anyhow::Result;
use clap::{Arg, Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;

use crate::FOUND;
use crate::args::{Args, CompletionsArgs};

pub(super) fn run(args: &CompletionsArgs) -> Result<u8> {
    std::io::stdout().write_all(script(args.shell).as_bytes())?;
    Ok(FOUND)
}

fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    let mut command = hinted(Args::command());
    clap_complete::generate(shell, &mut command, "colgrep", &mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match shell {
        Shell::Fish => fish(&text, &command),
        Shell::Zsh => zsh(&text, &command),
        _ => text,
    }
}

/// The command with no files offered where no flag or argument says that it takes one.
fn hinted(command: Command) -> Command {
    let hint = |arg: Arg| match arg.get_action().takes_values() && arg.get_value_hint() == ValueHint::Unknown {
        true => arg.value_hint(ValueHint::Other),
        false => arg,
    };
    command.mut_args(hint).mut_subcommands(hinted)
}

fn names(command: &Command) -> Vec<&str> {
    command.get_subcommands().map(Command::get_name).collect()
}

/// Completes flags of a search after a query too, and the values of a subcommand.
fn fish(text: &str, command: &Command) -> String {
    let is_flag = |line: &str| line.contains(" -s ") || line.contains(" -l ");
    let anywhere = format!("-n \"not __fish_seen_subcommand_from {}\"", names(command).join(" "));
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| match is_flag(line) {
            true => line.replace("-n \"__fish_colgrep_needs_command\"", &anywhere),
            false => line.to_string(),
        })
        .collect();
    for subcommand in command.get_subcommands() {
        let values = subcommand.get_positionals().flat_map(Arg::get_possible_values);
        let values: Vec<String> = values.map(|v| v.get_name().to_string()).collect();
        if !values.is_empty() {
            let name = subcommand.get_name();
            let values = values.join(" ");
            lines.push(format!("complete -c colgrep -n \"__fish_colgrep_using_subcommand {name}\" -f -a \"{values}\""));
        }
    }
    lines.join("\n") + "\n"
}

/// The first word is a subcommand's name, or else the query of a search.
fn zsh(text: &str, command: &Command) -> String {
    let lines: Vec<String> =
        text.lines().filter(|l| !l.starts_with("'::words ")).map(|l| l.replace("$line[2]", "$line[1]")).collect();
    let choice = "        case $line[1] in\n            (search)";
    let known = names(command).join("|");
    let first = format!("        case $line[1] in ({known}|help) ;; (*) line[1]=search ;; esac\n{choice}");
    lines.join("\n").replacen(choice, &first, 1) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_in_claps_scripts_is_there() {
        let fish = script(Shell::Fish);
        assert!(fish.contains("-n \"not __fish_seen_subcommand_from search init "), "{fish}");
        assert!(fish.contains("__fish_colgrep_using_subcommand install\" -f -a \"claude-code codex "), "{fish}");
        assert!(!fish.lines().any(|l| l.contains("-n \"__fish_colgrep_needs_command\" -l ")), "{fish}");
        let zsh = script(Shell::Zsh);
        assert!(zsh.contains("(search|init|") && zsh.contains("(*) line[1]=search ;; esac\n"), "{zsh}");
        assert!(!zsh.contains("$line[2]") && !zsh.contains("\n'::words"), "{zsh}");
        assert!(zsh.contains(":LANG:(bash c cpp ") && zsh.contains(":FORMAT:(cursor "), "{zsh}");
        assert!(zsh.contains(":(results per_file ") && !zsh.contains(":_default"), "{zsh}");
        let listed = |flag: &str, value: &str| fish.lines().any(|l| l.contains(flag) && l.contains(value));
        assert!(listed(" -l type ", " -r -f -a \"bash\\t''") && listed(" -l since ", " -r -f"), "{fish}");
        assert!(listed("subcommand settings\" -f -a \"results ", " ranking.alpha "), "{fish}");
        for shell in [Shell::Bash, Shell::PowerShell, Shell::Elvish] {
            assert!(script(shell).contains("--max-tokens"), "{shell}");
        }
    }
}
