//! colgrep-bench: how well and how fast colgrep finds, measured in-process, with honest errors.

mod ablate;
mod background;
mod compare;
mod corpus;
mod economy;
mod impact;
mod issues;
mod known;
mod metric;
mod needles;
mod order;
mod paired;
mod places;
mod plot;
mod pools;
mod process;
mod recall;
mod report;
mod research;
mod run;
mod selfeval;
mod serve;
mod shards;
mod speed;
mod strength;
mod sweep;
mod tool_client;
mod torture;
mod trace;

use std::ffi::OsString;

use clap::{Parser, Subcommand};
use colgrep_syntax::worker;

/// All is well.
pub const FINE: u8 = 0;
/// A comparison found a regression beyond its bound, or torture a failure.
pub const REGRESSION: u8 = 1;
/// Something went wrong.
pub const FAILED: u8 = 2;

/// Measures colgrep: relevance, sweeps of its knobs, ablations, speed.
///
/// COLGREP_ variables act as they do on colgrep itself.
#[derive(Debug, Parser)]
#[command(name = "colgrep-bench", version)]
struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Measure relevance on annotated repositories
    Run(run::RunArgs),
    /// Try many settings of the knobs, and judge the winner where it was not chosen
    Sweep(sweep::SweepArgs),
    /// Compare two records of `run`, query by query
    Compare(compare::CompareArgs),
    /// Measure what somebody knows of the text: messages, lines, names and places drawn from sources
    Known(known::KnownArgs),
    /// Hold a corpus in several indexes against the one index of it
    Shards(shards::ShardsArgs),
    /// Measure whether pasted issues find the files that their fixes changed
    Issues(issues::IssuesArgs),
    /// Measure whether the sections of a documentation that answer questions are found
    Needles(needles::NeedlesArgs),
    /// Measure whether the unit that answers a question is shown first
    Places(places::PlacesArgs),
    /// Measure what it costs to have the right place printed: by grep, a list, a pack, an agent's tool
    Economy(economy::EconomyArgs),
    /// Measure whether the files that future commits changed together are found from one of them
    Impact(impact::ImpactBenchArgs),
    /// Fit the learned order of units on labelled places
    Order(order::OrderArgs),
    /// Give hints and terms beside the queries, right ones and wrong ones, and print what they are worth
    Background(background::BackgroundArgs),
    /// Fit what turns a ranking into chances of being right, on questions asked of their own and of other repositories
    Strength(strength::StrengthArgs),
    /// Measure whether `log` finds the commit that the first sentence of its message is about
    Recall(recall::RecallArgs),
    /// Switch each stage off in turn, and print what it is worth
    Ablate(ablate::AblateArgs),
    /// Measure whole processes: indexing, searching, memory, disk, other tools
    Speed(speed::SpeedArgs),
    /// Ask the HTTP server by many clients at once: answers a second, how long they take, memory over time
    Serve(serve::ServeBenchArgs),
    /// Draw what the other commands wrote, as SVG
    Plot(plot::PlotArgs),
    /// Measure relevance on a repository without labels, by its commits and its documentation
    #[command(name = "self")]
    SelfEval(selfeval::SelfEvalArgs),
    /// Programs for work on the embedded model and the index's layout
    #[command(subcommand)]
    Research(research::ResearchArgs),
    /// Stop it at each of its steps and damage its files, and look whether anything is lost or wrong
    Torture(torture::TortureArgs),
    /// Be colgrep itself, the one that is linked in here: `colgrep-bench colgrep init PATH`
    #[command(disable_help_flag = true)]
    Colgrep {
        /// Its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// Runs the harness and gives its exit status: 0 fine, 1 a regression, 2 an error.
pub fn run(args: impl Iterator<Item = OsString>, vars: impl Iterator<Item = (OsString, OsString)>) -> u8 {
    let (args, vars): (Vec<OsString>, Vec<_>) = (args.collect(), vars.collect());
    if worker::is_asked_for(&args) {
        return colgrep::with_room(|| worker::serve().map_or(FAILED, |()| FINE));
    }
    if let Some(program) = worker::this_program() {
        worker::enable(program);
    }
    let status = colgrep::with_room(|| run_with(args, vars));
    worker::end();
    status
}

fn run_with(args: Vec<OsString>, vars: Vec<(OsString, OsString)>) -> u8 {
    let args = match BenchArgs::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { FAILED } else { FINE };
        }
    };
    let result = match args.command {
        BenchCommand::Run(args) => run::run(&args, &vars),
        BenchCommand::Sweep(args) => sweep::run(&args, &vars),
        BenchCommand::Plot(args) => plot::run(&args),
        BenchCommand::Speed(args) => speed::run(&args),
        BenchCommand::Serve(args) => serve::run(&args),
        BenchCommand::SelfEval(args) => selfeval::run(&args, &vars),
        BenchCommand::Strength(args) => strength::run(&args, &vars),
        BenchCommand::Known(args) => known::run(&args, &vars),
        BenchCommand::Shards(args) => shards::run(&args),
        BenchCommand::Needles(args) => needles::run(&args, &vars),
        BenchCommand::Places(args) => places::run(&args, &vars),
        BenchCommand::Economy(args) => economy::run(&args, &vars),
        BenchCommand::Impact(args) => impact::run(&args, &vars),
        BenchCommand::Order(args) => order::run(&args, &vars),
        BenchCommand::Issues(args) => issues::run(&args, &vars),
        BenchCommand::Recall(args) => recall::run(&args, &vars),
        BenchCommand::Torture(args) => torture::run(&args),
        BenchCommand::Compare(args) => compare::run(&args),
        BenchCommand::Background(args) => background::run(&args, &vars),
        BenchCommand::Ablate(args) => ablate::run(&args, &vars),
        BenchCommand::Research(args) => research::run(&args, &vars),
        BenchCommand::Colgrep { args } => {
            // Behind a search this program would be started, which takes other arguments.
            let vars = vars.into_iter().chain([("COLGREP_BACKGROUND".into(), "0".into())]);
            return colgrep::run([OsString::from("colgrep")].into_iter().chain(args), vars);
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("colgrep-bench: {}", colgrep::told(&error));
        FAILED
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::BenchArgs;

    #[test]
    fn every_command_stands_in_the_readme() {
        let page = include_str!("../README.md");
        let is_there = |call: &str| {
            let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
            page.match_indices(call).any(|(at, _)| !goes_on(&page[at + call.len()..]))
        };
        for command in BenchArgs::command().get_subcommands() {
            let call = format!("colgrep-bench {}", command.get_name());
            assert!(is_there(&call), "benchmarks/README.md says nothing of {call}");
            for inner in command.get_subcommands() {
                let call = format!("{call} {}", inner.get_name());
                assert!(is_there(&call), "benchmarks/README.md says nothing of {call}");
            }
        }
    }
}
