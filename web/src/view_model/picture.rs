//! The data of the charts as Plotly takes it, and their twin tables.
//!
//! - [`repeats`] is every value of a metric, of one file or of two.
//! - [`power`] is power over time.

pub mod power;
pub mod repeats;

use serde_json::Value;

use super::table::Table;

/// A chart and the table that says the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What it shows, for who cannot see it.
    pub title: String,
    /// Plotly's traces.
    pub traces: Value,
    /// Plotly's layout.
    pub layout: Value,
    /// The numbers.
    pub twin: Table,
}

/// The base of a comparison, and a file that stands alone (Okabe–Ito blue).
pub const BASE: &str = "#0072B2";

/// The new file of a comparison (Okabe–Ito vermilion).
pub const NEW: &str = "#D55E00";

/// Words of a file as Plotly shows them letter by letter: it obeys markup in its labels, links included, and a file must not
/// be able to put one on the page.
fn plain(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
