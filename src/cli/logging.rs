//! The log: to standard error, as text or as JSON, one line an event.

use std::io::Write;

use log::kv::{Key, Value, VisitSource, VisitValue};
use serde_json::{Map, Value as Json};

use crate::config::LogFormat;

/// Starts the log; `RUST_LOG` chooses the level, `info` by default.
pub(super) fn start(format: LogFormat) {
    let mut builder =
        env_logger::Builder::from_env(env_logger::Env::new().default_filter_or("info"));
    builder.format(move |out, record| {
        let mut fields = Map::new();
        record.key_values().visit(&mut Fields(&mut fields)).map_err(std::io::Error::other)?;
        let time = out.timestamp_micros().to_string();
        match format {
            LogFormat::Json => {
                let mut line = Map::new();
                line.insert("time".to_owned(), time.into());
                line.insert("level".to_owned(), record.level().as_str().into());
                line.insert("target".to_owned(), record.target().into());
                line.insert("message".to_owned(), record.args().to_string().into());
                line.extend(fields);
                writeln!(out, "{}", Json::Object(line))
            }
            LogFormat::Text => {
                let message = Json::from(record.args().to_string()).to_string();
                let message = message.trim_matches('"').replace("\\\"", "\"");
                write!(out, "{time} {:5} {message}", record.level())?;
                for (name, value) in fields {
                    match value.as_str().filter(|text| !text.contains([' ', '"', '\\'])) {
                        Some(text) if !text.chars().any(char::is_control) => {
                            write!(out, " {name}={text}")?;
                        }
                        _ => write!(out, " {name}={value}")?,
                    }
                }
                writeln!(out)
            }
        }
    });
    builder.init();
}

struct Fields<'a>(&'a mut Map<String, Json>);

impl<'kvs> VisitSource<'kvs> for Fields<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), log::kv::Error> {
        let mut plain = Plain(Json::Null);
        value.visit(&mut plain)?;
        self.0.insert(key.as_str().to_owned(), plain.0);
        Ok(())
    }
}

struct Plain(Json);

impl VisitValue<'_> for Plain {
    fn visit_any(&mut self, value: Value<'_>) -> Result<(), log::kv::Error> {
        self.0 = value.to_string().into();
        Ok(())
    }
    fn visit_u64(&mut self, value: u64) -> Result<(), log::kv::Error> {
        self.0 = value.into();
        Ok(())
    }
    fn visit_i64(&mut self, value: i64) -> Result<(), log::kv::Error> {
        self.0 = value.into();
        Ok(())
    }
    fn visit_str(&mut self, value: &str) -> Result<(), log::kv::Error> {
        self.0 = value.into();
        Ok(())
    }
}
