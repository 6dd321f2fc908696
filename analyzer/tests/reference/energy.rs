//! Energy against a second implementation (`fixtures/reference/energy.py`).

use analyzer::energy::{self, Channel, Phases, Split, Window};
use analyzer::record::{MetricSeries, SeriesColumns};
use serde_json::Value;

fn series(t_s: Vec<f64>, power: &[f64]) -> MetricSeries {
    let sys_power = power.iter().copied().map(Some).collect();
    MetricSeries {
        node_id: "a".into(),
        source: "exo nodeSystem".into(),
        instance_id: None,
        session: 0,
        interval_s: 1.0,
        poll_s: vec![0.01; t_s.len()],
        t_s,
        columns: SeriesColumns { sys_power, ..SeriesColumns::default() },
        health: None,
    }
}

pub(crate) fn joules_and_uncertainties_are_those_of_the_second_implementation() {
    let reference: Value = serde_json::from_str(include_str!("../../../fixtures/reference/energy.json")).unwrap();
    let cases = reference["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 20);
    for case in cases {
        let number = |key: &str| case[key].as_f64().unwrap();
        let list = |key: &str| -> Vec<f64> { case[key].as_array().unwrap().iter().flat_map(Value::as_f64).collect() };
        let window = Window { from_s: number("from_s"), to_s: number("to_s") };
        let series = series(list("t_s"), &list("power_w"));
        let found =
            energy::read(&[("a", Some(&Channel::of(&series)))], Phases::new(window, Split::At(number("split_s"))));
        let energy = found.energy.unwrap();
        let close = |found: f64, key: &str| {
            assert!((found - number(key)).abs() <= 1e-9 * number(key), "{key}: {found} instead of {}", number(key));
        };
        close(energy.value, "joules");
        close(energy.uncertainty, "uncertainty_j");
        assert_eq!(found.samples as f64, number("samples"));
        let exo = energy::exo_client_joules(&series.t_s, &series.columns.sys_power, window);
        assert_eq!(exo.is_some(), case["exo_j"].is_number());
        if let Some(exo) = exo {
            close(exo, "exo_j");
        }
    }
}
