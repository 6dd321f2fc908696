//! The methodologies: which steps in which order.
//!
//! - [`exo_bench`] is exo's own bench.

pub mod exo_bench;
