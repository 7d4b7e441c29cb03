//! The worked figures of the return.

use super::*;
use crate::money::Rate;

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

/// What postings move on the form: figures, part and credit less debit, by the codes that every firm starts with.
fn posted(lines: &[(&str, VatPart, AccountKind, Option<F>, &str)]) -> Sums {
    let codes = crate::vat::seed::code_rules();
    let mut sums = Sums::default();
    for (code, part, account, tax, amount) in lines {
        let rule = codes.iter().find(|rule| rule.code == *code).unwrap();
        for share in shares(rule, *part, *account, *tax) {
            sums.add(share.leaf, signed(money(amount), share.sign).unwrap()).unwrap();
        }
    }
    sums
}

#[test]
fn the_worked_effective_return_comes_out_to_the_centime() {
    use AccountKind::{Asset, Expense, Income, Liability};
    use VatPart::{Base, Tax};
    let sums = posted(&[
        ("UN", Base, Income, Some(F::Normal), "100000.00"),
        ("UN", Tax, Liability, Some(F::Normal), "8100.00"),
        ("UD", Base, Income, Some(F::Normal), "-2000.00"),
        ("UD", Tax, Liability, Some(F::Normal), "-162.00"),
        ("UR", Base, Income, Some(F::Reduced), "20000.00"),
        ("UR", Tax, Liability, Some(F::Reduced), "520.00"),
        ("UB", Base, Income, Some(F::Accommodation), "5000.00"),
        ("UB", Tax, Liability, Some(F::Accommodation), "190.00"),
        ("UX", Base, Income, None, "15000.00"),
        ("UF", Base, Income, None, "8000.00"),
        ("BN", Base, Expense, Some(F::Acquisition), "-3000.00"),
        ("BN", Tax, Liability, Some(F::Acquisition), "243.00"),
        ("BN", Tax, Asset, Some(F::Acquisition), "-243.00"),
        ("VM", Base, Expense, None, "-27000.00"),
        ("VM", Tax, Asset, None, "-2187.00"),
        ("VI", Tax, Asset, None, "-810.00"),
        ("KO", Tax, Asset, None, "120.00"),
        ("OO", Base, Income, None, "77.00"),
    ]);
    for (figure, amount) in [
        (F::Turnover, "148000.00"),
        (F::Exports, "15000.00"),
        (F::Exempt, "8000.00"),
        (F::Reductions, "2000.00"),
        (F::Deductions, "25000.00"),
        (F::Taxable, "123000.00"),
        (F::Normal, "7938.00"),
        (F::Reduced, "520.00"),
        (F::Accommodation, "190.00"),
        (F::Acquisition, "243.00"),
        (F::TaxDue, "8891.00"),
        (F::InputMaterial, "2430.00"),
        (F::InputOther, "810.00"),
        (F::InputCorrection, "120.00"),
        (F::InputTax, "3120.00"),
        (F::Payable, "5771.00"),
    ] {
        assert_eq!(sums.amount(figure).unwrap(), money(amount), "{figure}");
    }
    for (figure, base) in [
        (F::Normal, "98000.00"),
        (F::Reduced, "20000.00"),
        (F::Accommodation, "5000.00"),
        (F::Acquisition, "3000.00"),
    ] {
        assert_eq!(sums.base(figure), money(base), "{figure}");
    }
    assert_eq!(sums.outcome().unwrap(), F::Payable);
}

#[test]
fn a_reversed_posting_takes_back_what_it_put_on_the_form() {
    use AccountKind::{Asset, Liability};
    use VatPart::Tax;
    let both = |code, account, tax, amount: &str| {
        let back = format!("-{amount}");
        posted(&[(code, Tax, account, tax, amount), (code, Tax, account, tax, &back)])
    };
    for sums in [
        both("BN", Liability, Some(F::Acquisition), "243.00"),
        both("BN", Asset, Some(F::Acquisition), "243.00"),
        both("KU", Asset, None, "10.00"),
        both("UN", Liability, Some(F::Normal), "8.10"),
    ] {
        assert_eq!(sums.amount(F::Payable).unwrap(), Money::ZERO);
    }
    let owed = posted(&[("VI", Tax, Asset, None, "-8.10")]);
    assert_eq!(owed.outcome().unwrap(), F::Credit);
    assert_eq!(owed.amount(F::Credit).unwrap(), money("8.10"));
}

#[test]
fn a_computed_figure_is_the_sum_of_its_terms() {
    let mut sums = Sums::default();
    for (at, figure) in (1..).zip(FormFigure::ALL) {
        for part in VatPart::ALL {
            sums.add((*figure, *part), Money::from_minor(at * at * 7)).unwrap();
        }
    }
    for figure in FormFigure::ALL {
        let of = |part: Option<&str>| {
            let chosen = terms(*figure);
            let chosen = chosen.iter().filter(|term| part.is_none_or(|part| term.part == part));
            chosen.map(|term| signed(sums.leaf(term.leaf), term.sign).unwrap().minor()).sum::<i64>()
        };
        let amount = sums.amount(*figure).unwrap().minor();
        let part = figure.has_base().then_some("tax");
        assert_eq!(of(part), amount, "{figure}");
    }
}

#[test]
fn the_worked_net_rate_returns_come_out_to_the_centime() {
    let rate = |text: &str| Rate::parse(text).unwrap();
    assert_eq!(money("120000.00").percent(rate("6.2")), Some(money("7440.00")));
    let gross = |net: &str| {
        let tax = money(net).percent(rate("8.1")).unwrap();
        let shares = shared_tax(tax, &[money(net)]).unwrap();
        plus(money(net), *shares.first().unwrap()).unwrap()
    };
    let (bar, sweets, kitchen) = (gross("12400.00"), gross("2000.00"), gross("3150.00"));
    assert_eq!([bar, sweets, kitchen], [money("13404.40"), money("2162.00"), money("3405.15")]);
    let first = plus(bar, sweets).unwrap();
    assert_eq!(first, money("15566.40"));
    let taxes = [first.percent(rate("6.2")).unwrap(), kitchen.percent(rate("3.7")).unwrap()];
    assert_eq!(taxes, [money("965.12"), money("125.99")]);
    assert_eq!(plus(taxes[0], taxes[1]).unwrap(), money("1091.11"));
}

#[test]
fn the_tax_of_an_entry_is_shared_without_a_rest() {
    for (tax, bases) in [
        ("0.01", vec!["1.00", "1.00", "1.00"]),
        ("8.10", vec!["33.33", "33.33", "33.34"]),
        ("-8.10", vec!["-50.00", "-50.00"]),
        ("8.10", vec!["0.00"]),
        ("8.10", vec!["10.00", "-10.00"]),
    ] {
        let bases: Vec<_> = bases.into_iter().map(money).collect();
        let shares = shared_tax(money(tax), &bases).unwrap();
        let sum: i64 = shares.iter().map(|share| share.minor()).sum();
        assert_eq!((sum, shares.len()), (money(tax).minor(), bases.len()), "{tax}");
    }
    assert!(shared_tax(money("8.10"), &[]).unwrap().is_empty());
}
