//! A result file as flat tables: a row per request, per power sample, per failure, for tools that know columns only.
//!
//! * `requests`, `series` and `failures` lay the three tables out.
//!
//! Names carry their unit; what the file does not tell is none. Rows of several files stand one behind the other: the
//! column `run_id` tells them apart and joins the tables.

mod failures;
mod requests;
mod series;

pub use failures::failures;
pub use requests::requests;
pub use series::series;

/// Columns of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The columns, in reading order; every file gives the same ones.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, with its unit behind it where it has one: "elapsed_s".
    pub name: &'static str,
    /// What stands in it.
    pub values: Values,
}

/// The values of a column; none where the file does not tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Words.
    Text(Vec<Option<String>>),
    /// Counts, tokens and bytes.
    Whole(Vec<Option<i64>>),
    /// Measured numbers.
    Number(Vec<Option<f64>>),
    /// Yes or no.
    Flag(Vec<Option<bool>>),
    /// Several numbers in one place: the instants of a stream's tokens.
    Numbers(Vec<Option<Vec<f64>>>),
}

impl Values {
    /// How many.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Flag(values) => values.len(),
            Self::Numbers(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn select(&self, rows: &[usize]) -> Self {
        fn pick<T: Clone>(values: &[Option<T>], rows: &[usize]) -> Vec<Option<T>> {
            rows.iter().map(|row| values.get(*row).cloned().flatten()).collect()
        }
        match self {
            Self::Text(values) => Self::Text(pick(values, rows)),
            Self::Whole(values) => Self::Whole(pick(values, rows)),
            Self::Number(values) => Self::Number(pick(values, rows)),
            Self::Flag(values) => Self::Flag(pick(values, rows)),
            Self::Numbers(values) => Self::Numbers(pick(values, rows)),
        }
    }
}

impl Table {
    /// Rows of the table.
    #[must_use]
    pub fn height(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// A column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// These rows of it, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let columns = self.columns.iter();
        Self { columns: columns.map(|c| Column { name: c.name, values: c.values.select(rows) }).collect() }
    }

    fn text(&mut self, name: &'static str, values: impl Iterator<Item = Option<String>>) {
        self.columns.push(Column { name, values: Values::Text(values.collect()) });
    }

    /// Counts; one of 2^63 or more is no count of anything and left out.
    fn whole(&mut self, name: &'static str, values: impl Iterator<Item = Option<u64>>) {
        let values = values.map(|value| value.and_then(|value| i64::try_from(value).ok())).collect();
        self.columns.push(Column { name, values: Values::Whole(values) });
    }

    fn number(&mut self, name: &'static str, values: impl Iterator<Item = Option<f64>>) {
        // What can be no value is none: other readers stumble over what is left when it is reckoned with.
        let values = values.map(|value| value.filter(|value| crate::metric::is_value(*value)));
        self.columns.push(Column { name, values: Values::Number(values.collect()) });
    }

    fn flag(&mut self, name: &'static str, values: impl Iterator<Item = Option<bool>>) {
        self.columns.push(Column { name, values: Values::Flag(values.collect()) });
    }
}

/// The start of the measurement as the file tells it, whoever wrote it.
#[must_use]
pub fn started_at(loaded: &crate::import::Loaded) -> Option<&str> {
    let file = &loaded.file;
    let ours = file.exoscope.as_ref().map(|provenance| provenance.started_at.as_str());
    ours.or_else(|| file.source.as_ref()?.started_at.as_deref())
}

/// The columns that every table begins with: which file a row is of, what kind of file that is, and what its
/// numbers can be set against.
fn origin(table: &mut Table, loaded: &crate::import::Loaded, run: &str, height: usize) {
    let same = |value: Option<String>| std::iter::repeat_n(value, height);
    table.text("file", same(Some(loaded.name.clone())));
    table.text("run_id", same(Some(run.to_owned())));
    table.text("format", same(Some(loaded.format.clone())));
    table.text("class", same(serde_json::to_value(loaded.class).ok().and_then(|word| Some(word.as_str()?.to_owned()))));
    table.text("started_at", same(started_at(loaded).map(str::to_owned)));
    let simulated = loaded.file.exoscope.as_ref().map(|provenance| provenance.simulated);
    table.flag("simulated", std::iter::repeat_n(simulated, height));
}
