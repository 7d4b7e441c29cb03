//! Text from outside: folded for search, cleaned for output, masked where it identifies a person.

use serde::{Serialize, Serializer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::error::{Error, Result};

/// The form in which text is searched and sorted: lower case, without accents, single spaces.
///
/// `Zürich` and `ZURICH` fold to `zurich`, `Straße` to `strasse`, `Œuvre` to `oeuvre`.
#[must_use]
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            '’' | 'ʼ' => folded.push('\''),
            c if c.is_whitespace() || c.is_control() => folded.push(' '),
            c if is_invisible(c) => {}
            c => folded.push(c),
        }
    }
    folded.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The search column of a record: its searchable parts, folded.
#[must_use]
pub fn searchable<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    fold(&parts.into_iter().collect::<Vec<_>>().join(" "))
}

/// Characters at most in a search.
const LONGEST_QUERY: usize = 200;

/// Words at most in a search.
const MOST_WORDS: usize = 8;

/// The folded words of a search, each to be found literally and in any order.
///
/// # Errors
/// The search is too long, or has too many words.
pub fn search_words(query: &str) -> Result<Vec<String>> {
    if query.chars().count() > LONGEST_QUERY {
        let said = format!("query must have at most {LONGEST_QUERY} characters");
        return Err(Error::argument("query", said));
    }
    let mut words: Vec<String> = fold(query).split(' ').map(str::to_owned).collect();
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    if words.len() > MOST_WORDS {
        let said = format!("query must have at most {MOST_WORDS} words");
        return Err(Error::argument("query", said));
    }
    Ok(words)
}

/// Whether text to be stored is one: not empty, of at most so many characters, and without control characters other than
/// line breaks and tabs.
///
/// # Errors
/// It is not; the message names the field, what is wrong and the way out.
pub(crate) fn plain(field: &str, text: &str, most: usize) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("{field} is empty; give it a text, or leave it out"));
    }
    let count = text.chars().count();
    if count > most {
        return Err(format!("{field} has {count} characters; use at most {most}"));
    }
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        None => Ok(()),
        Some(c) => {
            Err(format!("{field} has the control character U+{:04X}; take it out", u32::from(c)))
        }
    }
}

/// Characters that change how text reads without being seen: zero-width, bidirectional, tags.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Free text from the database, on its way to a model: no control, zero-width or bidirectional character leaves.
#[derive(Debug, Clone, PartialEq, Eq, Default, diesel::AsExpression, diesel::FromSqlRow)]
#[diesel(sql_type = diesel::sql_types::Text)]
pub struct FreeText(String);

impl FreeText {
    /// The text as it is stored.
    #[must_use]
    pub fn stored(&self) -> &str {
        &self.0
    }
}

impl From<String> for FreeText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for FreeText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Serialize for FreeText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unsafe_char = |c: char| is_invisible(c) || (c.is_control() && c != '\n' && c != '\t');
        if !is_latin(&self.0) && self.0.contains(unsafe_char) {
            let clean: String = self.0.chars().filter(|c| !unsafe_char(*c)).collect();
            return serializer.serialize_str(&clean);
        }
        serializer.serialize_str(&self.0)
    }
}

/// Whether text has only printable ASCII and Latin letters (U+00C0 to U+02BF): told from its bytes, since almost all text
/// is, and nothing in it has to be taken out.
fn is_latin(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | 0x80..=0xbf | 0xc3..=0xca))
}

impl schemars::JsonSchema for FreeText {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FreeText".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

impl<DB: diesel::backend::Backend> diesel::deserialize::FromSql<diesel::sql_types::Text, DB>
    for FreeText
where
    String: diesel::deserialize::FromSql<diesel::sql_types::Text, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> diesel::deserialize::Result<Self> {
        String::from_sql(bytes).map(Self)
    }
}

impl<DB: diesel::backend::Backend> diesel::serialize::ToSql<diesel::sql_types::Text, DB>
    for FreeText
where
    String: diesel::serialize::ToSql<diesel::sql_types::Text, DB>,
{
    fn to_sql<'b>(
        &'b self,
        out: &mut diesel::serialize::Output<'b, '_, DB>,
    ) -> diesel::serialize::Result {
        self.0.to_sql(out)
    }
}

/// Street, house number, postal code, town and country, as columns hold them.
pub type Place = (FreeText, FreeText, FreeText, FreeText, String);

/// A postal address: one line to show, and its fields.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Address {
    /// The whole address on one line.
    line: FreeText,
    /// The street.
    street: FreeText,
    /// The number in the street.
    house_number: FreeText,
    /// The postal code.
    postal_code: FreeText,
    /// The town.
    town: FreeText,
    /// The country (ISO 3166, two letters).
    country: String,
}

impl From<Place> for Address {
    fn from((street, house_number, postal_code, town, country): Place) -> Self {
        let join = |a: &FreeText, b: &FreeText| format!("{} {}", a.0, b.0).trim().to_owned();
        let parts = [join(&street, &house_number), join(&postal_code, &town), country.clone()];
        let shown: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Self { line: FreeText(shown.join(", ")), street, house_number, postal_code, town, country }
    }
}

/// Keeps the first and the last characters that are letters or digits and hides those between.
#[must_use]
pub fn masked(text: &str, first: usize, last: usize) -> String {
    let shown = text.chars().filter(|c| c.is_alphanumeric()).count();
    let mut seen = 0;
    text.chars()
        .map(|c| {
            if !c.is_alphanumeric() {
                return c;
            }
            seen += 1;
            if shown > first + last && (seen <= first || seen > shown - last) { c } else { '*' }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{FreeText, fold, masked};

    #[test]
    fn case_and_accents_fold_away() {
        for (text, folded) in [
            ("Zürich", "zurich"),
            ("Zu\u{308}rich", "zurich"),
            ("MÜLLER & Fils", "muller & fils"),
            ("Straße  Œuvre\u{200b}", "strasse oeuvre"),
            ("L\u{2019}Épicerie", "l'epicerie"),
            ("ﬁduciaire", "fiduciaire"),
        ] {
            assert_eq!(fold(text), folded);
        }
    }

    #[test]
    fn free_text_leaves_without_invisible_characters() {
        let text = FreeText::from("a\u{202e}b\u{0}c\u{200b}d\ne\u{e0041}");
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""abcd\ne""#);
        let hidden: Vec<char> = ('\0'..=char::MAX).filter(|c| super::is_invisible(*c)).collect();
        assert!(hidden.len() > 100);
        for c in hidden.into_iter().chain('\u{80}'..='\u{9f}').chain('\0'..='\u{8}') {
            let written = serde_json::to_string(&FreeText::from(format!("é{c}é"))).unwrap();
            assert_eq!(written, "\"éé\"", "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn identifiers_are_masked_in_the_middle() {
        assert_eq!(masked("756.9217.0769.85", 3, 2), "756.****.****.85");
        assert_eq!(masked("CH93 0076 2011 6238 5295 7", 4, 4), "CH93 **** **** **** *295 7");
        assert_eq!(masked("1234", 3, 2), "****");
    }
}
