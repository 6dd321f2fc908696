//! What can be told of a node's readings without knowing what ran: missing, frozen, zero.

use super::publications::reading;
use crate::record::{ChannelHealth, MetricSeries};

/// The health of a series.
///
/// A frozen span lies between answered polls that showed the node: a poll without it ends the span, for nobody knows what
/// the sensor did meanwhile.
#[must_use]
pub fn health(series: &MetricSeries) -> ChannelHealth {
    let mut health = ChannelHealth { polls: 0, missing: 0, frozen_s: 0.0, zero: 0 };
    let mut since: Option<(f64, [Option<u64>; 5])> = None;
    for (place, t) in series.t_s.iter().copied().enumerate() {
        health.polls += 1;
        let power = series.columns.power_w(place);
        health.missing += u64::from(power.is_none());
        health.zero += u64::from(power == Some(0.0));
        let bits = reading(series, place);
        since = match since {
            _ if bits == [None; 5] => None,
            Some((from, known)) if known == bits => {
                health.frozen_s = health.frozen_s.max(t - from);
                Some((from, known))
            }
            _ => Some((t, bits)),
        };
    }
    health
}

#[cfg(test)]
mod tests {
    use super::super::publications::tests::series;
    use super::*;

    #[test]
    fn a_dead_sensor_is_frozen_and_a_missing_node_ends_the_span() {
        // poll    0   1   2   3   4   5   6   7
        // shows   9   8   8   8   –   8   8   0
        let powers = [Some(9.0), Some(8.0), Some(8.0), Some(8.0), None, Some(8.0), Some(8.0), Some(0.0)];
        let polls: Vec<(f64, Option<f64>)> =
            powers.into_iter().enumerate().map(|(t, power)| (t as f64, power)).collect();
        assert_eq!(health(&series(&polls)), ChannelHealth { polls: 8, missing: 1, frozen_s: 2.0, zero: 1 });
        assert_eq!(health(&series(&[])), ChannelHealth { polls: 0, missing: 0, frozen_s: 0.0, zero: 0 });
    }
}
