//! The archive and the plan: what the newest file is held against, and what a design will resolve.

use analyzer::comparison::calibration::{CalibratedMetric, Calibration};
use analyzer::comparison::history::{Dated, History, history};
use analyzer::comparison::measured::MeasuredFile;
use analyzer::comparison::planning::{Design, Known, PlannedMetric, plan};
use analyzer::comparison::{CompareError, Options, Verdict};
use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;
use serde_json::{Value, json};

fn file(name: &str, rates: &[f64]) -> Loaded {
    let rows: Vec<Value> = rates
        .iter()
        .enumerate()
        .map(|(repeat, rate)| {
            json!({
                "elapsed_s": 10.0, "output_text_preview": "", "power_usage": null, "model_id": "o/m", "instance_id": "i",
                "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing", "placement_nodes": 1,
                "pp_tokens": 512, "tg": 128, "repeat_index": repeat, "concurrency": 1,
                "stats": {"prompt_tps": 20.0 * rate, "generation_tps": rate, "prompt_tokens": 512,
                    "generation_tokens": 128, "peak_memory_usage": {"inBytes": 7}, "prefix_cache_hit": "none"},
            })
        })
        .collect();
    import::load(name, json!({ "runs": rows }).to_string().as_bytes()).unwrap()
}

/// One file a day: its decode rate, with three repeats around it.
fn archive(rates: &[f64]) -> Vec<Dated> {
    rates
        .iter()
        .enumerate()
        .map(|(day, rate)| Dated {
            file: MeasuredFile::of(&file(&format!("day{day:02}"), &[*rate, rate * 1.002, rate * 0.998])).unwrap(),
            at_s: 1.8e9 + 86400.0 * day as f64,
            at: format!("day {day}"),
        })
        .collect()
}

/// A steady level with a little noise of sessions, which is the same in every run of the test.
fn level(rate: f64, days: usize) -> impl Iterator<Item = f64> {
    (0..days).map(move |day| rate * (1.0 + ((day * 37 + 11) % 17) as f64 / 17.0 * 0.01))
}

fn read(rates: &[f64]) -> History {
    history(archive(rates), &Options { metrics: vec![Metric::GenerationTps], ..Options::default() }).unwrap()
}

#[test]
fn the_newest_is_held_against_the_week_and_against_the_last_level() {
    // A step up twelve days ago; today is back at the old level.
    let rates: Vec<f64> = level(30.0, 10).chain(level(33.0, 12)).chain([30.1]).collect();
    let found = read(&rates);
    assert_eq!(found.cells[0].segments, [0, 10]);
    assert_eq!(found.cells[0].points.len(), 23);
    let week = found.against_week.as_ref().unwrap();
    assert_eq!(week.cells[0].metrics[0].base.as_ref().unwrap().sessions, 7, "seven days, one file each");
    assert_eq!(week.verdict, Verdict::Regressed);
    let segment = &found.against_segments[0];
    assert_eq!((segment.metric, segment.since.as_str()), (Metric::GenerationTps, "day10"));
    assert_eq!(segment.comparison.cells[0].metrics[0].base.as_ref().unwrap().sessions, 12);
    assert_eq!(found.verdict, Verdict::Regressed);
}

#[test]
fn a_steady_archive_raises_nothing_in_whatever_order_it_is_read() {
    let rates: Vec<f64> = level(30.0, 15).collect();
    let found = read(&rates);
    assert_eq!(found.cells[0].segments, [0]);
    assert!(!matches!(found.verdict, Verdict::Regressed | Verdict::Improved), "{:?}", found.verdict);
    let mut backwards = archive(&rates);
    backwards.reverse();
    let options = Options { metrics: vec![Metric::GenerationTps], ..Options::default() };
    assert_eq!(history(backwards, &options).unwrap(), found);
}

#[test]
fn one_file_alone_has_nothing_to_be_held_against() {
    let found = read(&[30.0]);
    assert!(found.against_week.is_none() && found.against_segments.is_empty());
    assert_eq!(found.verdict, Verdict::NotComparable);
    assert_eq!(found.notices, ["no file is of the seven days before the newest"]);
    assert!(matches!(history(Vec::new(), &Options::default()), Err(CompareError::Nothing)));
}

#[test]
fn a_copy_in_the_archive_is_left_out_and_named() {
    let mut files = archive(&[30.0, 30.2]);
    files.push(Dated { file: MeasuredFile { name: "copy".into(), ..files[0].file.clone() }, ..files[0].clone() });
    let found = history(files, &Options::default()).unwrap();
    assert_eq!(found.files.len(), 2);
    assert!(found.notices.iter().any(|notice| notice.ends_with("and is left out")), "{:?}", found.notices);
}

fn planned(sessions: u32, repeats: u32, known: Known<'_>) -> PlannedMetric {
    let options = Options { metrics: vec![Metric::GenerationTps], ..Options::default() };
    plan(Design { sessions, repeats }, known, &options).unwrap().metrics.remove(0)
}

#[test]
fn a_plan_resolves_what_the_formula_says() {
    let known = Known { floor_percent: Some(1.0), noise_percent: Some(1.0), ..Known::default() };
    // scipy: t.ppf(0.975, 4) * sqrt((0.01**2 / 3 + 0.01**2) * 2 / 3), as a percentage of the base.
    let of_three = planned(3, 3, known);
    let error = f64::sqrt((1e-4 / 3.0 + 1e-4) * 2.0 / 3.0);
    let half = 2.776_445_105_197_799 * error;
    assert!((of_three.resolves_percent - 100.0 * half.exp_m1()).abs() < 1e-9, "{of_three:?}");
    // norm.ppf(0.8), and no change below the 3 % that matter is ever called one.
    let detects = 100.0 * (half.max(1.03_f64.ln()) + 0.841_621_233_572_914_3 * error).exp_m1();
    assert!((of_three.detects_percent - detects).abs() < 1e-9, "{of_three:?}");
    assert!(planned(5, 3, known).resolves_percent < of_three.resolves_percent);
    let many_repeats = planned(1, 1000, known).resolves_percent;
    assert!(many_repeats > 2.77, "repeats alone never get below the sessions: {many_repeats}");
}

#[test]
fn a_plan_takes_its_noise_from_the_calibration_before_the_file() {
    let one = file("a", &[30.0, 30.3, 29.7]);
    let of_file = planned(1, 3, Known { file: Some(&one), ..Known::default() });
    assert_eq!(of_file.source, "the file's repeats, assumed floor");
    assert!((of_file.within_percent - 1.0).abs() < 0.01);
    let calibration = Calibration::of_metrics(vec![CalibratedMetric {
        metric: Metric::GenerationTps,
        cells: 1,
        fewest_values: 15,
        within_percent: Some(0.5),
        within_freedom: Some(10.0),
        between_percent: 2.0,
        between_freedom: Some(4.0),
    }]);
    let of_both = planned(1, 3, Known { file: Some(&one), calibration: Some(&calibration), ..Known::default() });
    assert_eq!((of_both.source.as_str(), of_both.between_percent.round()), ("calibration", 2.0));
}

#[test]
fn a_plan_knows_how_long_it_takes_or_says_nothing() {
    let one = file("a", &[30.0, 30.3, 29.7]);
    let seconds = |known: Known<'_>| {
        plan(Design { sessions: 2, repeats: 3 }, known, &Options::default()).unwrap().seconds_per_side
    };
    // exo's pauses: 2 + 1 + 5 a session, 3 before each repeat and 2 after the group; requests of 10 s.
    assert_eq!(seconds(Known { file: Some(&one), ..Known::default() }), Some(2.0 * (8.0 + 3.0 * 13.0 + 2.0)));
    assert_eq!(
        seconds(Known { seconds_per_request: Some(1.0), ..Known::default() }),
        Some(2.0 * (8.0 + 3.0 * 4.0 + 2.0))
    );
    assert_eq!(seconds(Known::default()), None);
    let nothing = plan(Design { sessions: 2, repeats: 3 }, Known::default(), &Options::default()).unwrap();
    assert!(nothing.metrics.is_empty() && nothing.notices[0].starts_with("the noise is not known"));
}
