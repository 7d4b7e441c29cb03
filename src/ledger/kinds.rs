//! The words of a ledger, as its columns hold them.

text_enum! {
    /// Where an account stands in the accounts, which decides its sign and whether it is carried over.
    AccountKind {
        /// What is owned; carried over, debit is positive.
        Asset = "asset",
        /// What is owed to others; carried over, credit is positive.
        Liability = "liability",
        /// What is owed to the owners; carried over, credit is positive.
        Equity = "equity",
        /// Earned; begins anew each year, credit is positive.
        Income = "income",
        /// Spent; begins anew each year, debit is positive.
        Expense = "expense",
        /// Used by closing and opening alone; begins anew each year.
        Closing = "closing",
    }
}

text_enum! {
    /// A journal, in which entries are numbered without a gap per fiscal year.
    JournalCode {
        /// Sales.
        Sales = "VTE",
        /// Purchases.
        Purchases = "ACH",
        /// Bank.
        Bank = "BNQ",
        /// Cash.
        Cash = "CAS",
        /// Payroll.
        Payroll = "SAL",
        /// General.
        General = "OD",
        /// Opening.
        Opening = "ANO",
        /// Reversals.
        Reversals = "EXT",
        /// Closing.
        Closing = "CLO",
    }
}

text_enum! {
    /// What may still be posted in a fiscal year.
    FiscalYearState {
        /// Everything.
        Open = "open",
        /// Closing entries alone.
        ProvisionallyClosed = "provisionally_closed",
        /// Nothing.
        Closed = "closed",
    }
}

text_enum! {
    /// Where an entry stands.
    EntryState {
        /// Being written; not part of the books.
        Draft = "draft",
        /// Part of the books, for ever.
        Posted = "posted",
    }
}

text_enum! {
    /// What kind of record an entry books.
    EntrySource {
        /// A sales document.
        Invoice = "invoice",
        /// Money received.
        Payment = "payment",
        /// A payslip.
        Payslip = "payslip",
        /// A VAT return.
        VatReturn = "vat_return",
        /// A line of a bank statement.
        BankLine = "bank_line",
    }
}

text_enum! {
    /// Which part of a taxed amount a line books.
    VatPart {
        /// The amount that is taxed.
        Base = "base",
        /// The tax.
        Tax = "tax",
    }
}

text_enum! {
    /// What an account is used for when a rule posts; per currency where it matters.
    Purpose {
        /// What customers owe, per currency; overpayments stay here.
        Receivables = "receivables",
        /// Money at the bank, per currency.
        Bank = "bank",
        /// Money in the till.
        Cash = "cash",
        /// Card and mobile payments on their way to the bank.
        Card = "card",
        /// What is owed to suppliers.
        Payables = "payables",
        /// Input VAT on material and services.
        InputVatMaterial = "input_vat_material",
        /// Input VAT on investments and other operating expense.
        InputVatInvestment = "input_vat_investment",
        /// VAT due.
        VatDue = "vat_due",
        /// VAT declared and not yet paid.
        VatSettlement = "vat_settlement",
        /// The charge of net-rate VAT.
        NetRateVat = "net_rate_vat",
        /// Prepayments of customers.
        CustomerPrepayments = "customer_prepayments",
        /// Revenue that no other account is for.
        Revenue = "revenue",
        /// Discounts granted.
        Discounts = "discounts",
        /// Claims that are lost.
        BadDebts = "bad_debts",
        /// Rounding of totals.
        Rounding = "rounding",
        /// Gains from exchange rates.
        ExchangeGain = "exchange_gain",
        /// Losses from exchange rates.
        ExchangeLoss = "exchange_loss",
        /// Gross wages: every earning of a payslip.
        Wages = "wages",
        /// Wages on their way; at nought once a payroll run is paid.
        WagesClearing = "wages_clearing",
        /// AVS, AI, APG, unemployment and family fund: due to the fund, which also refunds family allowances.
        SocialInsuranceDue = "social_insurance_due",
        /// Pension fund: due.
        PensionDue = "pension_due",
        /// Accident insurance: due.
        AccidentDue = "accident_due",
        /// Daily sickness allowance insurance: due.
        SicknessDue = "sickness_due",
        /// Tax withheld at source: due.
        WithholdingTaxDue = "withholding_tax_due",
        /// The employer's share of AVS, AI, APG and unemployment insurance.
        SocialInsuranceCharge = "social_insurance_charge",
        /// The employer's contribution to the family fund.
        FamilyFundCharge = "family_fund_charge",
        /// The employer's share of the pension fund.
        PensionCharge = "pension_charge",
        /// The employer's premium of accident insurance.
        AccidentCharge = "accident_charge",
        /// The employer's share of sickness insurance.
        SicknessCharge = "sickness_charge",
        /// Depreciation.
        Depreciation = "depreciation",
        /// The result of a year, until it is carried forward.
        ResultOfYear = "result_of_year",
        /// Results of earlier years.
        RetainedEarnings = "retained_earnings",
        /// The counterpart of the result when a year is closed.
        ClosedResult = "closed_result",
    }
}
