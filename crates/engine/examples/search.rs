//! Opens a folder, searches it, prints the lines that answer: `search FOLDER QUERY`.

#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(clippy::disallowed_methods, reason = "an example is a program of its own, which hands in the environment")]

use std::process::ExitCode;

use colgrep_engine::{Engine, Env, SearchRequest};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, query @ ..] = words.as_slice() else {
        eprintln!("search FOLDER QUERY");
        return Ok(ExitCode::from(2));
    };
    let engine = Engine::new(Env::read(std::env::vars_os())?);
    let request = SearchRequest::new(query.join(" ")).within(folder).files(5);
    let answer = engine.search(&request)?;
    for file in &answer.files {
        for unit in &file.units {
            println!("{}:{}: {}", file.path, unit.line.number, unit.line.text.trim());
        }
    }
    Ok(if answer.files.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
