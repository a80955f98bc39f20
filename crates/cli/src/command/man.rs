//! `colgrep man`: the manual page, and the reference in Markdown, both from the definition of the flags.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::{Arg, Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::FOUND;
use crate::args::{Args, CHAPTERS, ManArgs};

pub(super) fn run(args: &ManArgs) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    if args.markdown {
        write!(out, "{}", markdown())?;
        return Ok(FOUND);
    }
    let mut command = Args::command();
    command.build();
    let page = match &args.command {
        // clap would put the text after the flags under one heading.
        None => command.after_help(None::<&'static str>).after_long_help(None::<&'static str>),
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => bail!("there is no subcommand {name:?}; `colgrep --help` lists them"),
        },
    };
    let mut text = Vec::new();
    let version = format!("colgrep {}", env!("CARGO_PKG_VERSION"));
    Man::new(page).source(version).render(&mut text)?;
    if args.command.is_none() {
        chapters().to_writer(&mut text)?;
    }
    out.write_all(&text)?;
    Ok(FOUND)
}

/// The chapters after the flags, as sections.
fn chapters() -> Roff {
    let mut roff = Roff::new();
    for chapter in &CHAPTERS {
        roff.control("SH", [chapter.title.to_uppercase().as_str()]);
        for (name, meaning) in chapter.rows {
            roff.control("TP", []);
            roff.text([bold(*name)]);
            roff.text([roman(*meaning)]);
        }
    }
    roff
}

/// The reference of `docs/generated/cli.md`; a test keeps that file current.
pub fn markdown() -> String {
    let mut command = Args::command().term_width(0);
    command.build();
    let mut text = String::from(
        "<!-- Made by `colgrep man --markdown`; a test keeps it current. -->\n\n# The command line of colgrep\n",
    );
    let (examples, others) = CHAPTERS.split_at(1);
    text += &format!("\n## colgrep\n\n{}\n", about(&command));
    examples.iter().for_each(|chapter| text += &chapter.markdown());
    text += &tables(&command, None);
    others.iter().for_each(|chapter| text += &chapter.markdown());
    for sub in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        if sub.get_name() == "search" {
            text += &format!("\n## colgrep search\n\n{}\n\n", about(sub));
            text += "It takes the flags of `colgrep` itself.\n";
            continue;
        }
        text += &format!("\n## colgrep {}\n\n{}\n{}", sub.get_name(), about(sub), tables(sub, Some(&command)));
    }
    text
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|a| !a.is_hide_set())
}

fn about(command: &Command) -> String {
    command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// The flags of a command, a list for each heading. Flags of a subcommand that `program` has, too, are only named, and
/// `--help` is left out.
fn tables(command: &Command, program: Option<&Command>) -> String {
    let (mut text, mut shared) = (String::new(), Vec::new());
    let known: Vec<String> = program.into_iter().flat_map(flags).map(row).collect();
    let mut groups: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for arg in flags(command).filter(|arg| program.is_none() || arg.get_id() != "help") {
        let own = arg.get_help_heading().unwrap_or(if arg.is_positional() { "Arguments" } else { "Options" });
        match groups.iter_mut().find(|(heading, _)| *heading == own) {
            Some((_, args)) => args.push(arg),
            None => groups.push((own, vec![arg])),
        }
    }
    for (heading, args) in groups {
        let (known, own): (Vec<&Arg>, Vec<&Arg>) = args.into_iter().partition(|arg| known.contains(&row(arg)));
        shared.extend(known.into_iter().map(spelling));
        if !own.is_empty() {
            text += &format!("\n### {heading}\n\n");
            own.into_iter().for_each(|arg| text += &row(arg));
        }
    }
    if !shared.is_empty() {
        text += &format!("\nAs for `colgrep` itself: {}.\n", shared.join(", "));
    }
    text
}

fn row(arg: &Arg) -> String {
    format!("- {}: {}\n", spelling(arg), meaning(arg))
}

fn spelling(arg: &Arg) -> String {
    let value = || {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
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
        .filter(|v| !v.is_hide_set() && !arg.is_hide_possible_values_set() && arg.get_action().takes_values())
        .map(|v| format!("`{}`", v.get_name()))
        .collect();
    let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    format!("{help}{values}").replace('\n', " ")
}
