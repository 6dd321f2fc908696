//! Intervals of change drawn to one scale down a column: where each stands, in percent of the drawing's width.

use analyzer::comparison::Comparison;

/// The scale that all intervals of a table share: as far to the left of no change as to the right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// The change at the right edge, percent. At the left edge it is as much below.
    pub reach: f64,
    /// The smallest change that matters, percent.
    delta: f64,
    /// The same for energy.
    delta_energy: f64,
}

/// One interval, drawn. All but the flags are places from 0 (left edge) to 100 (right edge).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The change itself.
    pub change: f64,
    /// Where the changes begin that are too small to matter.
    pub band_low: f64,
    /// Where they end.
    pub band_high: f64,
    /// True where an end lies beyond the drawing, which then shows no end there: below, above.
    pub cut: [bool; 2],
}

impl Axis {
    /// No interval is drawn to a scale wider than this: a doubling. One wild cell would flatten all others.
    const WIDEST: f64 = 100.0;

    /// The scale of a comparison: all intervals fit, and so does twice the smallest change that matters.
    #[must_use]
    pub fn of(comparison: &Comparison) -> Self {
        let ends = comparison.cells.iter().flat_map(|cell| &cell.metrics).filter_map(|metric| metric.interval_percent);
        let widest = ends.flatten().map(f64::abs).fold(2.0 * comparison.delta_percent, f64::max);
        Self {
            reach: (widest * 1.05).min(Self::WIDEST),
            delta: comparison.delta_percent,
            delta_energy: comparison.delta_energy_percent,
        }
    }

    /// Draws one interval of a change, percent.
    #[must_use]
    pub fn draw(&self, change: f64, [low, high]: [f64; 2], is_energy: bool) -> Drawn {
        let place = |percent: f64| 50.0 + 50.0 * (percent / self.reach).clamp(-1.0, 1.0);
        let delta = if is_energy { self.delta_energy } else { self.delta };
        Drawn {
            low: place(low),
            high: place(high),
            change: place(change),
            band_low: place(-delta),
            band_high: place(delta),
            cut: [low < -self.reach, high > self.reach],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis { reach: 40.0, delta: 3.0, delta_energy: 5.0 };

    #[test]
    fn no_change_is_the_middle_and_the_ends_are_as_far_as_they_say() {
        let drawn = AXIS.draw(-20.0, [-30.0, -10.0], false);
        assert_eq!((drawn.low, drawn.change, drawn.high), (12.5, 25.0, 37.5));
        assert_eq!((drawn.band_low + drawn.band_high) / 2.0, 50.0);
        assert_eq!(drawn.cut, [false, false]);
    }

    #[test]
    fn an_end_beyond_the_drawing_is_marked_not_bent() {
        let drawn = AXIS.draw(30.0, [-50.0, 200.0], true);
        assert_eq!((drawn.low, drawn.high, drawn.cut), (0.0, 100.0, [true, true]));
        assert_eq!(drawn.band_high, 56.25, "energy has its own smallest change");
    }
}
