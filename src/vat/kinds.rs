//! The words of the VAT codes, as their columns hold them.

text_enum! {
    /// What a VAT code does.
    Direction {
        /// Tax on what is supplied.
        Output = "output",
        /// Tax on what is bought, or a correction of it.
        Input = "input",
        /// Tax on services bought from abroad, owed by who buys.
        Acquisition = "acquisition",
        /// No tax.
        None = "none",
    }
}
