//! The log of a server, on stderr: messages for people, or lines for programs. Its events are those of `tracing`.
//!
//! Lines for programs have a time, a level and fields, which are named as in OpenTelemetry where it has a name.

use std::fmt::{self, Debug};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use colgrep_index::moment::Moment;
use colgrep_render::escape::{escape_text, in_json};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, layer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;

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

/// The target of the events of requests, one for each.
pub const REQUESTS: &str = "colgrep_server::requests";

/// Begins to log events of colgrep in a format. The first call of a process counts.
pub fn start(format: LogFormat) {
    let of_requests = if format == LogFormat::Plain { LevelFilter::OFF } else { LevelFilter::INFO };
    let targets = Targets::new().with_target("colgrep", LevelFilter::INFO).with_target(REQUESTS, of_requests);
    let lines = layer().event_format(format).with_writer(std::io::stderr);
    let _ = tracing::subscriber::set_global_default(Registry::default().with(lines).with(targets));
}

#[derive(Default)]
struct EventFields {
    body: String,
    fields: Map<String, Value>,
}

impl EventFields {
    fn record(&mut self, field: &Field, value: Value) {
        self.fields.insert(field.name().to_string(), value);
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.body = text,
            _ => self.record(field, text.into()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.record(field, value.into());
    }
}

impl<S, N> FormatEvent<S, N> for LogFormat
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut told = EventFields::default();
        event.record(&mut told);
        let EventFields { body, fields } = told;
        if *self == LogFormat::Plain {
            return writeln!(writer, "colgrep: {}", escape_text(&body));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        writeln!(writer, "{}", line(*self, now, *event.metadata().level(), &body, fields))
    }
}

fn line(format: LogFormat, now: Duration, level: Level, body: &str, fields: Map<String, Value>) -> String {
    let (seconds, date) = (now.as_secs(), Moment::new(now.as_secs() as i64, 0).date());
    let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
    let time = format!("{date}T{hours:02}:{minutes:02}:{:02}.{:03}Z", seconds % 60, now.subsec_millis());
    match format {
        LogFormat::Json => {
            let head = [("timestamp", time.as_str()), ("severity_text", level.as_str()), ("body", body)];
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
        let of = |format| line(format, Duration::from_millis(1_700_000_000_123), Level::WARN, "a\nb", fields());
        assert_eq!(of(LogFormat::Text), "2023-11-14T22:13:20.123Z WARN a b http.route=\"/a b\\n\" n=2");
        let parsed: Value = serde_json::from_str(&of(LogFormat::Json)).expect("JSON on one line");
        assert_eq!(
            parsed,
            json!({"timestamp": "2023-11-14T22:13:20.123Z", "severity_text": "WARN", "body": "a\nb", "http.route": "/a b\n", "n": 2})
        );
    }
}
