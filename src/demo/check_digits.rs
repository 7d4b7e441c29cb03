//! Swiss identifiers with the check digits they must have; the numbers themselves are invented.

/// The first enterprise number (UID) whose eight digits are at least `body`: weights 5 4 3 2 7 6 5 4, modulo 11; a
/// check digit of 10 is never issued.
pub(super) fn uid(body: u32) -> String {
    let check = |body: u32| {
        let weighted = digits(u64::from(body), 8).zip([5, 4, 3, 2, 7, 6, 5, 4]);
        let sum: u64 = weighted.map(|(digit, weight)| digit * weight).sum();
        (11 - sum % 11) % 11
    };
    let mut body = body;
    while check(body) == 10 {
        body += 1;
    }
    let (high, middle, low) = (body / 100_000, body / 100 % 1_000, body % 100);
    format!("CHE-{high:03}.{middle:03}.{low:02}{}", check(body))
}

/// The AVS number of nine digits: EAN-13 after 756.
pub(super) fn avs(nine: u32) -> String {
    let body = 756_000_000_000 + u64::from(nine);
    let weighted = digits(body, 12).zip([1, 3].into_iter().cycle());
    let sum: u64 = weighted.map(|(digit, weight)| digit * weight).sum();
    let check = (10 - sum % 10) % 10;
    format!("756.{:04}.{:04}.{}{check}", nine / 100_000, nine / 10 % 10_000, nine % 10)
}

/// The IBAN of an account at a Swiss bank: modulo 97 of bank, account, `CH` as 1217, and 00 is subtracted from 98.
pub(super) fn iban(bank: u32, account: u64) -> String {
    let bban = u128::from(bank) * 1_000_000_000_000 + u128::from(account);
    let check = 98 - (bban * 1_000_000 + 121_700) % 97;
    format!("CH{check:02}{bban:017}")
}

/// The QR reference of six digits of the firm and a number: modulo 10, recursive.
pub(super) fn qr_reference(participant: &str, number: u64) -> String {
    const TABLE: [u32; 10] = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5];
    let body = format!("{participant}{number:020}");
    let carry = body.chars().filter_map(|c| c.to_digit(10)).fold(0, |carry: u32, digit| {
        let at = usize::try_from((carry + digit) % 10).unwrap_or_default();
        TABLE.get(at).copied().unwrap_or_default()
    });
    format!("{body}{}", (10 - carry) % 10)
}

/// The last `count` decimal digits, first to last.
fn digits(number: u64, count: u32) -> impl Iterator<Item = u64> {
    (0..count).rev().map(move |at| number / 10_u64.pow(at) % 10)
}

#[cfg(test)]
mod tests {
    use super::{avs, iban, qr_reference, uid};

    #[test]
    fn check_digits_are_those_of_known_numbers() {
        assert_eq!(uid(10_015_521), "CHE-100.155.212");
        assert_eq!(uid(11_628_171), "CHE-116.281.710");
        assert_eq!(uid(10_000_016), uid(10_000_017), "a check digit of 10 is skipped");
        assert_eq!(avs(921_707_698), "756.9217.0769.85");
        assert_eq!(avs(123_456_789), "756.1234.5678.97");
        assert_eq!(iban(762, 11_623_852_957), "CH9300762011623852957");
        assert_eq!(iban(9_000, 304_442_225), "CH3709000000304442225");
        assert_eq!(qr_reference("210000", 313_947_143_000_901), "210000000003139471430009017");
    }
}
