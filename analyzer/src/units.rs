//! The only place where a number becomes text.
//!
//! [`Scale`] gives a column one prefix and one number of decimals, so that its numbers can be compared by eye. "–" is what
//! an absent value looks like.

/// What stands for an absent value.
pub const ABSENT: &str = "–";

/// How the numbers of one column are written: one prefix and one number of decimals for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    label: String,
    factor: f64,
    decimals: usize,
}

impl Scale {
    /// A scale for values of a unit ("tok/s", "s", "J", "W", "B", "%"), chosen by the largest of them. Units other than
    /// s, J, W and B take no prefix. Bytes go in steps of 1024 and say so ("MiB").
    #[must_use]
    pub fn of(unit: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let sizes: Vec<f64> =
            values.into_iter().map(f64::abs).filter(|value| value.is_finite() && *value > 0.0).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let (label, factor) = prefix(unit, largest);
        if unit == "B" && label == "B" {
            return Self { label: label.into(), factor, decimals: 0 };
        }
        // Four figures for the largest value and three for the smallest, but never more than four decimals.
        let decimals = if sizes.is_empty() {
            0
        } else {
            (4 - digits(largest * factor)).max(3 - digits(smallest * factor)).clamp(0, 4)
        };
        Self { label: label.into(), factor, decimals: usize::try_from(decimals).unwrap_or(0) }
    }

    /// The unit with its prefix, for the column's head.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// A value in this scale, unrounded: what a chart draws beside the column's words.
    #[must_use]
    pub fn scaled(&self, value: f64) -> f64 {
        value * self.factor
    }

    /// A value in this scale, without the unit; "–" where it is absent.
    #[must_use]
    pub fn text(&self, value: Option<f64>) -> String {
        value.map_or_else(|| ABSENT.into(), |value| fixed(value * self.factor, self.decimals))
    }
}

fn prefix(unit: &str, largest: f64) -> (&str, f64) {
    const KIB: f64 = 1024.0;
    match unit {
        "s" if largest > 0.0 && largest < 1e-3 => ("µs", 1e6),
        "s" if largest > 0.0 && largest < 1.0 => ("ms", 1e3),
        "J" if largest >= 1e7 => ("MJ", 1e-6),
        "J" if largest >= 1e4 => ("kJ", 1e-3),
        "W" if largest >= 1e4 => ("kW", 1e-3),
        "B" if largest >= KIB * KIB * KIB => ("GiB", 1.0 / (KIB * KIB * KIB)),
        "B" if largest >= KIB * KIB => ("MiB", 1.0 / (KIB * KIB)),
        "B" if largest >= KIB => ("KiB", 1.0 / KIB),
        other => (other, 1.0),
    }
}

/// Digits before the decimal point; 0 for 0.5, −1 for 0.05.
fn digits(value: f64) -> i32 {
    // Values are finite and positive here, so the logarithm is within ±308.
    value.log10().floor() as i32 + 1
}

/// No measurement is that large, and its digits would only push the rest of a table off the screen.
const WIDE: f64 = 1e12;

/// A number with a fixed count of decimals, the sign of zero dropped; from 10¹² on with a power of ten ("1.000e308").
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.abs() >= WIDE {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.decimals$}");
    if text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.')) { text.replace('-', "") } else { text }
}

/// A share or a change in percent, one decimal: "6.1 %"; no decimal from 100 % on.
#[must_use]
pub fn percent(value: f64) -> String {
    format!("{} %", fixed(value, if value.abs() < 99.95 { 1 } else { 0 }))
}

/// A change in percent with its sign: "+6.1 %", "−6.1 %", "0.0 %".
#[must_use]
pub fn change(value: f64) -> String {
    let size = percent(value.abs());
    if size.starts_with("0.0 ") {
        size
    } else if value < 0.0 {
        format!("−{size}")
    } else {
        format!("+{size}")
    }
}

/// The ends of an interval of change, with a word between them: "−3.2 % to +6.1 %". Above ten times it is open: such an
/// interval says that nothing is known, and its digits would push the rest of a table off the screen.
#[must_use]
pub fn change_range([low, high]: [f64; 2], between: &str) -> String {
    const OPEN: f64 = 1000.0;
    let high = if high > OPEN && low < OPEN { format!("over {}", change(OPEN)) } else { change(high) };
    format!("{} {between} {high}", change(low))
}

/// From which changes on something matters: "+3.0 % or −2.9 %". A change and its way back are the same change, so the way down
/// is the same factor, 1 / 1.03, and not as many percent.
#[must_use]
pub fn both_ways(percent: f64) -> String {
    format!("{} or {}", change(percent), change(-100.0 * percent / (100.0 + percent)))
}

/// A count with its noun: "1 request", "3 requests".
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {}", nouns(number, noun))
}

/// A part of a count with its noun, which goes by the whole: "1 of 3 rows", "1 of 1 row". Its verb goes by the part: see
/// [`agree`].
#[must_use]
pub fn part(number: u64, all: u64, noun: &str) -> String {
    format!("{number} of {}", count(all, noun))
}

/// The word that goes with a number: "has" with 1, "have" with all others.
#[must_use]
pub const fn agree<'a>(number: u64, one: &'a str, several: &'a str) -> &'a str {
    if number == 1 { one } else { several }
}

fn nouns(number: u64, noun: &str) -> String {
    match (number, noun) {
        (1, _) => noun.to_owned(),
        // It is its own plural.
        (_, noun) if noun.ends_with("series") => noun.to_owned(),
        (_, noun) if noun.ends_with("ch") => format!("{noun}es"),
        (_, noun) => format!("{noun}s"),
    }
}

/// Bytes as exo's console writes them: steps of 1024, labelled KB, MB, GB, TB, two decimals, no space.
#[must_use]
pub fn exo_size(bytes: f64) -> String {
    let mut size = bytes;
    for label in ["B", "KB", "MB", "GB"] {
        if size < 1024.0 {
            return format!("{size:.2}{label}");
        }
        size /= 1024.0;
    }
    format!("{size:.2}TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_goes_by_the_part_and_a_noun_by_the_whole() {
        let words = |number, all| format!("{} {} it", part(number, all, "row"), agree(number, "has", "have"));
        assert_eq!(
            [words(1, 1), words(1, 3), words(2, 3)],
            ["1 of 1 row has it", "1 of 3 rows has it", "2 of 3 rows have it"]
        );
        let counts = [count(1, "series"), count(2, "series"), count(2, "batch"), count(0, "row")];
        assert_eq!(counts, ["1 series", "2 series", "2 batches", "0 rows"]);
    }

    #[test]
    fn a_column_has_one_prefix_and_enough_figures_for_its_smallest_value() {
        let scale = Scale::of("s", [0.250, 0.0031]);
        assert_eq!(scale.label(), "ms");
        assert_eq!(scale.text(Some(0.25)), "250.00");
        assert_eq!(scale.text(Some(0.0031)), "3.10");
        assert_eq!(scale.text(None), "–");
    }

    #[test]
    fn a_change_that_matters_is_a_factor_both_ways() {
        assert_eq!(both_ways(3.0), "+3.0 % or −2.9 %");
        assert_eq!(both_ways(100.0), "+100 % or −50.0 %");
    }

    #[test]
    fn an_interval_that_knows_nothing_is_open() {
        assert_eq!(change_range([-3.21, 6.1], "to"), "−3.2 % to +6.1 %");
        assert_eq!(change_range([-99.97, 4.6e10], "…"), "−100 % … over +1000 %");
        assert_eq!(change_range([-99.97, f64::INFINITY], "to"), "−100 % to over +1000 %");
        assert_eq!(change_range([1200.0, 1500.0], "to"), "+1200 % to +1500 %", "that is known");
    }

    #[test]
    fn rates_take_no_prefix() {
        let scale = Scale::of("tok/s", [4123.4, 26.71]);
        assert_eq!((scale.label(), scale.text(Some(26.71)).as_str()), ("tok/s", "26.7"));
    }

    #[test]
    fn changes_wear_their_sign_and_zero_none() {
        assert_eq!(change(-6.12), "−6.1 %");
        assert_eq!(change(0.04), "0.0 %");
        assert_eq!(change(250.0), "+250 %");
        assert_eq!(fixed(-0.001, 2), "0.00");
    }

    #[test]
    fn sizes_as_the_console_of_exo_writes_them() {
        assert_eq!(exo_size(23_413_239.0), "22.33MB");
        assert_eq!(exo_size(23_400_000_000.0), "21.79GB");
    }
}
