//! The texts of an entry, bounded and plain, so that both databases take them.

use super::entry::{NewEntry, Party};
use super::rules::{Breach, Rule, on_line};
use crate::text::plain;

/// Characters at most in a text, a voucher and a name.
const LONGEST_TEXT: usize = 500;

/// Characters at most in a key and in a code.
const LONGEST_KEY: usize = 200;

/// Whether every text that is given is one.
pub(super) fn check_texts(entry: &NewEntry) -> Result<(), Breach> {
    let whole = |(field, text, most): (&str, &str, usize)| {
        let form = |message| Breach::new(Rule::TextForm, field, message);
        plain(field, text, most).map_err(form)
    };
    whole(("text", &entry.text, LONGEST_TEXT))?;
    whole(("voucher", &entry.voucher, LONGEST_TEXT))?;
    if let Some(key) = &entry.idempotency_key {
        whole(("key", key, LONGEST_KEY))?;
    }
    for (at, line) in entry.lines.iter().enumerate() {
        let name = match &line.party {
            Some(Party::Named(name)) => Some(name.as_str()),
            _ => None,
        };
        let code = line.vat.as_ref().map(|vat| vat.code.as_str());
        let texts = [
            ("account", Some(line.account.as_str()), LONGEST_KEY),
            ("text", line.text.as_deref(), LONGEST_TEXT),
            ("party", name, LONGEST_TEXT),
            ("vat_code", code, LONGEST_KEY),
        ];
        for (field, text, most) in texts {
            let Some(text) = text else { continue };
            plain(field, text, most).map_err(|message| {
                let path = format!("lines[{at}].{field}");
                Breach::new(Rule::TextForm, path, on_line(at, &message))
            })?;
        }
    }
    Ok(())
}
