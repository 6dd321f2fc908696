//! Numbers in, numbers out: the statistics that summaries and verdicts stand on. Knows no file and no frame.
//!
//! * [`quantile`] linear interpolation between order statistics, and the median.
//! * [`spread`] mean, standard deviation, coefficient of variation, geometric mean.
//! * [`difference`] two groups on the log scale: effect, standard error, degrees of freedom, Hodges–Lehmann.
//! * [`interval`] Student's t: two-sided p and the half-width of an interval.
//! * [`multiplicity`] Benjamini–Hochberg.
//!
//! Sums run in the order of the slice and nowhere else, so native and WebAssembly agree to the last bit but for `ln`, `exp`.

pub mod difference;
pub mod interval;
pub mod multiplicity;
pub mod quantile;
pub mod spread;
