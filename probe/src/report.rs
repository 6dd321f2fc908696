//! Events → progress on stderr; files and comparisons → text.
//!
//! - [`progress`] shows a run while it lasts.
//! - [`closing`] is the table at its end.
//! - [`document`] reads result files for the verbs that print them, and writes what they print.
//! - [`render`] turns summaries and comparisons into tables, Markdown, CSV and JSON.

pub mod closing;
pub mod document;
pub mod progress;
pub mod render;
