//! Reports on five hundred random ledgers, against every event replayed in whole centimes: back-dating, reversals, foreign
//! currency, drafts, closing entries, several and odd fiscal years, at both clocks.

use std::collections::BTreeMap;

use chrono::{Days, Months, NaiveDate};
use serde_json::{Value, json};

use crate::world::ledger::{Bookkeeper, Chance, Ledger, Line, day, line};
use crate::world::oracle::{assert_controls, cents, explained};
use crate::world::{Client, World};

on_both! { reports_on_random_ledgers_are_right_at_both_clocks }

const LEDGERS: u64 = 500;

/// Numbers and kinds to choose from; a class does not tell a kind.
const ACCOUNTS: &[(&str, &str)] = &[
    ("1000", "asset"),
    ("1020", "asset"),
    ("1021", "asset"),
    ("1100", "asset"),
    ("1509", "asset"),
    ("150", "asset"),
    ("2000", "liability"),
    ("2200", "liability"),
    ("2400", "liability"),
    ("2800", "equity"),
    ("2979", "equity"),
    ("3000", "income"),
    ("3400", "income"),
    ("3800", "expense"),
    ("4000", "expense"),
    ("5000", "expense"),
    ("6500", "expense"),
    ("6800", "expense"),
    ("6950", "income"),
    ("7500", "income"),
    ("7501", "expense"),
    ("8500", "expense"),
    ("8510", "income"),
    ("8900", "expense"),
    ("9100", "closing"),
    ("9200", "closing"),
];

/// Consecutive fiscal years, the first sometimes long or short, on any first day.
fn add_years(chance: &mut Chance, books: &mut Bookkeeper<'_>, ledger: &mut Ledger) {
    let month = u32::try_from(chance.below(12)).unwrap() + 1;
    let first = if chance.happens(30) { u32::try_from(chance.below(28)).unwrap() + 1 } else { 1 };
    let mut from = NaiveDate::from_ymd_opt(2022, month, first).unwrap();
    for at in 0..=chance.below(4) {
        let length = if at == 0 { *chance.pick(&[6, 12, 12, 12, 18, 23]) } else { 12 };
        let next = from + Months::new(length);
        let to = next - Days::new(1);
        books.year(ledger, &from.to_string(), &to.to_string());
        from = next;
    }
}

/// Two to five lines that balance; some in euros, some of which have no amount in euros.
fn lines(chance: &mut Chance, ledger: &Ledger) -> Vec<Line> {
    let count = 1 + chance.below(4);
    let (mut lines, mut sum) = (vec![], 0);
    for _ in 0..count {
        let account = usize::try_from(chance.below(ledger.accounts.len() as u64)).unwrap();
        let amount = i64::try_from(1 + chance.below(500_000)).unwrap();
        let amount = if chance.happens(50) { amount } else { -amount };
        let one = match ledger.accounts[account].currency {
            Some("EUR") => Line { account, amount, currency: "EUR", foreign: amount * 10 / 11 },
            _ if chance.happens(15) => {
                Line { account, amount, currency: "EUR", foreign: amount / 2 }
            }
            _ if chance.happens(5) => Line { account, amount, currency: "USD", foreign: 0 },
            _ => line(account, amount),
        };
        lines.push(one);
        sum += amount;
    }
    if sum == 0 {
        lines[0].amount += if lines[0].amount > 0 { 1 } else { -1 };
        sum = lines.iter().map(|line| line.amount).sum();
    }
    let plain = ledger.accounts.iter().position(|account| account.currency.is_none()).unwrap();
    lines.push(line(plain, -sum));
    lines
}

/// A ledger with drafts only; which of them to post, in which order, is answered.
fn begin(chance: &mut Chance, books: &mut Bookkeeper<'_>) -> (Ledger, Vec<usize>) {
    let mut ledger = books.ledger("CHF");
    let of_hundred = 30 + chance.below(70);
    for (number, kind) in ACCOUNTS {
        if *number == "1020" || *number == "3400" || chance.happens(of_hundred) {
            let currency = (*number == "1021").then_some("EUR");
            books.account(&mut ledger, number, kind, currency);
        }
    }
    add_years(chance, books, &mut ledger);
    let mut to_post = vec![];
    for _ in 0..3 + chance.below(22) {
        let year = usize::try_from(chance.below(ledger.years.len() as u64)).unwrap();
        let (from, to) = (ledger.years[year].from, ledger.years[year].to);
        let on = match chance.below(10) {
            0 => from,
            1 => to,
            _ => chance.day((from, to)),
        };
        let journal = if chance.happens(8) { "CLO" } else { *chance.pick(&["OD", "BNQ"]) };
        let lines = lines(chance, &ledger);
        let entry = books.draft(&mut ledger, year, journal, on, lines, None);
        if chance.happens(88) {
            to_post.push(entry);
        }
    }
    for at in (1..to_post.len()).rev() {
        to_post.swap(at, usize::try_from(chance.below(at as u64 + 1)).unwrap());
    }
    (ledger, to_post)
}

/// Posts some entries, and reversals of a few of them on later days of the same year.
fn post(
    chance: &mut Chance,
    books: &mut Bookkeeper<'_>,
    ledger: &mut Ledger,
    entries: &[usize],
    at: &str,
) {
    let mut commit = None;
    for &entry in entries {
        let under = match commit {
            Some(commit) if chance.happens(30) => commit,
            _ => books.commit(at),
        };
        commit = Some(under);
        books.post(ledger, entry, under);
        if chance.happens(12) {
            let original = ledger.entries[entry].clone();
            let on = chance.day((original.day, ledger.years[original.year].to));
            let turned = original.lines.iter().map(|line| Line {
                amount: -line.amount,
                foreign: -line.foreign,
                ..line.clone()
            });
            let turned = turned.collect();
            let reversal = books.draft(ledger, original.year, "EXT", on, turned, Some(original.id));
            let under = books.commit(at);
            books.post(ledger, reversal, under);
        }
    }
}

/// The random ledgers, posted in two rounds on two days, so that what is known on a day cuts through each.
fn write(world: &World) -> Vec<Ledger> {
    let mut chance = Chance(2026);
    let mut books = Bookkeeper::of(world, "leman");
    let mut ledgers = vec![];
    for _ in 0..LEDGERS {
        ledgers.push(begin(&mut chance, &mut books));
    }
    books.write();
    for (round, at) in ["2026-11-29T08:00:00", "2026-11-30T08:00:00"].into_iter().enumerate() {
        for (ledger, to_post) in &mut ledgers {
            let half = to_post.len() / 2;
            let entries = if round == 0 { &to_post[..half] } else { &to_post[half..] };
            post(&mut chance, &mut books, ledger, entries, at);
        }
        books.write();
    }
    for (at, (ledger, _)) in ledgers.iter().enumerate() {
        if at % 3 == 0 {
            let closed = books.literal(ledger.years[0].id);
            let tenant = books.tenant();
            books.add(&format!(
                "UPDATE fiscal_years SET state = 'closed' WHERE tenant_id = {tenant} AND id = {closed}"
            ));
        }
    }
    books.write();
    ledgers.into_iter().map(|(ledger, _)| ledger).collect()
}

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
        let answer = self.client.ask(tool, arguments);
        assert_eq!(answer.get("drafts").is_some(), self.known_on.is_none(), "{answer}");
        answer
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
        let earlier = self.ledger.balance((first, eve), self.known, |one| one.is_anew());
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
        if self.known_on.is_none() {
            assert_eq!(report["drafts"], drafts.count());
        }
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
                -self.ledger.balance((year, on), self.known, |one| one.is_anew()),
                -self.ledger.balance((first, year - Days::new(1)), self.known, |one| one.is_anew()),
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
                match row.get("foreign") {
                    Some(foreign) => {
                        assert_eq!(foreign["currency"], line.currency);
                        assert_eq!(cents(&foreign["amount"]), line.foreign);
                    }
                    None => assert_eq!(line.currency, "CHF"),
                }
            }
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => {
                    assert_eq!(seen, expected.len());
                    return page;
                }
            }
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
    match row.get("opening") {
        Some(_) => {
            for part in ["opening", "debit", "credit"] {
                let sum = parts.get(part).or(parts.get("balance").filter(|_| part == "opening"));
                assert_eq!(
                    sum.copied().unwrap_or_default().0,
                    cents(&row[part]),
                    "{part} {row} {parts:?}"
                );
            }
        }
        None => {
            let sum: i64 = parts.values().map(|(sum, _)| sum).sum();
            assert_eq!(sum, cents(&row["amount"]), "{row}");
        }
    }
}

fn reports_on_random_ledgers_are_right_at_both_clocks(world: &World) {
    let ledgers = write(world);
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
