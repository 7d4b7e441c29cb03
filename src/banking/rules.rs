//! How a line of a statement is matched with an invoice, without a database.
//!
//! In this order: reference with amount and currency, reference with another amount, number in the text, amount with the
//! name of the payer. A reference whose check digits are wrong matches nothing.

use super::candidates::Candidate;
use super::{Certainty, MatchRule, PaymentFit};
use crate::identifiers::PaymentReference;
use crate::money::{Currency, Money};
use crate::text::fold;

/// Words in the name of a company that tell nothing about who it is.
const LEGAL_FORMS: &[&str] =
    &["sa", "ag", "sarl", "gmbh", "snc", "kg", "co", "cie", "et", "und", "and", "de", "la", "le"];
/// The shortest and the longest number that is looked for in a text.
const NUMBER_LENGTH: std::ops::RangeInclusive<usize> = 4..=40;
/// Numbers that are looked for in one text.
const MOST_NUMBERS: usize = 12;

/// The reference, if its check digits are right.
pub(super) fn reference(text: Option<&str>) -> Option<String> {
    let reference = text?.parse::<PaymentReference>().ok()?;
    Some(reference.as_str().to_owned())
}

/// What in a text may be the number of an invoice: words with a digit, in capitals.
pub(super) fn numbers(texts: &[Option<&str>]) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '/' | '.' | '_');
    let words = texts.iter().flatten().flat_map(|text| text.split(|c: char| !is_part(c)));
    let words = words.map(|word| word.trim_matches(['-', '/', '.', '_']).to_uppercase());
    let mut found: Vec<String> = words
        .filter(|word| NUMBER_LENGTH.contains(&word.len()))
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST_NUMBERS);
    found
}

/// Whether a payer's name is that of a client: all words of the shorter one stand in the other.
pub(super) fn is_same_name(payer: &str, client: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        let folded = fold(name);
        let words = folded.split(|c: char| !c.is_alphanumeric());
        let telling = words.filter(|word| word.len() > 1 && !LEGAL_FORMS.contains(word));
        telling.map(str::to_owned).collect()
    };
    let (payer, client) = (words(payer), words(client));
    let (short, long) = if payer.len() <= client.len() { (payer, client) } else { (client, payer) };
    !short.is_empty() && short.iter().all(|word| long.contains(word))
}

/// How an amount stands to what is open.
pub(super) fn fit(amount: Money, currency: Currency, candidate: &Candidate) -> PaymentFit {
    if currency != candidate.currency {
        return PaymentFit::OtherCurrency;
    }
    match amount.cmp(&candidate.open) {
        std::cmp::Ordering::Equal => PaymentFit::Exact,
        std::cmp::Ordering::Less => PaymentFit::Part,
        std::cmp::Ordering::Greater => PaymentFit::Over,
    }
}

/// How sure it is that an invoice found by a rule is meant, being the only one or not, on an account of the firm or not.
pub(super) fn certainty(
    rule: MatchRule,
    fit: PaymentFit,
    is_only: bool,
    is_own_account: bool,
) -> Certainty {
    match (rule, fit) {
        (_, PaymentFit::OtherCurrency) | (MatchRule::AmountAndName, _) => Certainty::Possible,
        (MatchRule::Reference, PaymentFit::Exact) if is_only && is_own_account => {
            Certainty::Certain
        }
        (MatchRule::Reference, _) if is_only => Certainty::Likely,
        (MatchRule::Number, PaymentFit::Exact) | (MatchRule::Reversal, _) if is_only => {
            Certainty::Likely
        }
        _ => Certainty::Possible,
    }
}

#[cfg(test)]
mod tests {
    use super::{certainty, is_same_name, numbers, reference};
    use crate::banking::{Certainty, MatchRule, PaymentFit};

    #[test]
    fn a_reference_with_a_wrong_check_digit_is_none() {
        let right = "21 00000 00003 13947 14300 09017";
        assert_eq!(reference(Some(right)).as_deref(), Some("210000000003139471430009017"));
        for wrong in [Some("210000000003456789012345675"), Some("F-2026-017"), Some(""), None] {
            assert_eq!(reference(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn numbers_are_words_with_a_digit() {
        let found =
            numbers(&[Some("Facture lem-f2026-0042, merci."), None, Some("NOTPROVIDED 12")]);
        assert_eq!(found, ["LEM-F2026-0042"]);
        assert!(numbers(&[Some("é2é"), Some("----1----")]).iter().all(|word| word.len() >= 4));
    }

    #[test]
    fn a_name_is_the_same_without_its_legal_form_and_accents() {
        assert!(is_same_name("MUELLER BAU AG", "Mueller Bau AG, Zürich"));
        assert!(is_same_name("epicerie du lac", "L\u{2019}Épicerie du Lac Sàrl"));
        assert!(!is_same_name("SA", "Lac SA"));
        assert!(!is_same_name("Müller Bau AG", "Müller Holz AG"));
        assert!(!is_same_name("", ""));
    }

    #[test]
    fn only_an_exact_reference_on_the_own_account_is_certain() {
        use Certainty::{Certain, Likely, Possible};
        let of = certainty;
        assert_eq!(of(MatchRule::Reference, PaymentFit::Exact, true, true), Certain);
        assert_eq!(of(MatchRule::Reference, PaymentFit::Exact, true, false), Likely);
        assert_eq!(of(MatchRule::Reference, PaymentFit::Exact, false, true), Possible);
        assert_eq!(of(MatchRule::Reference, PaymentFit::Part, true, true), Likely);
        assert_eq!(of(MatchRule::Reference, PaymentFit::OtherCurrency, true, true), Possible);
        assert_eq!(of(MatchRule::Number, PaymentFit::Exact, true, true), Likely);
        assert_eq!(of(MatchRule::Number, PaymentFit::Over, true, true), Possible);
        assert_eq!(of(MatchRule::AmountAndName, PaymentFit::Exact, true, true), Possible);
    }
}
