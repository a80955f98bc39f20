//! `colgrep man`: the manual page, and the reference in Markdown, both from the definition of the flags.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::{Arg, Command, CommandFactory as _};

use crate::FOUND;
use crate::args::{Args, ManArgs};

pub(super) fn run(args: &ManArgs) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    if args.markdown {
        write!(out, "{}", markdown())?;
        return Ok(FOUND);
    }
    let mut command = Args::command();
    command.build();
    let page = match &args.command {
        None => command,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => bail!("there is no subcommand {name:?}; `colgrep --help` lists them"),
        },
    };
    let mut text = Vec::new();
    let version = format!("colgrep {}", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(page).source(version).render(&mut text)?;
    out.write_all(&text)?;
    Ok(FOUND)
}

/// The reference of `docs/generated/cli.md`; a test keeps that file current.
pub fn markdown() -> String {
    let mut command = Args::command().term_width(0);
    command.build();
    let mut text = String::from(
        "<!-- Made by `colgrep man --markdown`; a test keeps it current. -->\n\n# The command line of colgrep\n",
    );
    describe(&command, "colgrep", &mut text);
    for sub in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        if sub.get_name() == "search" {
            text += &format!("\n## colgrep search\n\n{}\n\n", about(sub));
            text += "It takes the flags of `colgrep` itself.\n";
            continue;
        }
        describe(sub, &format!("colgrep {}", sub.get_name()), &mut text);
    }
    text
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|a| !a.is_hide_set())
}

fn about(command: &Command) -> String {
    command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default()
}

fn describe(command: &Command, name: &str, text: &mut String) {
    *text += &format!("\n## {name}\n\n{}\n", about(command));
    if let Some(examples) = command.get_after_help() {
        *text += &format!("\n```text\n{examples}\n```\n");
    }
    let mut groups: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for arg in flags(command) {
        let own = arg.get_help_heading().unwrap_or(if arg.is_positional() { "Arguments" } else { "Options" });
        match groups.iter_mut().find(|(heading, _)| *heading == own) {
            Some((_, args)) => args.push(arg),
            None => groups.push((own, vec![arg])),
        }
    }
    for (heading, args) in groups {
        *text += &format!("\n### {heading}\n\n| flag | meaning |\n|---|---|\n");
        for arg in args {
            *text += &format!("| {} | {} |\n", spelling(arg), meaning(arg));
        }
    }
}

fn spelling(arg: &Arg) -> String {
    let value = || {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().map(|n| n.replace('|', "\\|")).collect::<Vec<_>>().join(" ")
    };
    if arg.is_positional() {
        return format!("`{}`", value());
    }
    let short = arg.get_short().map(|s| format!("-{s}"));
    let long = arg.get_long().map(|l| format!("--{l}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let takes = arg.get_action().takes_values();
    let value = if takes { format!(" {}", value()) } else { String::new() };
    format!("`{}{value}`", names.join("`, `"))
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|v| !v.is_hide_set() && arg.get_action().takes_values())
        .map(|v| format!("`{}`", v.get_name()))
        .collect();
    let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    format!("{help}{values}").replace('|', "\\|").replace('\n', " ")
}
