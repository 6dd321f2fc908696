//! Summaries → rows, words and pictures. Pure: no DOM, no signals, tested natively.
//!
//! - [`table`] is what every table is made of.
//! - [`cell`] names cells.
//! - [`run`] is one file.
//! - [`compare`] is two files side by side.
//! - [`interval`] is where an interval stands when it is drawn into a table.
//! - [`picture`] is the data of the charts, and their twin tables.

pub mod cell;
pub mod compare;
pub mod interval;
pub mod picture;
pub mod run;
pub mod table;
