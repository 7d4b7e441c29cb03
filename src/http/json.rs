//! What a request's JSON must be before anything reads it: shallow, small, without repeated names and without
//! characters that a database cannot keep.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Levels of lists and objects at most.
const DEEPEST: usize = 32;
/// Values at most, in the whole document.
const MOST: usize = 10_000;

/// Checks a whole document in one pass, without building it.
///
/// # Errors
/// What is wrong with it, in a few words.
pub(super) fn check(text: &str) -> Result<(), String> {
    let values = Cell::new(0);
    let mut json = serde_json::Deserializer::from_str(text);
    let outcome = Check { depth: 0, values: &values }.deserialize(&mut json);
    outcome.and_then(|()| json.end()).map_err(|error| {
        let said = error.to_string();
        said.rsplit_once(" at line ").map_or(said.clone(), |(message, _)| message.to_owned())
    })
}

#[derive(Clone, Copy)]
struct Check<'c> {
    depth: usize,
    values: &'c Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Check<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > MOST {
            return Err(D::Error::custom("too many values"));
        }
        deserializer.deserialize_any(self)
    }
}

impl Check<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEEPEST {
            return Err(E::custom("nested too deeply"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

fn characters<E: Error>(text: &str) -> Result<(), E> {
    if text.contains('\0') { Err(E::custom("the character U+0000 is not allowed")) } else { Ok(()) }
}

impl<'de> Visitor<'de> for Check<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        characters(text)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let inside = self.deeper()?;
        while list.next_element_seed(inside)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let inside = self.deeper()?;
        let mut names = Names::default();
        while let Some(Name(name)) = object.next_key()? {
            characters(&name)?;
            if !names.insert(name) {
                return Err(A::Error::custom("a name is repeated in an object"));
            }
            object.next_value_seed(inside)?;
        }
        Ok(())
    }
}

/// The names of an object so far: a list while it is small, since almost all are.
#[derive(Default)]
struct Names<'de> {
    few: Vec<Cow<'de, str>>,
    many: HashSet<Cow<'de, str>>,
}

impl<'de> Names<'de> {
    /// Adds a name, unless it is there.
    fn insert(&mut self, name: Cow<'de, str>) -> bool {
        if self.few.len() < 16 {
            let is_new = !self.few.contains(&name);
            self.few.push(name);
            return is_new;
        }
        !self.few.contains(&name) && self.many.insert(name)
    }
}

/// An object's name, borrowed from the text where it has no escapes.
struct Name<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn only_plain_documents_pass() {
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(check(&nested(32)), Ok(()));
        assert_eq!(check(r#"{"a":[1,-2.5,true,null,"x\u0001"],"b":{"a":1}}"#), Ok(()));
        for (text, said) in [
            (nested(33), "nested too deeply"),
            (nested(100_000), "nested too deeply"),
            (format!("[{}0]", "0,".repeat(10_000)), "too many values"),
            (r#"{"a":1,"a":2}"#.into(), "a name is repeated in an object"),
            (r#"{"x":{"a":1,"\u0061":2}}"#.into(), "a name is repeated in an object"),
            (r#"{"a":"b\u0000"}"#.into(), "the character U+0000 is not allowed"),
            (r#"{"b\u0000":1}"#.into(), "the character U+0000 is not allowed"),
            (r#"{"a":"\ud800"}"#.into(), "unexpected end of hex escape"),
            (r#"{"a":1} x"#.into(), "trailing characters"),
            ("1e999".into(), "number out of range"),
            (String::new(), "EOF while parsing a value"),
        ] {
            assert_eq!(check(&text), Err(said.to_owned()), "{}", text.get(..40).unwrap_or(&text));
        }
    }
}
