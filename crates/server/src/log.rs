//! The log of a server, on stderr: messages for people, or lines for programs.
//!
//! Lines for programs have a time, a level and fields, which are named as in OpenTelemetry where it has a name.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use colgrep_index::moment::Moment;
use colgrep_render::escape::{escape_text, in_json};
use colgrep_render::remark;
use serde_json::{Map, Value};

/// How a server logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Messages for people; no line for each request
    #[default]
    Plain,
    /// Lines with time, level and key=value fields, also one for each request
    Text,
    /// The same as a JSON object a line
    Json,
}

/// How urgent a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Something happened.
    Info,
    /// Something is wrong, and somebody should look.
    Warn,
}

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Sets the format of this process. The first call counts.
pub fn set_format(format: LogFormat) {
    let _ = FORMAT.set(format);
}

fn format() -> LogFormat {
    FORMAT.get().copied().unwrap_or_default()
}

/// True if each request is logged.
pub fn logs_requests() -> bool {
    format() != LogFormat::Plain
}

/// Logs a message.
pub fn message(level: LogLevel, text: impl Display) {
    match format() {
        LogFormat::Plain => remark!("colgrep: {text}"),
        format => write(format, level, &text.to_string(), Map::new()),
    }
}

/// Logs an event with fields, unless the log is for people.
pub fn event(level: LogLevel, body: &str, fields: Map<String, Value>) {
    match format() {
        LogFormat::Plain => {}
        format => write(format, level, body, fields),
    }
}

fn write(format: LogFormat, level: LogLevel, body: &str, fields: Map<String, Value>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let line = line(format, now, level, body, fields);
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn line(format: LogFormat, now: Duration, level: LogLevel, body: &str, fields: Map<String, Value>) -> String {
    let (seconds, date) = (now.as_secs(), Moment::new(now.as_secs() as i64, 0).date());
    let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
    let time = format!("{date}T{hours:02}:{minutes:02}:{:02}.{:03}Z", seconds % 60, now.subsec_millis());
    let level = match level {
        LogLevel::Info => "INFO",
        LogLevel::Warn => "WARN",
    };
    match format {
        LogFormat::Json => {
            let head = [("timestamp", time.as_str()), ("severity_text", level), ("body", body)];
            let head = head.into_iter().map(|(name, value)| (name.to_string(), Value::from(value)));
            in_json(Value::Object(head.chain(fields).collect()).to_string())
        }
        LogFormat::Plain | LogFormat::Text => {
            let mut line = format!("{time} {level} {}", escape_text(body).replace('\n', " "));
            for (name, value) in fields {
                // Strings are quoted as in JSON, so a value ends where it seems to.
                line.push_str(&format!(" {name}={}", escape_text(&value.to_string())));
            }
            line
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_has_time_level_and_fields_whatever_they_hold() {
        let fields = || {
            let Value::Object(fields) = json!({"http.route": "/a b\n", "n": 2}) else { unreachable!("an object") };
            fields
        };
        let of = |format| line(format, Duration::from_millis(1_700_000_000_123), LogLevel::Warn, "a\nb", fields());
        assert_eq!(of(LogFormat::Text), "2023-11-14T22:13:20.123Z WARN a b http.route=\"/a b\\n\" n=2");
        let parsed: Value = serde_json::from_str(&of(LogFormat::Json)).expect("JSON on one line");
        assert_eq!(
            parsed,
            json!({"timestamp": "2023-11-14T22:13:20.123Z", "severity_text": "WARN", "body": "a\nb", "http.route": "/a b\n", "n": 2})
        );
    }
}
