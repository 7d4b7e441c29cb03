//! The return computed a second time, from the bare lines, in whole centimes and by another way.

use std::collections::BTreeMap;

use super::books::Row;

/// Figures and their amounts; `303b` is the taxed amount of 303.
pub(crate) type Form = BTreeMap<String, i64>;

/// Half up, away from zero.
pub(crate) fn divided(a: i128, by: i128) -> i64 {
    let rounded = (a.abs() * 2 + by) / (by * 2);
    i64::try_from(rounded * a.signum()).unwrap()
}

fn add(form: &mut Form, figure: &str, amount: i64) {
    *form.entry(figure.to_owned()).or_default() += amount;
}

/// The tax figure of a supply: the code's letters and the day.
fn tax_figure(code: &str, supplied_on: &str) -> Option<&'static str> {
    if !("2018-01-01"..).contains(&supplied_on) {
        return None;
    }
    let is_old = supplied_on < "2024-01-01";
    Some(match (code, is_old) {
        ("UN" | "UO" | "UD", true) => "302",
        ("UN" | "UO" | "UD", false) => "303",
        ("UR" | "UDR", true) => "312",
        ("UR" | "UDR", false) => "313",
        ("UB" | "UDB", true) => "342",
        ("UB" | "UDB", false) => "343",
        ("BN" | "BI", true) => "382",
        ("BN" | "BI", false) => "383",
        _ => return None,
    })
}

fn deduction(code: &str) -> Option<(&'static str, i64)> {
    Some(match code {
        "UX" => ("220", -1),
        "UA" => ("221", -1),
        "UM" => ("225", -1),
        "UF" => ("230", -1),
        "UL" => ("280", -1),
        "UD" | "UDR" | "UDB" => ("235", 1),
        _ => return None,
    })
}

const IN_TURNOVER: [&str; 9] = ["UN", "UR", "UB", "UO", "UX", "UA", "UM", "UF", "UL"];

/// What an output line adds to 200, 205 and the deductions.
fn consideration(form: &mut Form, code: &str, amount: i64) {
    if IN_TURNOVER.contains(&code) {
        add(form, "200", -amount);
    }
    if code == "UO" {
        add(form, "205", -amount);
    }
    if let Some((figure, sign)) = deduction(code) {
        add(form, figure, sign * amount);
    }
}

fn outside(form: &mut Form, row: &Row) {
    match row.code.as_str() {
        "NS" => add(form, "900", -row.amount),
        "ND" => add(form, "910", -row.amount),
        _ => {}
    }
}

fn totals(form: &mut Form, taxes: &[&str]) {
    let sum = |form: &Form, figures: &[&str]| -> i64 {
        figures.iter().filter_map(|figure| form.get(*figure)).sum()
    };
    let deductions = sum(form, &["220", "221", "225", "230", "235", "280"]);
    add(form, "289", deductions);
    add(form, "299", sum(form, &["200"]) - deductions);
    add(form, "399", sum(form, taxes));
    add(form, "479", sum(form, &["400", "405", "410"]) - sum(form, &["415", "420"]));
    let payable = sum(form, &["399"]) - sum(form, &["479"]);
    add(form, if payable >= 0 { "500" } else { "510" }, payable.abs());
}

/// The effective return of the lines of a period.
pub(crate) fn effective(rows: &[Row]) -> Form {
    let mut form = Form::new();
    for row in rows {
        let (code, amount) = (row.code.as_str(), row.amount);
        let figure = tax_figure(code, &row.supplied_on);
        match (code.as_bytes().first(), row.part.as_str()) {
            (Some(b'U'), "base") => {
                consideration(&mut form, code, amount);
                if let Some(figure) = figure {
                    add(&mut form, &format!("{figure}b"), -amount);
                }
            }
            (Some(b'U'), "tax") => add(&mut form, figure.unwrap_or("none"), -amount),
            (Some(b'B'), "base") => {
                add(&mut form, &format!("{}b", figure.unwrap_or("none")), amount);
            }
            (Some(b'B'), "tax") if row.kind == "liability" => {
                add(&mut form, figure.unwrap_or("none"), -amount);
            }
            (Some(b'B'), "tax") if row.kind == "asset" => {
                add(&mut form, if code == "BI" { "405" } else { "400" }, amount);
            }
            (Some(b'V'), "tax") => {
                add(&mut form, if code.starts_with("VI") { "405" } else { "400" }, amount);
            }
            (Some(b'K'), "tax") => match code {
                "KN" => add(&mut form, "410", amount),
                "KO" => add(&mut form, "415", -amount),
                _ => add(&mut form, "420", -amount),
            },
            (Some(b'N'), "base") => outside(&mut form, row),
            _ => {}
        }
    }
    totals(&mut form, &["302", "303", "312", "313", "342", "343", "382", "383"]);
    form
}

/// The net-rate return: `rates` has activities and their rates in tenths of a per cent, of which the first has its own row
/// until 2024.
pub(crate) fn net_rate(rows: &[Row], rates: &[(&str, i64)], year: i32) -> Form {
    let mut form = Form::new();
    let mut turnover: BTreeMap<(&str, &str, i64), i64> = BTreeMap::new();
    for row in rows {
        let (code, amount) = (row.code.as_str(), row.amount);
        match (code.as_bytes().first(), row.part.as_str()) {
            (Some(b'U'), "base") => {
                let gross = amount + tax_of(rows, row);
                consideration(&mut form, code, gross);
                if tax_figure(code, &row.supplied_on).is_some() {
                    let at = rates.iter().position(|(activity, _)| *activity == row.activity);
                    let Some(at) = at else { continue };
                    let is_second = rates[at].1 != rates[0].1 && year <= 2024;
                    let figure = match (row.supplied_on.as_str() < "2024-01-01", is_second) {
                        (true, false) => "322",
                        (true, true) => "332",
                        (false, false) => "323",
                        (false, true) => "333",
                    };
                    *turnover.entry((figure, rates[at].0, rates[at].1)).or_default() -= gross;
                }
            }
            (Some(b'B'), "base") => {
                let figure = tax_figure(code, &row.supplied_on).unwrap();
                add(&mut form, &format!("{figure}b"), amount);
            }
            (Some(b'B'), "tax") if row.kind == "liability" => {
                add(&mut form, tax_figure(code, &row.supplied_on).unwrap(), -amount);
            }
            (Some(b'N'), "base") => outside(&mut form, row),
            _ => {}
        }
    }
    for ((figure, _, rate), gross) in turnover {
        add(&mut form, &format!("{figure}b"), gross);
        add(&mut form, figure, divided(i128::from(gross) * i128::from(rate), 1_000));
    }
    totals(&mut form, &["322", "323", "332", "333", "382", "383"]);
    form
}

/// The tax charged on a line: what its entry books under its code. The tests charge each code once in an entry.
fn tax_of(rows: &[Row], base: &Row) -> i64 {
    let same = |row: &&Row| row.entry == base.entry && row.code == base.code && row.part == "tax";
    rows.iter().filter(same).map(|row| row.amount).sum()
}
