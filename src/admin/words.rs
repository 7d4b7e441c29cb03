//! What administrators write: short names, e-mail addresses, lines of text.

use std::fmt;
use std::str::FromStr;

use crate::auth::email_key;

/// Characters at most in an e-mail address.
const LONGEST_EMAIL: usize = 320;
/// Characters at most in a line.
const LONGEST_LINE: usize = 200;

macro_rules! words {
    ($($name:ident),+) => {$(
        impl $name {
            /// The text.
            pub(crate) fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}
words!(Slug, Email, Line);

/// A firm's short name in addresses and on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slug(String);

impl FromStr for Slug {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if (2..=40).contains(&text.len()) && text.chars().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("{text:?} is no short name: use 2 to 40 of a-z, 0-9 and -"))
        }
    }
}

/// An e-mail address, in the form that people sign in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Email(String);

impl FromStr for Email {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let folded = email_key(text);
        let parts = folded.split_once('@').filter(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@') && !folded.contains(' ')
        });
        if parts.is_some() && folded.chars().count() <= LONGEST_EMAIL {
            Ok(Self(folded))
        } else {
            Err(format!("{text:?} is no e-mail address: write it as in anna@example.ch"))
        }
    }
}

/// One line of text that is not empty: a name, a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line(String);

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let line = text.trim();
        if (1..=LONGEST_LINE).contains(&line.chars().count()) && !line.contains(char::is_control) {
            Ok(Self(line.to_owned()))
        } else {
            Err(format!("{text:?} is not 1 to {LONGEST_LINE} characters on one line"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Email, Line, Slug};

    #[test]
    fn words_are_checked_and_brought_into_form() {
        assert_eq!("Anna@Example.CH".parse::<Email>().unwrap().as_str(), "anna@example.ch");
        assert_eq!("  Anna Rochat ".parse::<Line>().unwrap().as_str(), "Anna Rochat");
        for bad in ["anna", "@x.ch", "anna@", "a@b@c", "an na@x.ch", ""] {
            assert!(bad.parse::<Email>().is_err(), "{bad}");
        }
        for bad in ["x", "Leman", "le man", "léman", &"x".repeat(41)] {
            assert!(bad.parse::<Slug>().is_err(), "{bad}");
        }
        for bad in [" ", "a\nb", "\u{1b}[31m", &"x".repeat(201)] {
            assert!(bad.parse::<Line>().is_err(), "{bad}");
        }
    }
}
