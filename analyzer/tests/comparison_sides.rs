//! Sides of several files, calibrations, the geometric mean, the words and what other tools would have said.

use analyzer::comparison::calibration::{CalibratedMetric, Calibration, calibrate};
use analyzer::comparison::measured::MeasuredFile;
use analyzer::comparison::{self, CompareError, Comparison, GeomeanComparison, MetricComparison, Options, Verdict};
use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;
use proptest::prelude::*;
use serde_json::{Value, json};

/// exo's file of some cells at concurrency 1, one session: prompt tokens and decode rates; the prefill rate is 20 times it.
fn file(name: &str, cells: &[(u64, &[f64])]) -> Loaded {
    let rows = cells.iter().flat_map(|(pp, rates)| {
        rates.iter().enumerate().map(move |(repeat, rate)| {
            json!({
                "elapsed_s": *pp as f64 / (20.0 * rate) + 127.0 / rate, "output_text_preview": "", "power_usage": null,
                "model_id": "o/m", "instance_id": "i", "placement_sharding": "Pipeline",
                "placement_instance_meta": "MlxRing", "placement_nodes": 1, "pp_tokens": pp, "tg": 128,
                "repeat_index": repeat, "concurrency": 1,
                "stats": {"prompt_tps": 20.0 * rate, "generation_tps": rate, "prompt_tokens": pp,
                    "generation_tokens": 128, "peak_memory_usage": {"inBytes": 7}, "prefix_cache_hit": "none"},
            })
        })
    });
    import::load(name, json!({ "runs": rows.collect::<Vec<Value>>() }).to_string().as_bytes()).unwrap()
}

/// Files of one cell, a session each.
fn sessions(name: &str, rates: &[&[f64]]) -> Vec<Loaded> {
    rates.iter().enumerate().map(|(place, rates)| file(&format!("{name}{place}"), &[(512, rates)])).collect()
}

fn measured(files: &[Loaded]) -> Vec<MeasuredFile> {
    files.iter().map(|file| MeasuredFile::of(file).unwrap()).collect()
}

fn sides(base: &[Loaded], new: &[Loaded]) -> Comparison {
    comparison::compare_sides(&measured(base), &measured(new), &Options::default()).unwrap()
}

fn rows(comparison: &Comparison, metric: Metric) -> Vec<&MetricComparison> {
    comparison.cells.iter().flat_map(|cell| &cell.metrics).filter(|row| row.metric == metric).collect()
}

fn geomean(comparison: &Comparison, metric: Metric) -> &GeomeanComparison {
    comparison.geomean.iter().find(|row| row.metric == metric).unwrap()
}

/// Values around a level that are the same in every run of the test.
fn around(level: f64, percent: f64, count: usize) -> Vec<f64> {
    (0..count).map(|at| level * (1.0 + percent / 100.0 * (((at * 37 + 11) % 17) as f64 / 8.0 - 1.0))).collect()
}

#[test]
fn one_session_against_several_is_judged_by_what_the_several_differ_by() {
    let of = |rates: &[f64]| -> Vec<Loaded> {
        let all: Vec<Vec<f64>> = rates.iter().map(|rate| vec![*rate, rate * 1.001, rate * 0.999]).collect();
        sessions("a", &all.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let new = [file("b", &[(512, &[28.0, 28.1, 27.9])])];
    let judged = |base: &[f64]| rows(&sides(&of(base), &new), Metric::GenerationTps)[0].clone();
    // Seven sessions that differ by 6 %: 7 % less is nothing that they would not do themselves.
    let wild = judged(&around(30.0, 6.0, 7));
    assert_eq!(wild.verdict, Some(Verdict::Undecided), "{wild:?}");
    assert!(wild.warnings.iter().any(|said| said.starts_with("the base's sessions differ by ")), "{wild:?}");
    // Seven that agree within 0.2 % know it, where the assumed 1.5 % would not say more.
    let steady = judged(&around(30.0, 0.1, 7));
    assert_eq!(steady.verdict, Some(Verdict::Regressed));
    assert!(steady.resolves_percent < Some(1.0), "{steady:?}");
    // Two that are far apart say that the assumed deviation is too small, and no more.
    let two = judged(&[26.0, 34.0]);
    assert_eq!(two.verdict, Some(Verdict::Undecided));
    assert!(two.warnings.iter().any(|said| said.starts_with("the base's sessions are few and differ by 1")), "{two:?}");
    let near = judged(&[30.0, 30.02]);
    assert!(near.warnings.iter().any(|said| said.contains("assumed, 1.5 %")), "{near:?}");
    // The other way round is the same.
    let turned = sides(&new, &of(&around(30.0, 6.0, 7)));
    let turned = rows(&turned, Metric::GenerationTps)[0];
    assert!((turned.p.unwrap() - wild.p.unwrap()).abs() < 1e-12);
    assert!(turned.warnings.iter().any(|said| said.starts_with("the new side's sessions differ by ")), "{turned:?}");
}

#[test]
fn sessions_of_a_file_that_step_count_as_one_and_say_where() {
    // As a loop's log: each request another instance, a step of 15 % in the middle.
    let each_another = |mut loaded: Loaded| {
        for (place, run) in loaded.file.runs.iter_mut().enumerate() {
            (run.instance_id, run.repeat_index) = (Some(format!("i{place}").into()), Some(0));
        }
        loaded
    };
    let levels: Vec<f64> = around(30.0, 0.2, 20).into_iter().chain(around(25.5, 0.2, 20)).collect();
    let stepping = each_another(file("loop", &[(512, &levels)]));
    let steady = each_another(file("other", &[(512, &around(28.0, 0.2, 40))]));
    let found = sides(&[stepping], &[steady]);
    let row = rows(&found, Metric::GenerationTps)[0];
    let said = "the base steps by −15.0 % at session 21 of 40: they count as one, and its mean is of no one level";
    assert!(row.warnings.iter().any(|warning| warning == said), "{:?}", row.warnings);
    assert!(row.resolves_percent > Some(10.0), "{row:?}");
}

#[test]
fn eight_sessions_that_step_half_way_are_no_level_either() {
    let each_another = |mut loaded: Loaded, name: &str| {
        for (place, run) in loaded.file.runs.iter_mut().enumerate() {
            (run.instance_id, run.repeat_index) = (Some(format!("{name}{place}").into()), Some(0));
        }
        loaded
    };
    let levels: Vec<f64> = around(30.0, 0.5, 4).into_iter().chain(around(24.0, 0.5, 4)).collect();
    let stepping = each_another(file("a", &[(512, &levels)]), "i");
    let steady = each_another(file("b", &[(512, &around(30.0, 0.5, 8))]), "j");
    let row = rows(&sides(&[stepping], &[steady]), Metric::GenerationTps)[0].clone();
    assert!(
        row.warnings.iter().any(|said| said.starts_with("the base steps by −20.") && said.contains("session 5 of 8"))
    );
    assert_eq!(row.verdict, Some(Verdict::Undecided), "{row:?}");
}

#[test]
fn a_cell_whose_sessions_are_restless_is_judged_by_its_own() {
    // Seven cells agree within 0.3 % from session to session, one swings by 6 %.
    let of = |name: &str, swing: [f64; 3]| -> Vec<Loaded> {
        let session = |at: usize| {
            let cells: Vec<(u64, Vec<f64>)> = (0..8_u64)
                .map(|cell| {
                    let wild = if cell == 3 { swing[at] } else { 1.0 + 0.003 * ((at as u64 * 5 + cell) % 3) as f64 };
                    (512 << cell, [1.0, 1.002, 0.998].map(|repeat| 30.0 * wild * repeat).to_vec())
                })
                .collect();
            let cells: Vec<(u64, &[f64])> = cells.iter().map(|(pp, rates)| (*pp, rates.as_slice())).collect();
            file(&format!("{name}{at}"), &cells)
        };
        (0..3).map(session).collect()
    };
    let found = sides(&of("a", [1.0, 1.06, 0.95]), &of("b", [0.94, 0.99, 0.9]));
    let rows = rows(&found, Metric::GenerationTps);
    let wild = &rows[3];
    assert!(wild.warnings.iter().any(|said| said.starts_with("its sessions differ by more than those")), "{wild:?}");
    assert_eq!(wild.verdict, Some(Verdict::Undecided), "{wild:?}");
    assert!(rows.iter().enumerate().all(|(cell, row)| cell == 3 || row.resolves_percent < Some(1.0)), "{rows:?}");
}

#[test]
fn one_cell_and_all_of_its_cells_have_one_verdict() {
    // 3.7 % less: p is 0.044 in the one cell, and 0.089 adjusted for the two metrics that are judged.
    let base = sessions("a", &[&[30.350725, 30.059229, 30.125272], &[30.4, 29.937783, 29.838805]]);
    for percent in [3.2, 3.4, 3.6, 3.8, 4.0, 4.2, 6.0] {
        let rates = around(30.1 * (1.0 - percent / 100.0), 0.5, 5);
        let found = sides(&base, &[file("b", &[(512, &rates)])]);
        for metric in [Metric::PrefillTps, Metric::GenerationTps] {
            let (row, whole) = (rows(&found, metric)[0], geomean(&found, metric));
            assert_eq!((row.verdict, row.p_adjusted), (whole.verdict, whole.p_adjusted), "{percent} % {metric:?}");
        }
    }
}

#[test]
fn each_file_of_a_side_is_a_session_and_their_deviation_is_measured() {
    let base = sessions("a", &[&[30.0, 30.1, 29.9], &[30.4, 30.5, 30.3], &[29.6, 29.7, 29.5]]);
    let new = sessions("b", &[&[27.0, 27.1, 26.9], &[27.3, 27.4, 27.2], &[26.7, 26.8, 26.6]]);
    let found = sides(&base, &new);
    assert_eq!((found.base.as_str(), found.new.as_str()), ("a0 + a1 + a2", "b0 + b1 + b2"));
    let row = rows(&found, Metric::GenerationTps)[0];
    let of_base = row.base.as_ref().unwrap();
    assert_eq!((of_base.n, of_base.sessions), (9, 3));
    assert_eq!(row.verdict, Some(Verdict::Regressed));
    assert_eq!(row.words, "regressed");
    assert!(row.warnings.iter().all(|warning| !warning.contains("assumed")), "{row:?}");
    // scipy.stats.ttest_ind of the six session means of logarithms: three against three leave four degrees of freedom.
    let means = |files: &[&[f64]]| -> Vec<f64> {
        files
            .iter()
            .map(|values| values.iter().map(|value: &f64| value.ln()).sum::<f64>() / values.len() as f64)
            .collect()
    };
    let a = means(&[&[30.0, 30.1, 29.9], &[30.4, 30.5, 30.3], &[29.6, 29.7, 29.5]]);
    let b = means(&[&[27.0, 27.1, 26.9], &[27.3, 27.4, 27.2], &[26.7, 26.8, 26.6]]);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &[f64]| values.iter().map(|value| (value - mean(values)).powi(2)).sum::<f64>();
    let error = ((squares(&a) + squares(&b)) / 4.0 * 2.0 / 3.0).sqrt();
    // The 97.5 % point of Student's t with 4 degrees of freedom.
    let half = 2.776_445_105_197_799 * error;
    let expected = 100.0 * (mean(&b) - mean(&a) - half).exp_m1();
    assert!((row.interval_percent.unwrap()[0] - expected).abs() < 1e-9, "{row:?} and {expected}");
}

#[test]
fn the_same_measurement_twice_on_a_side_is_refused() {
    let one = sessions("a", &[&[30.0, 30.1]]);
    let twice = [one[0].clone(), Loaded { name: "copy".into(), ..one[0].clone() }];
    let error = comparison::compare_sides(&measured(&twice), &measured(&one), &Options::default()).unwrap_err();
    assert!(matches!(error, CompareError::Twice { .. }));
    assert!(error.to_string().starts_with("a0 and copy hold the same measurement"), "{error}");
    assert!(matches!(comparison::compare_sides(&[], &measured(&one), &Options::default()), Err(CompareError::Nothing)));
}

#[test]
fn the_words_are_these() {
    let steady: &[f64] = &[30.0, 30.1, 29.9];
    let one = |rates: &[f64], options: Options| {
        let found = comparison::compare(&file("a", &[(512, steady)]), &file("b", &[(512, rates)]), &options).unwrap();
        rows(&found, Metric::GenerationTps)[0].words.clone()
    };
    assert_eq!(one(&[33.0, 33.1, 32.9], Options::default()), "improved");
    assert_eq!(one(&[27.0, 27.1, 26.9], Options::default()), "regressed");
    assert_eq!(one(steady, Options { delta_percent: 10.0, ..Options::default() }), "same within ±10 %");
    assert!(one(steady, Options::default()).starts_with("no difference found (this pair resolves ≥ 4."));
    let found = sides(&[file("a", &[(512, steady)])], &[file("b", &[(64, steady)])]);
    assert_eq!(rows(&found, Metric::GenerationTps)[0].words, "not comparable (only the base has it)");
}

#[test]
fn a_change_of_all_cells_is_one_of_the_geometric_mean() {
    let cells = |by: f64| -> Vec<(u64, Vec<f64>)> {
        (0..6_u64)
            .map(|cell| (512 << cell, [30.0, 30.2, 29.8].map(|rate| rate * by / (cell + 1) as f64).to_vec()))
            .collect()
    };
    let load = |name: &str, cells: &[(u64, Vec<f64>)]| {
        file(name, &cells.iter().map(|(pp, rates)| (*pp, rates.as_slice())).collect::<Vec<_>>())
    };
    let found = sides(&[load("a", &cells(1.0))], &[load("b", &cells(0.9))]);
    let row = geomean(&found, Metric::GenerationTps);
    assert_eq!(row.cells, 6);
    assert!((row.change_percent.unwrap() + 10.0).abs() < 1e-9, "{row:?}");
    assert_eq!(row.verdict, Some(Verdict::Regressed));
    // Six cells of one session each are one session: what sessions differ by does not average out.
    assert!(row.resolves_percent.unwrap() > 4.2, "1.96 · 1.5 % · √2: {row:?}");
}

#[test]
fn only_the_metrics_that_were_asked_for_are_compared() {
    let options = Options { metrics: vec![Metric::GenerationTps], ..Options::default() };
    let one = file("a", &[(512, &[30.0, 30.1])]);
    let found = comparison::compare(&one, &one, &options).unwrap();
    assert_eq!(found.cells[0].metrics.iter().map(|row| row.metric).collect::<Vec<_>>(), [Metric::GenerationTps]);
    assert_eq!(found.geomean.len(), 1);
}

#[test]
fn a_calibration_stands_in_for_the_assumed_floor_and_lends_its_repeats_to_single_shots() {
    let noise = [0.8, -1.1, 0.3, 1.4, -0.6, -0.2, 0.9, -1.5];
    let files: Vec<Loaded> = noise
        .iter()
        .enumerate()
        .map(|(place, percent)| {
            let rate = 30.0 * (1.0 + 2.5 * percent / 100.0);
            file(&format!("s{place}"), &[(512, &[rate, rate * 1.002, rate * 0.998])])
        })
        .collect();
    let calibration = calibrate(&measured(&files)).unwrap();
    assert_eq!((calibration.sessions, calibration.models.as_slice()), (8, ["o/m".to_owned()].as_slice()));
    let found = calibration.metrics.iter().find(|found| found.metric == Metric::GenerationTps).unwrap();
    // By numpy from the same numbers: the variance of the session means of logarithms, less a third of that within.
    assert!((found.between_percent - 2.565852155738016).abs() < 1e-9, "{found:?}");
    assert!((found.within_percent.unwrap() - 0.2).abs() < 0.001, "{found:?}");
    let alarms = &calibration.false_alarms;
    assert_eq!(alarms.pairs, 28);
    assert!(alarms.left_out);
    assert!(alarms.with_calibration * 20 <= alarms.verdicts, "at most one in twenty: {alarms:?}");
    assert!(alarms.with_repeats_alone > alarms.with_calibration, "sessions do differ here: {alarms:?}");
    assert_eq!(calibration.objection(), None);

    let options =
        Options { calibration: Some(calibration), metrics: vec![Metric::GenerationTps], ..Options::default() };
    let (base, new) = (file("a", &[(512, &[30.0])]), file("b", &[(512, &[25.0])]));
    let compared = comparison::compare(&base, &new, &options).unwrap();
    let row = rows(&compared, Metric::GenerationTps)[0];
    assert_eq!(row.verdict, Some(Verdict::Regressed));
    assert!(row.warnings.iter().any(|warning| warning.contains("from the calibration")), "{row:?}");
    assert!(row.warnings.iter().any(|warning| warning.starts_with("single shot")), "{row:?}");
    let mut other = base;
    other.file.runs[0].model_id = Some("o/other".into());
    let compared = comparison::compare(&other, &other, &options).unwrap();
    assert!(compared.warnings.iter().any(|warning| warning.starts_with("the calibration is of o/m")), "{compared:?}");
}

#[test]
fn one_session_is_no_calibration() {
    assert!(matches!(calibrate(&measured(&sessions("a", &[&[30.0, 30.1]]))), Err(CompareError::OneSession)));
}

#[test]
fn a_declared_floor_takes_the_place_of_the_assumed_one() {
    let one = file("a", &[(512, &[30.0, 30.01, 29.99])]);
    let resolves = |floor| {
        let options = Options { floor_percent: Some(floor), ..Options::default() };
        let found = comparison::compare(&one, &one, &options).unwrap();
        rows(&found, Metric::GenerationTps)[0].resolves_percent.unwrap()
    };
    assert!(resolves(0.0) < 0.1 && resolves(5.0) > 13.0, "{} {}", resolves(0.0), resolves(5.0));
    let options = Options { floor_percent: Some(f64::NAN), ..Options::default() };
    assert!(matches!(comparison::compare(&one, &one, &options), Err(CompareError::Floor(_))));
}

/// The rows of the decode rate and of its geometric mean, of a base whose sessions have two cells of these rates.
fn rows_of(base: &[[f64; 5]], options: &Options) -> (Vec<MetricComparison>, GeomeanComparison) {
    let side = |name: &str, sessions: &[[f64; 5]]| -> Vec<Loaded> {
        let cells = |rates: &[f64; 5], by: f64| rates.map(|rate| rate * by);
        let named = sessions.iter().zip(0..);
        named
            .map(|(rates, place)| {
                file(&format!("{name}{place}"), &[(512, rates.as_slice()), (4096, &cells(rates, 0.7))])
            })
            .collect()
    };
    let steady = [[30.1, 30.7, 29.5, 30.4, 29.8], [30.0, 30.6, 29.4, 30.3, 29.7], [29.9, 30.5, 29.3, 30.2, 29.6]];
    let new = side("new", &steady[..base.len()]);
    let found = comparison::compare_sides(&measured(&side("base", base)), &measured(&new), options).unwrap();
    let of_cells = rows(&found, Metric::GenerationTps).into_iter().cloned().collect();
    (of_cells, geomean(&found, Metric::GenerationTps).clone())
}

#[test]
fn values_that_drift_widen_the_interval_and_none_is_discarded() {
    let shuffled: [[f64; 5]; 3] =
        [[30.2, 30.8, 29.6, 30.5, 29.9], [30.0, 30.6, 29.4, 30.3, 29.7], [30.1, 30.7, 29.5, 30.4, 29.8]];
    let falling = shuffled.map(|mut rates: [f64; 5]| {
        rates.sort_by(|a, b| b.total_cmp(a));
        rates
    });
    let calibration = Calibration::of_metrics(vec![CalibratedMetric {
        metric: Metric::GenerationTps,
        cells: 1,
        fewest_values: 5,
        within_percent: Some(1.0),
        within_freedom: Some(20.0),
        between_percent: 1.0,
        between_freedom: Some(3.0),
    }]);
    // Sessions measured, assumed, declared not to differ, and known by a calibration.
    for (sessions, options) in [
        (3, Options::default()),
        (1, Options::default()),
        (1, Options { floor_percent: Some(0.0), ..Options::default() }),
        (1, Options { calibration: Some(calibration), ..Options::default() }),
    ] {
        let (calm, calm_whole) = rows_of(&shuffled[..sessions], &options);
        let (moving, moving_whole) = rows_of(&falling[..sessions], &options);
        for (calm, moving) in calm.iter().zip(&moving) {
            let kept = |row: &MetricComparison| row.base.as_ref().map(|side| (side.n, side.median, side.geomean));
            assert_eq!(kept(moving), kept(calm), "no value is taken out");
            assert_eq!(moving.change_percent, calm.change_percent);
            assert!(moving.resolves_percent.unwrap() > 1.02 * calm.resolves_percent.unwrap(), "{calm:?}\n{moving:?}");
            let says = |row: &MetricComparison| row.warnings.iter().any(|said| said.starts_with("the base drifts"));
            assert!(says(moving) && !says(calm), "{moving:?}");
        }
        assert!(moving_whole.resolves_percent.unwrap() > calm_whole.resolves_percent.unwrap(), "{moving_whole:?}");
        let words = "drifts within a session in 2 of 2 cells: their repeats count as one value";
        assert!(moving_whole.warnings.iter().any(|said| said == words), "{moving_whole:?}");
    }
}

#[test]
fn five_values_a_side_have_an_exact_cross_check() {
    let base = file("a", &[(512, &[30.0, 30.2, 29.9, 30.1, 29.8])]);
    let found = sides(&[base], &[file("b", &[(512, &[27.0, 27.2, 26.9, 27.1, 26.8])])]);
    let permutation = rows(&found, Metric::GenerationTps)[0].permutation.unwrap();
    assert_eq!((permutation.p, permutation.least), (2.0 / 252.0, 2.0 / 252.0));
}

#[test]
fn other_tools_words_are_shown_when_asked_for() {
    let (base, new) = (file("a", &[(512, &[30.0, 33.0])]), file("b", &[(512, &[26.0, 27.0])]));
    assert!(sides(&[base.clone()], &[new.clone()]).legacy.is_empty());
    let options = Options { legacy: true, ..Options::default() };
    let found = comparison::compare(&base, &new, &options).unwrap();
    let said: Vec<(&str, f64, f64, &str)> =
        found.legacy.iter().map(|view| (view.tool.as_str(), view.base, view.new, view.said.as_str())).collect();
    assert_eq!(
        said,
        [("exo", 33.0, 27.0, "prints both and no conclusion"), ("asiai", 31.5, 26.5, "regression, significant")]
    );
}

#[test]
fn files_of_a_side_that_differ_among_themselves_are_named() {
    let mut other = file("b", &[(512, &[30.1, 30.2])]);
    other.file.runs.iter_mut().for_each(|run| run.placement_nodes = Some(2));
    let found = sides(&[file("a", &[(512, &[30.0, 30.1])]), other], &[file("c", &[(512, &[30.0, 30.3])])]);
    let words = "the files of the base differ among themselves in: Placement";
    assert!(found.warnings.iter().any(|warning| warning == words), "{:?}", found.warnings);
}

fn side_of_sessions() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(20.0..40.0_f64, 1..4), 1..4)
}

fn loaded(name: &str, sessions: &[Vec<f64>], by: f64) -> Vec<Loaded> {
    let cell = |rates: &Vec<f64>| rates.iter().map(|rate| rate * by).collect::<Vec<f64>>();
    sessions
        .iter()
        .enumerate()
        .map(|(place, rates)| {
            let (short, long) = (cell(rates), cell(&rates.iter().map(|rate| rate * 0.7).collect()));
            file(&format!("{name}{place}"), &[(512, &short), (4096, &long)])
        })
        .collect()
}

fn turned(verdict: Option<Verdict>) -> Option<Verdict> {
    match verdict {
        Some(Verdict::Improved) => Some(Verdict::Regressed),
        Some(Verdict::Regressed) => Some(Verdict::Improved),
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn swapping_the_sides_turns_every_verdict_round(base in side_of_sessions(), new in side_of_sessions()) {
        let (a, b) = (loaded("a", &base, 1.0), loaded("b", &new, 1.0));
        let (there, back) = (sides(&a, &b), sides(&b, &a));
        for (row, other) in there.cells.iter().zip(&back.cells).flat_map(|(a, b)| a.metrics.iter().zip(&b.metrics)) {
            prop_assert_eq!(row.verdict, turned(other.verdict));
            prop_assert_eq!((row.p, row.p_adjusted, row.resolves_percent), (other.p, other.p_adjusted, other.resolves_percent));
            prop_assert_eq!(row.permutation, other.permutation);
        }
        for (row, other) in there.geomean.iter().zip(&back.geomean) {
            prop_assert_eq!(row.verdict, turned(other.verdict));
            prop_assert_eq!((row.p, row.resolves_percent), (other.p, other.resolves_percent));
        }
    }

    #[test]
    fn the_order_of_files_and_repeats_decides_nothing(base in side_of_sessions(), new in side_of_sessions()) {
        let backwards = |sessions: &[Vec<f64>]| -> Vec<Vec<f64>> {
            sessions.iter().rev().map(|rates| rates.iter().rev().copied().collect()).collect()
        };
        let one = sides(&loaded("a", &base, 1.0), &loaded("b", &new, 1.0));
        let other = sides(&loaded("a", &backwards(&base), 1.0), &loaded("b", &backwards(&new), 1.0));
        for (row, other) in one.cells.iter().zip(&other.cells).flat_map(|(a, b)| a.metrics.iter().zip(&b.metrics)) {
            prop_assert_eq!(row.verdict, other.verdict);
            prop_assert_eq!((row.p, row.interval_percent, row.p_adjusted), (other.p, other.interval_percent, other.p_adjusted));
        }
        for (row, other) in one.geomean.iter().zip(&other.geomean) {
            prop_assert_eq!((row.verdict, row.p, row.interval_percent), (other.verdict, other.p, other.interval_percent));
        }
    }

    #[test]
    fn a_faster_machine_changes_no_verdict(base in side_of_sessions(), new in side_of_sessions(), by in 0.01..100.0_f64) {
        let one = sides(&loaded("a", &base, 1.0), &loaded("b", &new, 1.0));
        let other = sides(&loaded("a", &base, by), &loaded("b", &new, by));
        for metric in [Metric::PrefillTps, Metric::GenerationTps] {
            for (row, other) in rows(&one, metric).into_iter().zip(rows(&other, metric)) {
                prop_assert_eq!(row.verdict, other.verdict);
                let change = (row.change_percent.unwrap() - other.change_percent.unwrap()).abs();
                prop_assert!(change <= 1e-9 * row.change_percent.unwrap().abs().max(1.0), "{}", change);
            }
        }
    }
}
