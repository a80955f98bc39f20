//! Looks for short texts that are expensive to parse when repeated, in random token sequences, and prints the worst of
//! each language: `cargo run --release -p colgrep-syntax --example bombs -- [TRIES [BYTES]]`.
//!
//! For a single text: `… --example bombs -- LANGUAGE TEXT TIMES`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::time::{Duration, Instant};

use colgrep_syntax::budget::{Peak, peak};
use colgrep_syntax::language::{self, LANGUAGES, Language};
use colgrep_syntax::parse::parse;

/// Tokens of any language, besides names and numbers.
const TOKENS: &str = "a b 1 < > ( ) [ ] { } , ; : . = + - * / ! ? & | ^ % ~ # @ $ \\ \" ' ` -> => := :: .. ... << >> && || == \
    if else for while do end then fn def class struct new let var int return try catch in of case when async await \
    typeof sizeof static public template using namespace import lambda not and or yield /* */ // -- {- -} \n \t \n\u{20}\u{20}";

/// What parsing one text took.
struct Cost {
    peak: Peak,
    time: Duration,
    units: usize,
    note: String,
}

fn cost(language: &'static Language, text: &str) -> Cost {
    let began = Instant::now();
    let parsed = parse(text, language);
    let units = parsed.units.iter().map(|u| u.body.len() + u.docstring.len() + u.signature.len()).sum();
    Cost { peak: peak(), time: began.elapsed(), units, note: parsed.note.unwrap_or_default() }
}

fn print(language: &Language, text: &str, times: usize, cost: &Cost) {
    let Cost { peak, time, units, note } = cost;
    println!(
        "{:<12} {:>5} MB {:>6} nodes {:>6} ms, units {:>5} kB: {text:?} x {times}: {note}",
        language.name,
        peak.bytes >> 20,
        peak.stack_nodes,
        time.as_millis(),
        units >> 10,
    );
}

/// Numbers that look random; the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // xorshift64, Marsaglia 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [name, text, times] = args.as_slice() {
        let row = language::by_name(name).ok_or("no such language")?;
        let (text, times) = (text.replace("\\n", "\n"), times.parse()?);
        print(row, &text, times, &cost(row, &text.repeat(times)));
        return Ok(());
    }
    let tries: usize = args.first().map_or(Ok(200), |t| t.parse())?;
    let bytes: usize = args.get(1).map_or(Ok(30_000), |b| b.parse())?;
    let tokens: Vec<&str> = TOKENS.split(' ').chain([" "]).filter(|t| !t.is_empty()).collect();
    for row in LANGUAGES.iter().filter(|l| l.grammar.is_some()) {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut worst: [Option<(u128, String, usize, Cost)>; 2] = [None, None];
        for _ in 0..tries {
            let len = 1 + random.below(6);
            let text: String = (0..len).map(|_| tokens[random.below(tokens.len())]).collect();
            let times = bytes / text.len();
            let cost = cost(row, &text.repeat(times));
            let by = [(cost.peak.bytes + cost.units) as u128, cost.time.as_micros()];
            let place = usize::from(worst[0].as_ref().is_some_and(|w| w.0 >= by[0]));
            if worst[place].as_ref().is_none_or(|w| w.0 < by[place]) {
                worst[place] = Some((by[place], text, times, cost));
            }
        }
        for (_, text, times, cost) in worst.into_iter().flatten() {
            print(row, &text, times, &cost);
        }
    }
    Ok(())
}
