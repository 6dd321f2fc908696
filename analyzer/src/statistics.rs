//! Numbers in, numbers out: the statistics that summaries and verdicts stand on. Knows no file and no frame.
//!
//! * [`quantile`] linear interpolation between order statistics, and the median.
//! * [`spread`] mean, standard deviation, coefficient of variation, geometric mean.
//! * [`difference`] two groups on the log scale: effect, standard error, degrees of freedom, Hodges–Lehmann.
//! * [`interval`] Student's t: two-sided p and the half-width of an interval.
//! * [`ordered`] an interval of the median from the order of the values alone.
//! * [`outlier`] values that stand apart, by the median absolute deviation.
//! * [`pooling`] one deviation for several groups, asiai's way and the textbook's.
//! * [`power`] how large a change has to be, so that a design finds it.
//! * [`segments`] where a long series steps from one level to another.
//! * [`sessions`] the mean of values that come in sessions, and its standard error.
//! * [`tail`] percentiles with what stands behind them.
//! * [`trend`] Theil–Sen's slope, Kendall's tau, asiai's drift.
//! * [`multiplicity`] Benjamini–Hochberg.
//!
//! Sums run in the order of the slice and nowhere else, so native and WebAssembly agree to the last bit but for `ln`, `exp`.

pub mod difference;
pub mod interval;
pub mod multiplicity;
pub mod ordered;
pub mod outlier;
pub mod pooling;
pub mod power;
pub mod quantile;
pub mod segments;
pub mod sessions;
pub mod spread;
pub mod tail;
pub mod trend;
