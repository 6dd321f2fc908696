//! Polls of a node → what its sensor published, and when: a poll shows the last published values again until there are new
//! ones.

use crate::record::MetricSeries;

/// A sensor publishes about once a second (exo's macmon interval), so a value that a poll shows for the first time is at
/// most about that old, however long ago the poll before was. Another interval of the sensor would change this.
pub const SENSOR_PERIOD_S: f64 = 1.0;

/// One published reading of power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Publication {
    /// Power, W.
    pub power_w: f64,
    /// The last poll that did not show it yet, s: it was made after that. Minus infinity for the first of a series.
    pub after_s: f64,
    /// The first poll that showed it, s: it was made by then.
    pub seen_s: f64,
    /// The last poll that showed it, s.
    pub last_seen_s: f64,
    /// Best guess of the instant it was made: the middle of the last second before it was seen, or of the time since the
    /// poll before where that is shorter.
    pub made_s: f64,
}

/// What one series says of its node's power.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Channel {
    /// The publications, in the order they were made.
    pub publications: Vec<Publication>,
}

impl Channel {
    /// The publications of a series.
    ///
    /// Consecutive polls whose five columns are equal to the last bit show the same publication; a living sensor wavers in
    /// at least one. Polls without a power, or not after the one before, are left out: they say nothing of this channel.
    #[must_use]
    pub fn of(series: &MetricSeries) -> Self {
        let mut publications: Vec<Publication> = Vec::new();
        let mut shown: Option<[Option<u64>; 5]> = None;
        for (place, t) in series.t_s.iter().copied().enumerate() {
            let Some(power_w) = series.columns.power_w(place) else { continue };
            let last_poll = publications.last().map_or(f64::NEG_INFINITY, |last| last.last_seen_s);
            if t <= last_poll {
                continue;
            }
            let bits = reading(series, place);
            match publications.last_mut() {
                Some(last) if shown == Some(bits) => last.last_seen_s = t,
                _ => publications.push(Publication {
                    power_w,
                    after_s: last_poll,
                    seen_s: t,
                    last_seen_s: t,
                    made_s: t - (t - last_poll).min(SENSOR_PERIOD_S) / 2.0,
                }),
            }
            shown = Some(bits);
        }
        Self { publications }
    }

    /// The readings of an instrument that stamps each itself: each is a publication of its own, made at its stamp, also where
    /// it reads the same as the one before. A meter under a steady load does not waver.
    #[must_use]
    pub fn stamped(series: &MetricSeries) -> Self {
        let mut publications: Vec<Publication> = Vec::new();
        for (place, t) in series.t_s.iter().copied().enumerate() {
            let Some(power_w) = series.columns.power_w(place) else { continue };
            if publications.last().is_some_and(|last| t <= last.seen_s) {
                continue;
            }
            publications.push(Publication { power_w, after_s: t, seen_s: t, last_seen_s: t, made_s: t });
        }
        Self { publications }
    }

    /// First and last poll that showed a power, s; None for a channel that never did.
    #[must_use]
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((self.publications.first()?.seen_s, self.publications.last()?.last_seen_s))
    }
}

/// The five columns of a poll, bit by bit: equal numbers of two publications would hardly be equal to the last one.
pub(super) fn reading(series: &MetricSeries, place: usize) -> [Option<u64>; 5] {
    let columns = &series.columns;
    [&columns.sys_power, &columns.temp, &columns.gpu_usage, &columns.pcpu_usage, &columns.ecpu_usage]
        .map(|column| column.get(place).copied().flatten().map(f64::to_bits))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::SeriesColumns;

    /// A series of polls; the temperature follows the power, the rest is missing.
    pub(crate) fn series(polls: &[(f64, Option<f64>)]) -> MetricSeries {
        let power: Vec<Option<f64>> = polls.iter().map(|(_, power)| *power).collect();
        MetricSeries {
            node_id: "a".into(),
            source: "exo nodeSystem".into(),
            instance_id: Some("i".into()),
            session: 0,
            interval_s: 1.0,
            t_s: polls.iter().map(|(t, _)| *t).collect(),
            poll_s: vec![0.01; polls.len()],
            columns: SeriesColumns { temp: power.clone(), sys_power: power, ..SeriesColumns::default() },
            health: None,
        }
    }

    #[test]
    fn polls_that_show_the_same_values_are_one_publication() {
        // poll    0.0  1.0  1.4  2.0  5.0
        // shows   10   20   20   30   40
        let polls = [(0.0, Some(10.0)), (1.0, Some(20.0)), (1.4, Some(20.0)), (2.0, Some(30.0)), (5.0, Some(40.0))];
        let found = Channel::of(&series(&polls)).publications;
        let made: Vec<(f64, f64, f64)> = found.iter().map(|one| (one.power_w, one.after_s, one.made_s)).collect();
        assert_eq!(
            made,
            [(10.0, f64::NEG_INFINITY, -0.5), (20.0, 0.0, 0.5), (30.0, 1.4, 1.7), (40.0, 2.0, 4.5)],
            "after a pause in polling it is still only about a second old"
        );
        assert_eq!(found[1].last_seen_s, 1.4);
    }

    #[test]
    fn the_same_power_with_another_temperature_is_a_new_publication() {
        let mut two = series(&[(0.0, Some(10.0)), (1.0, Some(10.0))]);
        two.columns.temp[1] = Some(11.0);
        assert_eq!(Channel::of(&two).publications.len(), 2);
    }

    #[test]
    fn equal_readings_of_an_instrument_with_a_clock_are_as_many() {
        let constant = [(0.0, Some(100.0)), (1.0, Some(100.0)), (1.0, Some(100.0)), (2.0, None), (3.0, Some(100.0))];
        let made: Vec<f64> = Channel::stamped(&series(&constant)).publications.iter().map(|one| one.made_s).collect();
        assert_eq!(made, [0.0, 1.0, 3.0]);
        assert_eq!(Channel::of(&series(&constant)).publications.len(), 1, "of a polled sensor they are one");
    }

    #[test]
    fn a_poll_without_the_node_says_nothing_of_when_the_next_value_was_made() {
        let found = Channel::of(&series(&[(0.0, Some(10.0)), (0.5, None), (0.8, Some(20.0))])).publications;
        assert_eq!(found[1].after_s, 0.0, "it may have been made before the poll that did not show the node");
    }

    #[test]
    fn a_poll_that_does_not_come_after_the_last_is_left_out() {
        assert_eq!(Channel::of(&series(&[(1.0, Some(10.0)), (1.0, Some(20.0))])).publications.len(), 1);
        assert_eq!(Channel::of(&series(&[])).span(), None);
    }
}
