//! Summaries → rows, words and pictures. Pure: no DOM, no signals, tested natively.
//!
//! - [`table`] is what every table is made of.
//! - [`run`] is one file.
//! - [`compare`] is two files side by side.
//! - [`picture`] is the data of the charts, and their twin tables.

pub mod compare;
pub mod picture;
pub mod run;
pub mod table;
