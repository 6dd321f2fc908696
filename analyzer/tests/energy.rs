//! Energy against a known truth, and what a reader of a file sees of it.

use analyzer::energy::{self, Channel, Phases, Split, Validity, Window};
use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;
use analyzer::record::{MetricSeries, SeriesColumns};
use analyzer::summary::{self, CellReport, FileReport, MetricSummary};

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

/// Numbers in 0..1 from a seed, the same everywhere (Knuth's MMIX generator).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Idle 30 W, prefill 180 W for a quarter of the window, decode 120 W; a sensor that publishes at a phase of its own, asked
/// once a second and out of turn at the start, the first token and the end. Gives the errors of ours and exo's, percent.
fn errors(draws: &mut Draws, seconds: f64) -> (f64, f64) {
    let from_s = 10.0 + draws.next();
    let (split, to_s) = (from_s + seconds / 4.0, from_s + seconds);
    let phase = draws.next() - 1.0;
    let made: Vec<(f64, f64)> = (0..)
        .map(|count| phase + f64::from(count))
        .take_while(|at| *at < to_s + 5.0)
        .map(|at| {
            let load = match at {
                at if at < from_s || at > to_s => 30.0,
                at if at < split => 180.0,
                _ => 120.0,
            };
            (at, load + draws.next() - 0.5)
        })
        .collect();
    let phase = draws.next();
    let mut t_s: Vec<f64> = (0..).map(|count| phase + f64::from(count)).take_while(|at| *at < to_s + 4.0).collect();
    t_s.extend([from_s - 0.004, split + 0.002, to_s + 0.003]);
    t_s.sort_by(f64::total_cmp);
    let power: Vec<f64> =
        t_s.iter().map(|t| made[made.partition_point(|(at, _)| at <= t).saturating_sub(1)].1).collect();
    let series = series(t_s, &power);
    let window = Window { from_s, to_s };
    let reading = energy::read(&[("a", Some(&Channel::of(&series)))], Phases::new(window, Split::At(split)));
    let truth = 180.0 * seconds / 4.0 + 120.0 * seconds * 0.75;
    let error = |joules: f64| 100.0 * (joules / truth - 1.0).abs();
    // Without a poll inside exo prints 0 J.
    let exo = energy::exo_client_joules(&series.t_s, &series.columns.sys_power, window).unwrap_or(0.0);
    (error(reading.energy.unwrap().value), error(exo))
}

#[test]
fn our_mean_error_is_at_most_a_third_of_exos_at_every_length() {
    let mut draws = Draws(7);
    for seconds in [3.0, 5.0, 10.0, 30.0] {
        let all: Vec<(f64, f64)> = (0..500).map(|_| errors(&mut draws, seconds)).collect();
        let ours = all.iter().map(|error| error.0).sum::<f64>() / 500.0;
        let exos = all.iter().map(|error| error.1).sum::<f64>() / 500.0;
        println!("{seconds:4} s  mean error of the energy: ours {ours:.2} %, exo's {exos:.2} %");
        assert!(ours <= exos / 3.0, "{seconds} s: ours {ours:.2} %, exo's {exos:.2} %");
    }
}

fn report(name: &str) -> FileReport {
    summary::report(&loaded(name)).unwrap()
}

fn loaded(name: &str) -> Loaded {
    let path = format!("{}/../fixtures/results/{name}", env!("CARGO_MANIFEST_DIR"));
    #[allow(clippy::disallowed_methods)]
    let bytes = std::fs::read(path).unwrap();
    import::load(name, &bytes).unwrap()
}

fn metric(cell: &CellReport, metric: Metric) -> Option<&MetricSummary> {
    cell.metrics.iter().find(|found| found.metric == metric)
}

#[test]
fn long_windows_tell_gross_net_phases_and_joules_per_token() {
    let report = report("exoscope_energy.json");
    let cell = &report.cells[0];
    let of = |which: Metric| metric(cell, which).unwrap_or_else(|| panic!("{which:?}")).median;
    // Made of 152 and 116 W on one node and 86 % of it on the other; 38 W at rest.
    let (prefill_s, decode_s) = (of(Metric::Ttft), of(Metric::Elapsed) - of(Metric::Ttft));
    let truth = 1.86 * (152.0 * prefill_s + 116.0 * decode_s);
    assert!((of(Metric::Energy) / truth - 1.0).abs() < 0.02, "{} J of {truth} J", of(Metric::Energy));
    assert!((of(Metric::EnergyPrefill) / (1.86 * 152.0 * prefill_s) - 1.0).abs() < 0.02);
    let idle = 1.86 * 38.0 * of(Metric::Elapsed);
    assert!((of(Metric::Energy) - of(Metric::EnergyNet) - idle).abs() < 0.03 * idle);
    assert!((of(Metric::IdleShare) - 100.0 * idle / truth).abs() < 1.0);
    assert!((of(Metric::JoulesPerGeneratedToken) - 1.86 * 116.0 * decode_s / 384.0).abs() < 0.2);
    assert!((of(Metric::JoulesPerPromptToken) - of(Metric::EnergyPrefill) / 2048.0).abs() < 1e-3);
    assert!(of(Metric::EnergyExoClient) < of(Metric::Energy), "exo's drops the edges");
    assert!(metric(cell, Metric::Energy).unwrap().uncertainty_percent.unwrap() < 3.0);
    assert_eq!(metric(cell, Metric::Energy).unwrap().sessions, [0, 0, 0]);
    let [a, b] = cell.nodes.as_slice() else { panic!("{:?}", cell.nodes) };
    assert_eq!((a.label.as_str(), b.label.as_str()), ("lab-studio-1", "lab-studio-2"));
    assert!((b.joules / a.joules - 0.86).abs() < 0.01 && (a.prefill_joules.unwrap() / 152.0 - prefill_s).abs() < 0.05);
    let mean = metric(cell, Metric::Energy).unwrap().mean;
    assert!((a.joules + b.joules - mean).abs() < 1e-9 * mean, "the nodes add up");
    let together = &report.cells[1];
    assert_eq!((together.nodes.len(), together.nodes[0].prefill_joules), (2, None));
    assert_eq!(together.key.concurrency, Some(4));
    assert!(metric(together, Metric::EnergyPrefill).is_none(), "phases overlap");
    assert!(metric(together, Metric::JoulesPerGeneratedToken).is_none());
    assert!(metric(together, Metric::JoulesPerGeneratedTokenBatch).is_some());
}

#[test]
fn short_windows_say_what_would_do_instead_of_a_number() {
    for cell in report("exoscope_short_windows.json").cells {
        assert!(metric(&cell, Metric::Energy).is_none());
        assert!(metric(&cell, Metric::Power).is_none());
        let [absent] = cell.absent.as_slice() else { panic!("{:?}", cell.absent) };
        assert!(absent.codes.contains(&Validity::TooFewSamples), "{absent:?}");
        assert!(absent.why.starts_with("window too short: "), "{}", absent.why);
        assert!(absent.why.contains("5 are needed; about --tg "), "{}", absent.why);
    }
}

#[test]
fn many_short_windows_tell_one_energy_together() {
    let report = report("exoscope_accumulated.json");
    let cell = &report.cells[0];
    let energy = metric(cell, Metric::Energy).unwrap();
    assert_eq!((energy.n, cell.batches), (1, 12));
    assert!(energy.warnings.iter().any(|words| words.starts_with("accumulated over 12 windows")), "{energy:?}");
    let (first, all) = (metric(cell, Metric::Ttft).unwrap().mean, metric(cell, Metric::Elapsed).unwrap().mean);
    let truth = 1.86 * (152.0 * first + 116.0 * (all - first));
    assert!((energy.mean / truth - 1.0).abs() < 0.03, "{} J of {truth} J", energy.mean);
}

#[test]
fn a_node_whose_sensor_stood_still_is_named_and_its_batches_have_no_energy() {
    let report = report("exoscope_frozen_node.json");
    assert!(report.notices.contains(&"power of node lab-studio-2 froze for 31 s".to_owned()), "{:?}", report.notices);
    let cells: Vec<_> = report.cells.iter().filter_map(|cell| metric(cell, Metric::Energy)).collect();
    assert_eq!(cells.iter().map(|energy| energy.n).collect::<Vec<_>>(), [2, 2, 3, 3]);
    let words = "1 of 3 batches has no energy: the readings of node lab-studio-2 stood still for more than 5 s";
    assert!(cells[0].warnings.iter().any(|warning| warning.starts_with(words)), "{:?}", cells[0].warnings);
}

#[test]
fn each_fault_names_the_node_that_has_it() {
    let seconds: Vec<f64> = (0..40).map(f64::from).collect();
    let frozen = Channel::of(&series(seconds, &[50.0; 40]));
    let phases = Phases::new(Window { from_s: 5.0, to_s: 30.0 }, Split::Unknown);
    let reading = energy::read(&[("frozen", Some(&frozen)), ("missing", None)], phases);
    assert_eq!(reading.culprits[&Validity::CounterStalled], "frozen");
    assert_eq!(reading.culprits[&Validity::NodeMissing], "missing");
}

#[test]
fn a_file_without_a_baseline_has_no_net_energy_and_one_without_nodes_no_energy() {
    let mut file = loaded("exoscope_energy.json");
    file.file.idle_windows.clear();
    let cell = &summary::report(&file).unwrap().cells[0];
    assert!(metric(cell, Metric::Energy).is_some() && metric(cell, Metric::EnergyNet).is_none());
    for run in &mut file.file.runs {
        run.exoscope.as_mut().unwrap().placement = None;
    }
    let cell = &summary::report(&file).unwrap().cells[0];
    assert_eq!(cell.absent[0].codes, [Validity::UnknownNodes]);
}
