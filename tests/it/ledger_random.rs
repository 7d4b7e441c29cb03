//! Reports on five hundred random ledgers, against every event replayed in whole centimes: back-dating, reversals, foreign
//! currency, drafts, closing entries, several and odd fiscal years, at both clocks.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use crate::world::ledger::{Account, Bookkeeper, Chance, Ledger, day};
use crate::world::oracle::{assert_controls, cents, explained};
use crate::world::random_books;
use crate::world::{Client, World};

on_both! { reports_on_random_ledgers_are_right_at_both_clocks }

/// How many ledgers.
const LEDGERS: usize = 500;

/// What is asked for: a clock, and the posting it means.
fn clock(chance: &mut Chance, ledger: &Ledger, last: i64) -> (Option<String>, i64) {
    let posted: Vec<i64> = ledger.entries.iter().filter_map(|entry| entry.commit).collect();
    match chance.below(4) {
        0 => (None, last),
        1 => (Some("2026-11-28".to_owned()), 0),
        2 => (Some("2026-11-30".to_owned()), last),
        _ if posted.is_empty() => (None, last),
        _ => {
            let known = *chance.pick(&posted);
            (Some(format!("#{known}")), known)
        }
    }
}

/// A day somewhere around the years of a ledger.
fn some_day(chance: &mut Chance, ledger: &Ledger) -> NaiveDate {
    let (first, last) = (ledger.years[0].from, ledger.years.last().unwrap().to);
    match chance.below(6) {
        0 => chance.pick(&ledger.years).to,
        1 => chance.pick(&ledger.years).from,
        _ => chance.day((first, last)),
    }
}

struct Asked<'a> {
    client: &'a Client,
    ledger: &'a Ledger,
    known_on: Option<String>,
    known: i64,
}

impl Asked<'_> {
    fn ask(&self, tool: &str, mut arguments: Value) -> Value {
        arguments["mandate_id"] = json!(self.ledger.mandate);
        if let Some(known_on) = &self.known_on {
            arguments["as_known_on"] = json!(known_on);
        }
        self.client.ask(tool, arguments)
    }

    fn trial_balance(&self, chance: &mut Chance) -> Value {
        let year = *chance.pick(&self.ledger.years);
        let to = chance.day((year.from, year.to));
        let level = [None, None, Some(1), Some(2), Some(3), Some(4)]
            [usize::try_from(chance.below(6)).unwrap()];
        let arguments = if chance.happens(50) {
            json!({ "to": to, "level": level })
        } else {
            json!({ "fiscal_year_id": year.id, "to": to, "level": level })
        };
        let report = self.ask("get_trial_balance", arguments);
        assert_eq!(report["from"], json!(year.from));
        let mut expected: BTreeMap<String, (i64, i64, i64)> = BTreeMap::new();
        let mut foreign: BTreeMap<(String, &str), (i64, i64, i64)> = BTreeMap::new();
        for (at, account) in self.ledger.accounts.iter().enumerate() {
            let digits = level.unwrap_or(10).min(account.number.len());
            let group = &account.number[..digits];
            for currency in [None, Some("EUR"), Some("USD")] {
                let days = (year.from, to);
                let sums = self.ledger.turnover(at, currency, days, year.from, self.known);
                let sum = match currency {
                    None => expected.entry(group.to_owned()).or_default(),
                    Some(currency) => foreign.entry((group.to_owned(), currency)).or_default(),
                };
                *sum = (sum.0 + sums.0, sum.1 + sums.1, sum.2 + sums.2);
            }
        }
        let eve = year.from - Days::new(1);
        let first = day("1900-01-01");
        let earlier = self.ledger.balance((first, eve), self.known, Account::is_anew);
        if earlier != 0 {
            expected.insert(String::new(), (earlier, 0, 0));
        }
        expected.retain(|_, sums| *sums != (0, 0, 0));
        foreign.retain(|_, sums| *sums != (0, 0, 0));
        let mut closing_sum = 0;
        for row in report["rows"].as_array().unwrap() {
            let number = row.get("account").map_or("", |number| number.as_str().unwrap());
            let sums = sums(row);
            assert_eq!(
                expected.remove(number),
                Some(sums).filter(|one| *one != (0, 0, 0)),
                "{row} of {report}"
            );
            closing_sum += cents(&row["closing"]);
            for other in row.get("foreign").and_then(Value::as_array).into_iter().flatten() {
                let key = (number.to_owned(), other["currency"].as_str().unwrap());
                assert_eq!(foreign.remove(&key), Some(self::sums(other)), "{report}");
            }
        }
        assert!(
            expected.is_empty() && foreign.is_empty(),
            "{expected:?} {foreign:?} not in {report}"
        );
        assert_eq!(closing_sum, 0);
        let drafts = self
            .ledger
            .entries
            .iter()
            .filter(|entry| entry.commit.is_none() && (year.from..=to).contains(&entry.day));
        assert_eq!(report["now"]["drafts"], drafts.count());
        assert_controls(&report);
        report
    }

    fn profit_and_loss(&self, chance: &mut Chance) -> Value {
        let at = usize::try_from(chance.below(self.ledger.years.len() as u64)).unwrap();
        let year = self.ledger.years[at];
        let to = chance.day((year.from, year.to));
        let from = if chance.happens(50) { year.from } else { chance.day((year.from, to)) };
        let report = self.ask(
            "get_profit_and_loss",
            json!({ "fiscal_year_id": year.id, "from": from, "to": to, "compare": true }),
        );
        let expected = self.ledger.results((from, to), self.known);
        let compared = &report["compared_with"];
        let before =
            (day(compared["from"].as_str().unwrap()), day(compared["to"].as_str().unwrap()));
        if from == year.from && to == year.to && at > 0 {
            assert_eq!(before, (self.ledger.years[at - 1].from, self.ledger.years[at - 1].to));
        }
        let past = self.ledger.results(before, self.known);
        let (mut seen, mut so_far) = (0, 0);
        for section in report["sections"].as_array().unwrap() {
            let mut total = 0;
            for line in section["lines"].as_array().unwrap() {
                let number = line["account"].as_str().unwrap();
                let now = expected.get(number).copied().unwrap_or_default();
                assert_eq!(cents(&line["amount"]), now, "{report}");
                let then = past.get(number).copied().unwrap_or_default();
                assert_eq!(cents(&line["previous"]), then, "{report}");
                total += now;
                seen += usize::from(now != 0);
            }
            so_far += total;
            assert_eq!(cents(&section["total"]["amount"]), total);
            assert_eq!(cents(&section["result_so_far"]), so_far);
        }
        assert_eq!(seen, expected.len(), "{expected:?} {report}");
        assert_eq!(cents(&report["result"]["amount"]), expected.values().sum::<i64>());
        assert_eq!(cents(&report["result"]["previous"]), past.values().sum::<i64>());
        assert_controls(&report);
        report
    }

    fn balance_sheet(&self, chance: &mut Chance) -> Value {
        let as_of = some_day(chance, self.ledger);
        let report = self.ask("get_balance_sheet", json!({ "as_of": as_of, "compare": true }));
        let (first, start) = (day("1900-01-01"), self.ledger.year_start(as_of));
        let eve = start - Days::new(1);
        for (on, amount) in [(as_of, "amount"), (eve, "previous")] {
            let mut seen = 0;
            for section in report["sections"].as_array().unwrap() {
                let is_assets = section["section"].as_str().unwrap().ends_with("assets");
                let sign = if is_assets { 1 } else { -1 };
                for line in section["lines"].as_array().unwrap() {
                    let number = line["account"].as_str().unwrap();
                    let balance =
                        self.ledger.balance((first, on), self.known, |one| one.number == number);
                    assert_eq!(cents(&line[amount]), sign * balance, "{number} on {on}: {report}");
                    seen += usize::from(balance != 0);
                }
            }
            let open = self.ledger.accounts.iter().filter(|account| {
                !account.is_anew()
                    && self
                        .ledger
                        .balance((first, on), self.known, |one| one.number == account.number)
                        != 0
            });
            assert_eq!(seen, open.count(), "{report}");
            let kind =
                |kind: &str| self.ledger.balance((first, on), self.known, |one| one.kind == kind);
            assert_eq!(cents(&report["totals"]["assets"][amount]), kind("asset"));
            assert_eq!(cents(&report["totals"]["liabilities"][amount]), -kind("liability"));
            assert_eq!(
                cents(&report["totals"]["equity"][amount]),
                kind("asset") + kind("liability"),
                "{report}"
            );
            let year = self.ledger.year_start(on);
            let results = [
                -self.ledger.balance((year, on), self.known, Account::is_anew),
                -self.ledger.balance((first, year - Days::new(1)), self.known, Account::is_anew),
            ];
            let shown = report["results"].as_array().unwrap().iter();
            let shown: Vec<i64> =
                shown.map(|line| cents(&line[amount])).filter(|one| *one != 0).collect();
            let results: Vec<i64> = results.into_iter().filter(|one| *one != 0).collect();
            assert_eq!(shown, results, "{report}");
        }
        let result: i64 = self.ledger.results((start, as_of), self.known).values().sum();
        assert_eq!(cents(&report["result"]), result);
        assert_controls(&report);
        report
    }

    fn statement(&self, chance: &mut Chance) -> Value {
        let at = usize::try_from(chance.below(self.ledger.accounts.len() as u64)).unwrap();
        let account = &self.ledger.accounts[at];
        let (a, b) = (some_day(chance, self.ledger), some_day(chance, self.ledger));
        let (from, to) = (a.min(b), a.max(b));
        let limit = 1 + chance.below(6);
        let mut arguments = json!({
            "mandate_id": self.ledger.mandate, "account": account.number, "from": from, "to": to, "limit": limit,
        });
        if let Some(known_on) = &self.known_on {
            arguments["as_known_on"] = json!(known_on);
        }
        let since = self.ledger.year_start(from);
        let (opening, debit, credit) =
            self.ledger.turnover(at, None, (from, to), since, self.known);
        let mut expected = self
            .ledger
            .known(self.known)
            .filter(|(entry, line)| line.account == at && (from..=to).contains(&entry.day))
            .map(|(entry, line)| (entry.day, entry.id, line.clone()))
            .collect::<Vec<_>>();
        expected.sort_by_key(|(day, id, _)| (*day, *id));
        let (mut running, mut seen) = (opening, 0);
        loop {
            let page = self.client.ask("get_account_statement", arguments.clone());
            assert_controls(&page);
            for (name, amount) in [
                ("opening", opening),
                ("debit", debit),
                ("credit", credit),
                ("closing", opening + debit - credit),
            ] {
                assert_eq!(cents(&page[name]), amount, "{name}: {page}");
            }
            assert_eq!(page["total"], expected.len());
            for row in page["items"].as_array().unwrap() {
                let (day, id, line) = &expected[seen];
                running += line.amount;
                seen += 1;
                assert_eq!(row["on"], json!(day), "{page}");
                assert_eq!(row["entry_id"], json!(id));
                assert_eq!(cents(&row["debit"]) - cents(&row["credit"]), line.amount);
                assert_eq!(cents(&row["balance"]), running, "{page}");
                if let Some(foreign) = row.get("foreign") {
                    assert_eq!(foreign["currency"], line.currency);
                    assert_eq!(cents(&foreign["amount"]), line.foreign);
                } else {
                    assert_eq!(line.currency, "CHF");
                }
            }
            let Some(cursor) = page.get("next_cursor") else {
                assert_eq!(seen, expected.len());
                return page;
            };
            arguments["cursor"] = cursor.clone();
        }
    }
}

/// Opening, debit and credit of a row.
fn sums(row: &Value) -> (i64, i64, i64) {
    let (opening, debit, credit) =
        (cents(&row["opening"]), cents(&row["debit"]), cents(&row["credit"]));
    assert_eq!(cents(&row["closing"]), opening + debit - credit, "{row}");
    (opening, debit, credit)
}

/// Takes one figure of a report apart, and compares it with what stands beside its handle.
fn explain_one(client: &Client, chance: &mut Chance, rows: &[Value]) {
    if rows.is_empty() {
        return;
    }
    let row = chance.pick(rows);
    let parts = explained(client, &row["figure"], 7);
    if row.get("opening").is_some() {
        for part in ["opening", "debit", "credit"] {
            let sum = parts.get(part).or(parts.get("balance").filter(|_| part == "opening"));
            let sum = sum.copied().unwrap_or_default().0;
            assert_eq!(sum, cents(&row[part]), "{part} {row} {parts:?}");
        }
    } else {
        let sum: i64 = parts.values().map(|(sum, _)| sum).sum();
        assert_eq!(sum, cents(&row["amount"]), "{row}");
    }
}

fn reports_on_random_ledgers_are_right_at_both_clocks(world: &World) {
    let ledgers = random_books::write(world, LEDGERS);
    let last = Bookkeeper::of(world, "leman").last_commit;
    let client = world.owner();
    let mut chance = Chance(7);
    for ledger in &ledgers {
        let mut asked = |of: &dyn Fn(&Asked<'_>, &mut Chance) -> Value| {
            let (known_on, known) = clock(&mut chance, ledger, last);
            of(&Asked { client: &client, ledger, known_on, known }, &mut chance)
        };
        let balance = asked(&|asked, chance| asked.trial_balance(chance));
        let results = asked(&|asked, chance| asked.profit_and_loss(chance));
        let sheet = asked(&|asked, chance| asked.balance_sheet(chance));
        asked(&|asked, chance| asked.statement(chance));
        explain_one(&client, &mut chance, balance["rows"].as_array().unwrap());
        explain_one(&client, &mut chance, std::slice::from_ref(&results["result"]));
        for report in [&results, &sheet] {
            let sections = report["sections"].as_array().unwrap();
            if !sections.is_empty() {
                let section = chance.pick(sections);
                explain_one(&client, &mut chance, section["lines"].as_array().unwrap());
                explain_one(&client, &mut chance, std::slice::from_ref(&section["total"]));
            }
        }
        explain_one(&client, &mut chance, sheet["results"].as_array().unwrap());
        explain_one(&client, &mut chance, std::slice::from_ref(&sheet["totals"]["equity"]));
    }
}
