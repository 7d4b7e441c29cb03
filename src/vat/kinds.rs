//! The words of the VAT tables, as their columns hold them.

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

text_enum! {
    /// Which side of a taxed supply a line is.
    VatPart {
        /// The taxed amount.
        Base = "base",
        /// The tax on it.
        Tax = "tax",
    }
}

text_enum! {
    /// Where an account stands in the accounts.
    AccountKind {
        /// What is owned.
        Asset = "asset",
        /// What is owed to others.
        Liability = "liability",
        /// What is owed to the owners.
        Equity = "equity",
        /// Earned.
        Income = "income",
        /// Spent.
        Expense = "expense",
        /// Used by closing and opening alone.
        Closing = "closing",
    }
}
