//! What lists print: an aligned table for people, JSON lines for programs.

use std::io::{ErrorKind, Write};

use clap::Args;
use serde::Serialize;

use crate::error::{Error, Result};

/// How a list is printed.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print one JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

/// A row of a list.
pub(super) trait Row: Serialize {
    /// The headings of the columns.
    const HEADINGS: &[&str];

    /// The text under each heading.
    fn cells(&self) -> Vec<String>;
}

impl ListArgs {
    /// Prints `rows`.
    pub(super) fn print<R: Row>(&self, rows: &[R]) -> Result<()> {
        if self.json {
            let lines = rows.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
            return print_lines(&lines);
        }
        let headings = R::HEADINGS.iter().map(|heading| (*heading).to_owned()).collect();
        print_lines(&aligned(headings, rows.iter().map(Row::cells).collect()))
    }

    /// Prints `rows` under headings that are known only now; `json` is what each is for programs.
    pub(super) fn print_grid<J: Serialize>(
        &self,
        headings: Vec<String>,
        rows: Vec<(Vec<String>, J)>,
    ) -> Result<()> {
        let (cells, objects): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        if self.json {
            let lines = objects.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
            return print_lines(&lines);
        }
        print_lines(&aligned(headings, cells))
    }
}

/// Writes lines to standard output; a reader that has seen enough is no error.
pub(super) fn print_lines(lines: &[String]) -> Result<()> {
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::fault(error)),
        _ => Ok(()),
    }
}

/// Columns two spaces apart, each as wide as its widest cell.
fn aligned(headings: Vec<String>, rows: Vec<Vec<String>>) -> Vec<String> {
    let mut widths: Vec<usize> = vec![0; headings.len()];
    let lines: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let print = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(print).collect()
}

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let lines = aligned(row(["NAME", "TOWN"]), vec![row(["Rösti AG", "Bern"]), row(["X", ""])]);
        assert_eq!(lines, ["NAME      TOWN", "Rösti AG  Bern", "X"]);
    }
}
