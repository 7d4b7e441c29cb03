//! Identifiers with check digits: the Swiss enterprise number, bank accounts and the references of payments.

use std::fmt;
use std::str::FromStr;

/// The weights of the eight digits before the check digit (source: UID register, Federal Statistical Office).
const UID_WEIGHTS: [u32; 8] = [5, 4, 3, 2, 7, 6, 5, 4];
/// What may follow the number: the VAT register in four languages and the commercial register in two.
const UID_SUFFIXES: &[&str] = &["TVA", "MWST", "IVA", "VAT", "HR", "RC"];
/// The institutions whose accounts take payments with a QR reference (source: Swiss implementation guidelines QR-bill).
const QR_INSTITUTIONS: std::ops::RangeInclusive<u32> = 30_000..=31_999;

/// A Swiss enterprise number (UID, IDE), printed as `CHE-100.155.212`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uid(String);

impl FromStr for Uid {
    type Err = String;

    /// Reads the number with any punctuation and with or without the suffix of a register.
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("{text:?} is no UID: check its nine digits, as in CHE-100.155.212");
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        let compact: String = letters.map(|c| c.to_ascii_uppercase()).collect();
        let number = compact.strip_prefix("CHE").ok_or_else(refuse)?;
        let suffix = UID_SUFFIXES.iter().find_map(|suffix| number.strip_suffix(suffix));
        let digits = suffix.unwrap_or(number);
        if !is_uid(digits) {
            return Err(refuse());
        }
        let mut printed = "CHE".to_owned();
        for (at, digit) in digits.chars().enumerate() {
            match at {
                0 => printed.push('-'),
                3 | 6 => printed.push('.'),
                _ => {}
            }
            printed.push(digit);
        }
        Ok(Self(printed))
    }
}

/// Whether the nine digits carry their check digit; one of 10 is never issued.
fn is_uid(text: &str) -> bool {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(10)).collect();
    let Some((check, body)) = digits.as_deref().and_then(<[u32]>::split_last) else { return false };
    let sum: u32 = body.iter().zip(UID_WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    body.len() == UID_WEIGHTS.len() && !text.starts_with('0') && (11 - sum % 11) % 11 == *check
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A bank account number (IBAN), without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iban(String);

impl Iban {
    /// Whether it is a Swiss or Liechtenstein account for payments with a QR reference.
    #[must_use]
    pub fn is_qr(&self) -> bool {
        let institution = self.0.get(4..9).and_then(|digits| digits.parse().ok());
        self.is_swiss() && institution.is_some_and(|number| QR_INSTITUTIONS.contains(&number))
    }

    fn is_swiss(&self) -> bool {
        self.0.starts_with("CH") || self.0.starts_with("LI")
    }

    fn is_well_formed(&self) -> bool {
        let Some((country, rest)) = self.0.split_at_checked(2) else { return false };
        let Some((check, account)) = rest.split_at_checked(2) else { return false };
        let is_length_right =
            if self.is_swiss() { self.0.len() == 21 } else { (15..=34).contains(&self.0.len()) };
        let institution = account.get(..5).unwrap_or_default();
        is_length_right
            && country.chars().all(|c| c.is_ascii_uppercase())
            && check.chars().all(|c| c.is_ascii_digit())
            && (!self.is_swiss() || institution.chars().all(|c| c.is_ascii_digit()))
            && modulo_97(&format!("{account}{country}{check}")) == Some(1)
    }
}

impl FromStr for Iban {
    type Err = String;

    /// Reads an IBAN with or without spaces.
    fn from_str(text: &str) -> Result<Self, String> {
        let letters = text.chars().filter(|c| !c.is_whitespace());
        let iban = Self(letters.map(|c| c.to_ascii_uppercase()).collect());
        if iban.is_well_formed() {
            Ok(iban)
        } else {
            Err(format!("{text:?} is no IBAN: its length or its check digits are wrong"))
        }
    }
}

impl fmt::Display for Iban {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reference of a payment, with check digits that are right, in capitals and without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentReference {
    /// The 27 digits of a QR-bill (QRR).
    Qr(String),
    /// A creditor reference (SCOR, ISO 11649).
    Creditor(String),
}

impl PaymentReference {
    /// The reference.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Qr(text) | Self::Creditor(text) => text,
        }
    }
}

impl FromStr for PaymentReference {
    type Err = String;

    /// Reads a reference with or without spaces; leading zeros are part of it.
    fn from_str(text: &str) -> Result<Self, String> {
        let letters = text.chars().filter(|c| !c.is_whitespace());
        let compact: String = letters.map(|c| c.to_ascii_uppercase()).collect();
        if is_qr_reference(&compact) {
            Ok(Self::Qr(compact))
        } else if is_creditor_reference(&compact) {
            Ok(Self::Creditor(compact))
        } else {
            Err(format!(
                "{text:?} is no payment reference: its length or its check digits are wrong"
            ))
        }
    }
}

/// How the carry of a QR reference goes from digit to digit (source: Swiss implementation guidelines QR-bill, modulo 10
/// recursive).
const QR_CARRIES: [u32; 10] = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5];
/// Digits of a QR reference.
const QR_LENGTH: usize = 27;

/// Whether these are 27 digits, not all zero, of which the last is the check digit.
fn is_qr_reference(text: &str) -> bool {
    let Some((body, check)) = text.split_at_checked(QR_LENGTH - 1) else { return false };
    let carry = body.chars().try_fold(0, |carry: u32, c| {
        let at = usize::try_from((carry + c.to_digit(10)?) % 10).ok()?;
        QR_CARRIES.get(at).copied()
    });
    let is_right = carry.is_some_and(|carry| check == ((10 - carry) % 10).to_string());
    is_right && text.chars().any(|c| c != '0')
}

/// Whether this is `RF`, two check digits and 1 to 21 letters and digits (source: ISO 11649).
fn is_creditor_reference(text: &str) -> bool {
    let Some((prefix, body)) = text.split_at_checked(4) else { return false };
    let Some(check) = prefix.strip_prefix("RF") else { return false };
    (1..=21).contains(&body.len())
        && check.chars().all(|c| c.is_ascii_digit())
        && modulo_97(&format!("{body}{prefix}")) == Some(1)
}

/// The remainder of a number whose letters count as 10 to 35.
fn modulo_97(text: &str) -> Option<u32> {
    text.chars().try_fold(0, |rest, c| {
        let value = c.to_digit(36).filter(|_| c.is_ascii())?;
        Some((rest * if value < 10 { 10 } else { 100 } + value) % 97)
    })
}

#[cfg(test)]
mod tests {
    use super::{Iban, PaymentReference, Uid};

    #[test]
    fn a_uid_has_the_right_check_digit() {
        for (text, printed) in [
            ("CHE-100.155.212", "CHE-100.155.212"),
            ("CHE-107.787.577", "CHE-107.787.577"),
            ("CHE-116.281.710", "CHE-116.281.710"),
            ("CHE-123.456.788", "CHE-123.456.788"),
            ("CHE100155212", "CHE-100.155.212"),
            ("che 100155212 mwst", "CHE-100.155.212"),
            ("CHE-107.787.577 TVA", "CHE-107.787.577"),
        ] {
            assert_eq!(text.parse::<Uid>().unwrap().to_string(), printed);
        }
        for text in [
            "CHE-123.456.789",
            "CHE-012.345.678",
            "CHE-100.000.160",
            "CHE-100.000.161",
            "CHE-100.155.21",
            "CHE-100.155.212.0",
            "100.155.212",
            "CHE-é00.155.212",
            "",
        ] {
            assert!(text.parse::<Uid>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_iban_has_the_right_check_digits() {
        for text in [
            "CH93 0076 2011 6238 5295 7",
            "CH3709000000304442225",
            "LI21 0881 0000 2324 013A A",
            "DE89370400440532013000",
            "FR1420041010050500013M02606",
        ] {
            let iban: Iban = text.parse().unwrap();
            assert_eq!(iban.to_string(), text.replace(' ', ""));
            assert!(!iban.is_qr());
        }
        for text in [
            "CH9300762011623852958",
            "CH1204835000626882001",
            "CH7304835000626882002",
            "CH930076201162385295",
            "CH93OO762011623852957",
            "93CH00762011623852957",
            "CHé",
            "",
        ] {
            assert!(text.parse::<Iban>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_qr_iban_is_known_by_its_institution() {
        for (text, is_qr) in [
            ("CH5730000123456789012", true),
            ("CH4431999123456789012", true),
            ("CH4431999123000889012", true),
            ("CH6431961000004421557", true),
            ("CH4929999123456789012", false),
            ("CH5232000123456789012", false),
            ("CH9300762011623852957", false),
        ] {
            assert_eq!(text.parse::<Iban>().unwrap().is_qr(), is_qr, "{text}");
        }
    }

    #[test]
    fn a_qr_reference_has_the_right_check_digit() {
        for text in [
            "210000000003139471430009017",
            "310014000183100197799111196",
            "000008207791225857421286694",
            "123456789012345678901234567",
            "302388292000022222222222222",
            "21 00000 00003 13947 14300 09017",
        ] {
            let reference: PaymentReference = text.parse().unwrap();
            assert_eq!(reference, PaymentReference::Qr(text.replace(' ', "")));
            assert_eq!(reference.as_str(), text.replace(' ', ""));
        }
        for text in [
            "210000000003456789012345675",
            "302388292000011111111111111",
            "000000000000000000000000000",
            "21000000000313947143000901",
            "2100000000031394714300090170",
            "21000000000313947143000901A",
            "2100000000031394714300090é",
            "",
        ] {
            assert!(text.parse::<PaymentReference>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_creditor_reference_has_the_right_check_digits() {
        for text in [
            "RF18539007547034",
            "RF240191230100405JSH0438",
            "RF40INV20260442",
            "RF59FAC20260001",
            "rf18 5390 0754 7034",
        ] {
            let compact = text.replace(' ', "").to_uppercase();
            assert_eq!(text.parse(), Ok(PaymentReference::Creditor(compact)));
        }
        for text in
            ["RF18539007547035", "RF18", "RFAA539007547034", "RF185390075470341234567890", "RF"]
        {
            assert!(text.parse::<PaymentReference>().is_err(), "{text}");
        }
    }
}
