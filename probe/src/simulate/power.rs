//! exo's `power_usage`: the published readings, sampled once a second and at the edges of the phases.

use serde_json::{Value, json};

/// The readings of all nodes at one time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// Seconds since the request was accepted.
    pub(super) at: f64,
    /// Watts per node, in the order of the nodes.
    pub(super) watts: Vec<f64>,
}

/// The samples of one request.
#[derive(Debug, Clone, Default)]
pub(super) struct PowerMeter {
    samples: Vec<Sample>,
    /// When the first token came, seconds.
    split: Option<f64>,
}

impl PowerMeter {
    pub(super) fn sample(&mut self, at: f64, watts: Vec<f64>) {
        self.samples.push(Sample { at, watts });
    }

    /// Marks the first token; only the first call counts.
    pub(super) fn first_token(&mut self, at: f64) -> bool {
        let first = self.split.is_none();
        self.split.get_or_insert(at);
        first
    }

    /// The answer's object. `prefill` therefore includes waiting in the queue, as exo's does; the phases are null where
    /// no token came.
    pub(super) fn usage(&self, nodes: &[String], elapsed: f64) -> Value {
        let split = self.split.map(|split| split.clamp(0.0, elapsed));
        let phases = split.map(|split| [(0.0, split), (split, elapsed)]);
        let average = |energy: f64, seconds: f64| if seconds > 0.0 { energy / seconds } else { 0.0 };
        let mut total = 0.0;
        let mut by_phase = [0.0, 0.0];
        let mut rows = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let points: Vec<(f64, f64)> =
                self.samples.iter().filter_map(|sample| Some((sample.at, *sample.watts.get(index)?))).collect();
            let energy = integral(&points, 0.0, elapsed);
            total += energy;
            let phase = |which: usize| {
                let (from, to) = phases?[which];
                let energy = integral(&points, from, to);
                Some((energy, average(energy, to - from)))
            };
            let (prefill, generation) = (phase(0), phase(1));
            by_phase[0] += prefill.map_or(0.0, |(energy, _)| energy);
            by_phase[1] += generation.map_or(0.0, |(energy, _)| energy);
            rows.push(json!({
                "node_id": node, "samples": points.len(), "avg_sys_power": average(energy, elapsed),
                "prefill_avg_sys_power": prefill.map(|(_, watts)| watts),
                "generation_avg_sys_power": generation.map(|(_, watts)| watts),
                "prefill_energy_joules": prefill.map(|(energy, _)| energy),
                "generation_energy_joules": generation.map(|(energy, _)| energy),
            }));
        }
        let seconds = phases.map(|[prefill, generation]| [prefill.1 - prefill.0, generation.1 - generation.0]);
        let [prefill_energy, generation_energy] = by_phase.map(|energy| phases.map(|_| energy));
        json!({
            "elapsed_seconds": elapsed, "nodes": rows, "total_avg_sys_power_watts": average(total, elapsed),
            "total_energy_joules": total,
            "prefill_seconds": seconds.map(|[prefill, _]| prefill),
            "generation_seconds": seconds.map(|[_, generation]| generation),
            "prefill_energy_joules": prefill_energy, "generation_energy_joules": generation_energy,
            "prefill_avg_sys_power_watts": seconds.map(|[prefill, _]| average(by_phase[0], prefill)),
            "generation_avg_sys_power_watts": seconds.map(|[_, generation]| average(by_phase[1], generation)),
        })
    }
}

/// Joules between two times: trapezoids between the samples, the power constant before the first and after the last.
fn integral(points: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0.0 };
    let mut edges = vec![(from, at(points, from))];
    edges.extend(points.iter().copied().filter(|&(time, _)| time > from && time < to));
    edges.push((to, at(points, to)));
    debug_assert!(first.0 <= last.0, "samples are taken in order");
    edges.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum()
}

/// Watts at a time, linear between samples.
fn at(points: &[(f64, f64)], time: f64) -> f64 {
    let after = points.partition_point(|&(sampled, _)| sampled < time);
    match (after.checked_sub(1).and_then(|before| points.get(before)), points.get(after)) {
        (Some(&(t0, p0)), Some(&(t1, p1))) if t1 > t0 => p0 + (p1 - p0) * (time - t0) / (t1 - t0),
        (_, Some(&(_, power))) | (Some(&(_, power)), None) => power,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    /// second   0    1    2    2.5 (first token)   3    4 (end)
    /// node a   10   70   70   70                  40   40
    /// node b   10   10   10   10                  10   10
    /// ```
    fn meter() -> PowerMeter {
        let mut meter = PowerMeter::default();
        for (at, a) in [(0.0, 10.0), (1.0, 70.0), (2.0, 70.0), (2.5, 70.0), (3.0, 40.0), (4.0, 40.0)] {
            meter.sample(at, vec![a, 10.0]);
        }
        assert!(meter.first_token(2.5));
        assert!(!meter.first_token(3.5));
        meter
    }

    fn number(value: &Value) -> f64 {
        value.as_f64().unwrap()
    }

    #[test]
    fn energy_is_the_trapezoid_over_all_nodes_split_at_the_first_token() {
        let usage = meter().usage(&["a".to_owned(), "b".to_owned()], 4.0);
        assert_eq!(number(&usage["prefill_energy_joules"]), 40.0 + 70.0 + 35.0 + 25.0);
        assert_eq!(number(&usage["generation_energy_joules"]), 27.5 + 40.0 + 15.0);
        assert_eq!(number(&usage["total_energy_joules"]), 252.5);
        assert_eq!(number(&usage["total_avg_sys_power_watts"]), 252.5 / 4.0);
        assert_eq!(number(&usage["generation_seconds"]), 1.5);
        assert_eq!(number(&usage["nodes"][1]["avg_sys_power"]), 10.0);
        assert_eq!(usage["nodes"][0]["samples"], 6);
    }

    #[test]
    fn a_split_between_samples_is_interpolated() {
        let points = [(0.0, 0.0), (1.0, 10.0)];
        assert_eq!(integral(&points, 0.5, 1.0), 0.5 * 7.5);
        assert_eq!(integral(&points, 1.0, 3.0), 20.0);
        assert_eq!(integral(&points[..1], 0.0, 2.0), 0.0);
        assert_eq!(integral(&[], 0.0, 2.0), 0.0);
    }

    #[test]
    fn without_a_token_the_phases_are_absent() {
        let mut meter = PowerMeter::default();
        meter.sample(0.0, vec![10.0]);
        let usage = meter.usage(&["a".to_owned()], 2.0);
        assert_eq!(usage["prefill_energy_joules"], Value::Null);
        assert_eq!(usage["nodes"][0]["generation_avg_sys_power"], Value::Null);
        assert_eq!(number(&usage["total_energy_joules"]), 20.0);
    }
}
