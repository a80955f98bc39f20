//! The flags of output formats, read from the table of formats.

use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use colgrep_render::Format;

/// The format that a flag asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormatArg(pub Format);

impl Args for FormatArg {
    fn augment_args(command: Command) -> Command {
        let names = || Format::FLAGS.iter().map(|(_, flag)| flag.name);
        command.args(Format::FLAGS.iter().map(|(_, flag)| {
            let others = names().filter(|name| *name != flag.name);
            let arg = Arg::new(flag.name).long(flag.name).help(flag.help).help_heading("Output");
            arg.action(ArgAction::SetTrue).conflicts_with_all(others.chain(flag.excludes.iter().copied()))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        FormatArg::augment_args(command)
    }
}

impl FromArgMatches for FormatArg {
    fn from_arg_matches(matches: &ArgMatches) -> Result<FormatArg, Error> {
        let given = Format::FLAGS.iter().find(|(_, flag)| matches.get_flag(flag.name));
        Ok(FormatArg(given.map_or_else(Format::default, |(format, _)| *format)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = FormatArg::from_arg_matches(matches)?;
        Ok(())
    }
}
