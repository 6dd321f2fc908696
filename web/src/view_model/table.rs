//! What every table is made of: heads with units, cells with their unrounded value.

use super::interval::Drawn;

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The head, unit included.
    pub head: String,
    /// Numbers stand on the right.
    pub number: bool,
    /// What the column is, for a tooltip; empty where the head says it all.
    pub meaning: String,
}

impl Column {
    /// A column of words.
    pub fn words(head: impl Into<String>) -> Self {
        Self { head: head.into(), number: false, meaning: String::new() }
    }

    /// A column of numbers.
    pub fn number(head: impl Into<String>) -> Self {
        Self { head: head.into(), number: true, meaning: String::new() }
    }
}

/// A cell. `stat` and `value` say what it is and what it is exactly, for tests, copying and tooltips.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// Class for the looks: "base", "new", "verdict regressed", …
    pub class: &'static str,
    /// What the number is: "median", "change_percent", …
    pub stat: Option<&'static str>,
    /// The number, unrounded.
    pub value: Option<f64>,
    /// More words, for a tooltip; none where the unrounded value is the tooltip.
    pub more: Option<String>,
    /// An interval that is drawn before the words.
    pub drawn: Option<Drawn>,
}

impl Cell {
    /// Words.
    pub fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number.
    pub fn number(text: impl Into<String>, stat: &'static str, value: Option<f64>) -> Self {
        Self { text: text.into(), class: "number", stat: Some(stat), value, ..Self::default() }
    }

    /// Marks that point to sentences below the table, and say them when pointed at.
    pub fn marks(notes: &mut Vec<String>, sentences: Vec<String>) -> Self {
        let more = (!sentences.is_empty()).then(|| sentences.join("; "));
        Self { text: Table::marks(notes, sentences), class: "note", more, ..Self::default() }
    }
}

/// A row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Index of the cell in the report or comparison.
    pub cell: Option<usize>,
    /// The metric, as JSON spells it.
    pub metric: Option<String>,
    /// The verdict, as JSON spells it.
    pub verdict: Option<&'static str>,
    /// A heading over the whole width, in place of cells.
    pub heading: Option<String>,
    /// The cells, one per column.
    pub cells: Vec<Cell>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Sentences that marks in the rows point to, each once.
    pub notes: Vec<String>,
}

impl Table {
    /// The marks of some sentences, numbers from 1; the sentences stand below the table.
    pub fn marks(notes: &mut Vec<String>, sentences: impl IntoIterator<Item = String>) -> String {
        let mut numbers = Vec::new();
        for sentence in sentences {
            let place = notes.iter().position(|known| *known == sentence).unwrap_or_else(|| {
                notes.push(sentence);
                notes.len() - 1
            });
            numbers.push(place + 1);
        }
        numbers.sort_unstable();
        numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
    }

    /// The table as CSV, unrounded where a number is known.
    #[must_use]
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n";
        let head = line(self.columns.iter().map(|column| column.head.clone()).collect());
        let exact = |cell: &Cell| cell.value.map_or_else(|| cell.text.clone(), |value| value.to_string());
        self.rows.iter().fold(head, |text, row| text + &line(row.cells.iter().map(exact).collect()))
    }
}

/// RFC 4180: quotes where the text needs them, doubled inside.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_is_unrounded_and_quoted() {
        let table = Table {
            caption: String::new(),
            columns: vec![Column::words("a, b"), Column::number("c")],
            rows: vec![Row {
                cells: vec![Cell::words("say \"x\""), Cell::number("1.2", "mean", Some(1.2345))],
                ..Row::default()
            }],
            notes: Vec::new(),
        };
        let mut notes = Vec::new();
        assert_eq!(Table::marks(&mut notes, ["x".to_owned(), "y".to_owned()]), "1 2");
        assert_eq!(Table::marks(&mut notes, ["y".to_owned()]), "2");
        assert_eq!(table.csv(), "\"a, b\",c\n\"say \"\"x\"\"\",1.2345\n");
    }
}
