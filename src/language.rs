//! The languages in which people are answered.

text_enum! {
    /// The language of labels and account names in answers.
    Language {
        /// French.
        French = "fr",
        /// German.
        German = "de",
        /// English.
        English = "en",
    }
}

/// A label in the three languages, French, German and English, as tables keep it.
pub type Labels = (String, String, String);

impl std::str::FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| format!("{text:?} is no language here: use fr, de or en"))
    }
}

impl Language {
    /// The label of a word of the program, out of French, German and English.
    #[must_use]
    pub const fn choose(self, [french, german, english]: [&'static str; 3]) -> &'static str {
        match self {
            Self::French => french,
            Self::German => german,
            Self::English => english,
        }
    }

    /// The label in this language.
    #[must_use]
    pub fn pick(self, (french, german, english): Labels) -> String {
        match self {
            Self::French => french,
            Self::German => german,
            Self::English => english,
        }
    }
}
