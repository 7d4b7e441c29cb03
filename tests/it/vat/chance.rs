//! Random postings in some five hundred periods.

use std::collections::BTreeMap;

use serde_json::json;

use super::books::{self, Books, Row, Setup, base, plain, tax};
use super::oracle::{self, divided};
use super::{CLOSED, ask, every_figure_re_sums, failing, form, moved};
use crate::world::World;

/// A repeatable source of chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn amount(&mut self) -> i64 {
        let amount = i64::try_from(self.below(500_000)).unwrap() + 1;
        if self.below(8) == 0 { -amount } else { amount }
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// Codes of supplies, their accounts, and their rates until 2023 and since, in tenths of a per cent.
const SUPPLIES: &[(&str, i64, i64)] = &[
    ("UN", 77, 81),
    ("UO", 77, 81),
    ("UR", 25, 26),
    ("UB", 37, 38),
    ("UD", 77, 81),
    ("UDR", 25, 26),
    ("UX", 0, 0),
    ("UA", 0, 0),
    ("UM", 0, 0),
    ("UF", 0, 0),
    ("UL", 0, 0),
    ("NS", 0, 0),
    ("ND", 0, 0),
    ("OO", 0, 0),
];

fn random_entry(chance: &mut Chance, books: &mut Books<'_>, day: &str, is_net: bool) {
    let late = format!("{}-{:02}-28", chance.below(4) + 2021, chance.below(12) + 1);
    let supplied = if chance.below(4) == 0 && late.as_str() < day { late } else { day.to_owned() };
    let rate = |old: i64, new: i64| if supplied.as_str() < "2024-01-01" { old } else { new };
    let amount = chance.amount();
    let vat = |percent: i64| divided(i128::from(amount) * i128::from(percent), 1_000);
    let on = |line: books::Line| line.supplied(&supplied);
    match chance.below(if is_net { 8 } else { 12 }) {
        0..=6 => {
            let (code, old, new) = chance.pick(SUPPLIES);
            let (percent, account) = (rate(old, new), chance.pick(&["3000", "3200", "3400"]));
            let sign = if code.starts_with("UD") { -1 } else { 1 };
            let (net, tax_amount) = (sign * amount, sign * vat(percent));
            let mut lines = vec![on(base(account, -net, code, percent))];
            // At net rates some book the whole amount as revenue.
            if tax_amount != 0 && !(is_net && chance.below(2) == 0) {
                lines.push(on(tax("2200", -tax_amount, code, percent)));
            }
            let sum: i64 = lines.iter().map(|line| line.amount).sum();
            lines.push(plain("1020", -sum));
            books.post(day, &lines);
        }
        7 => {
            let (code, percent) = (chance.pick(&["BN", "BI"]), rate(77, 81));
            let mut lines = vec![on(base("6500", amount, code, percent)), plain("1020", -amount)];
            if vat(percent) != 0 {
                let counterpart = if is_net {
                    plain("6500", vat(percent))
                } else {
                    on(tax("1170", vat(percent), code, percent))
                };
                lines.extend([counterpart, on(tax("2200", -vat(percent), code, percent))]);
            }
            books.post(day, &lines);
        }
        8..=10 => {
            let (code, account) =
                chance.pick(&[("VM", "1170"), ("VMR", "1170"), ("VI", "1171"), ("VIB", "1171")]);
            books.post(
                day,
                &[
                    base("4200", amount, code, 81),
                    tax(account, amount / 9 + 1, code, 81),
                    plain("1020", -amount - amount / 9 - 1),
                ],
            );
        }
        _ => {
            let code = chance.pick(&["KN", "KO", "KU"]);
            books.post(day, &[tax("1171", amount, code, 0), plain("6500", -amount)]);
        }
    }
}

pub(super) fn any_five_hundred_periods_are_right(world: &World) {
    let owner = world.owner();
    let mut chance = Chance(2026);
    let rates = [("a", 62), ("b", 37), ("c", 13)];
    let mut compared = 0;
    for nth in 1..=6 {
        let is_net = nth % 3 == 0;
        let method = if is_net { "net_rate" } else { "effective" };
        let setup =
            Setup { method, period: "month", net_rate: is_net.then_some(62), years: (2020, 2026) };
        let mut books = Books::open(world, nth, setup);
        if is_net {
            for ((code, rate), account) in rates.into_iter().zip(["3000", "3200", "3400"]) {
                books.activity(code, rate, &[account]);
            }
        }
        let months: Vec<_> = (2020..=2026)
            .flat_map(|year| (1..=12).map(move |month| (year, month)))
            .filter(|month| *month <= (2026, 11))
            .collect();
        for (year, month) in &months {
            for _ in 0..chance.below(6) {
                let day = format!("{year}-{month:02}-{:02}", chance.below(28) + 1);
                random_entry(&mut chance, &mut books, &day, is_net);
            }
        }
        books.write();
        let mut by_month: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for row in books.rows() {
            by_month.entry(row.on[..7].to_owned()).or_default().push(row);
        }
        for (year, month) in months {
            let answer = ask(&owner, &books, json!({ "year": year, "month": month }));
            let rows = by_month.remove(&format!("{year}-{month:02}")).unwrap_or_default();
            let expected = if is_net {
                oracle::net_rate(&rows, &rates, year)
            } else {
                oracle::effective(&rows)
            };
            assert_eq!(moved(form(&answer)), moved(expected), "{method} {year}-{month}");
            let failing = failing(&answer);
            assert_eq!(failing, [CLOSED], "{method} {year}-{month} {answer}");
            compared += 1;
            if compared % 60 == 0 {
                every_figure_re_sums(&owner, &answer);
            }
        }
    }
    assert!(compared >= 490, "{compared}");
}
