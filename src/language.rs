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

impl Language {
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
