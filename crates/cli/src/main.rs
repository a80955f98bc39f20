//! The `colgrep` program: hands its arguments and its environment to the library and exits with its status.

use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "here the environment is read")]
fn main() -> ExitCode {
    ExitCode::from(colgrep::run(std::env::args_os(), std::env::vars_os()))
}
