//! The archive and the plan: what the newest file is held against, and what a design will resolve.

use analyzer::comparison::calibration::{self, CalibratedMetric, Calibration};
use analyzer::comparison::history::{Dated, History, history};
use analyzer::comparison::measured::MeasuredFile;
use analyzer::comparison::planning::{Design, Known, PlannedMetric, plan};
use analyzer::comparison::{CompareError, Options, Verdict};
use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;
use analyzer::record::{Comparability, Provenance};
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
    assert!(found.notices.is_empty(), "the week is of one level: {:?}", found.notices);
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
fn a_change_of_level_is_told_with_its_size_and_the_newest_is_judged_against_it() {
    // Fourteen days, and a tenth slower from the ninth on.
    let rates: Vec<f64> =
        level(30.0, 14).enumerate().map(|(day, rate)| if day < 8 { rate } else { 0.9 * rate }).collect();
    let found = read(&rates);
    assert_eq!(found.level_changes.len(), 1, "{:?}", found.level_changes);
    let change = &found.level_changes[0];
    assert_eq!((change.metric, change.file, change.since.as_str()), (Metric::GenerationTps, 8, "day08"));
    // The three repeats lie evenly around each day's rate; the newest day takes no part.
    let geomean = |days: &[f64]| {
        let repeats = days.iter().flat_map(|rate| [*rate, rate * 1.002, rate * 0.998]);
        (repeats.map(f64::ln).sum::<f64>() / (3 * days.len()) as f64).exp()
    };
    let (before, after) = (geomean(&rates[..8]), geomean(&rates[8..13]));
    assert!((change.before - before).abs() < 1e-9 && (change.after - after).abs() < 1e-9, "{change:?}");
    let percent = 100.0 * (after / before - 1.0);
    assert!((change.change_percent - percent).abs() < 1e-9 && percent < -9.0, "{change:?}");
    assert!(!change.improved);
    assert_eq!(
        found.headline,
        format!(
            "The newest file: no difference found. Generation is {:.1} % slower since day08 (day 8) in the one cell. The newest file is judged against the level \
             since then, so its verdict does not tell of that change.",
            -percent
        )
    );
    assert_eq!(found.against_segments[0].against, "the level since day08");
    // Days 6 and 7 are of the week and of the level before.
    assert!(found.notices[0].starts_with("the level changed within the seven days before the newest"), "{found:?}");
    assert_ne!(found.verdict, Verdict::Regressed, "today is as yesterday");
}

#[test]
fn changes_of_several_cells_are_one_and_times_that_fall_are_better() {
    let of_day = |day: usize| {
        let cells: Vec<Value> = [(512, 8), (1024, 8), (2048, 9), (4096, 99)]
            .iter()
            .flat_map(|(pp, from)| {
                (0..3).map(move |repeat| {
                    let noise = 1.0 + ((day * 37 + pp + repeat * 5) % 17) as f64 / 17.0 * 0.005;
                    let rate = noise * if day < *from { 30.0 } else { 33.0 };
                    json!({
                        "elapsed_s": 10.0 / rate, "output_text_preview": "", "power_usage": null, "model_id": "o/m",
                        "instance_id": "i", "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing",
                        "placement_nodes": 1, "pp_tokens": pp, "tg": 128, "repeat_index": repeat, "concurrency": 1,
                        "stats": {"prompt_tps": 500.0 * noise, "generation_tps": rate, "prompt_tokens": pp,
                            "generation_tokens": 128, "peak_memory_usage": {"inBytes": 7}, "prefix_cache_hit": "none"},
                    })
                })
            })
            .collect();
        let loaded = import::load(&format!("day{day:02}"), json!({ "runs": cells }).to_string().as_bytes()).unwrap();
        Dated {
            file: MeasuredFile::of(&loaded).unwrap(),
            at_s: 1.8e9 + 86400.0 * day as f64,
            at: format!("2027-01-{:02}T08:00:00Z", day + 15),
        }
    };
    let options = Options { metrics: vec![Metric::GenerationTps], ..Options::default() };
    let found = history((0..14).map(of_day).collect(), &options).unwrap();
    let places: Vec<usize> = found.level_changes.iter().map(|change| change.file).collect();
    assert_eq!(places, [8, 8, 9]);
    assert!(found.level_changes.iter().all(|change| change.improved));
    // One a day later is the same change, and its file does not name it.
    let words = "faster since day08 (2027-01-23) in 3 of 4 cells. ";
    assert!(found.headline.contains(". Generation is ") && found.headline.contains(words), "{}", found.headline);
}

#[test]
fn too_few_files_and_no_change_are_told_apart() {
    let few = read(&level(30.0, 6).collect::<Vec<f64>>());
    assert_eq!(few.headline, "The newest file: the same. Levels are sought from 6 files on, the newest not counted.");
    let why = "all files before it (levels are sought from 6 files on, the newest not counted)";
    assert_eq!(few.against_segments[0].against, why);
    let steady = read(&level(30.0, 14).collect::<Vec<f64>>());
    assert_eq!(
        steady.headline,
        "The newest file: the same. No level change was found in 13 files, the newest not counted."
    );
    assert_eq!(steady.against_segments[0].since, "day00");
    let why = "all files before it (no level change was found in 13 files, the newest not counted)";
    assert_eq!(steady.against_segments[0].against, why);
    assert!(steady.level_changes.is_empty());
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

#[test]
fn a_file_of_another_class_is_left_out_and_named() {
    let rates: Vec<f64> = level(30.0, 9).collect();
    let mut files = archive(&rates);
    files[4].file.class = Comparability::AggregateOnly;
    let options = Options { metrics: vec![Metric::GenerationTps], ..Options::default() };
    let found = history(files, &options).unwrap();
    assert_eq!(found.files.len(), 8);
    assert_eq!(
        found.notices,
        [
            "day04 holds aggregates only, the newest (day08) holds requests to an endpoint: not the same quantities; left out"
        ]
    );
    assert_ne!(found.verdict, Verdict::NotComparable);
}

#[test]
fn a_step_that_is_three_files_old_is_still_a_regression() {
    // Until a level has three files of its own beside the newest, they are not what the newest is held against.
    for age in 1..=3 {
        let rates: Vec<f64> = level(30.0, 12).chain(level(24.0, age)).collect();
        let found = read(&rates);
        assert_eq!(found.verdict, Verdict::Regressed, "the step is {age} files old: {:?}", found.against_segments);
    }
    let rates: Vec<f64> = level(30.0, 12).chain(level(24.0, 3)).collect();
    let against = &read(&rates).against_segments[0];
    assert!(against.against.starts_with("the level before day12: "), "{}", against.against);
    let change = against.comparison.cells[0].metrics[0].change_percent.unwrap();
    assert!((-20.5..-19.5).contains(&change), "the whole step: {change}");
    let said = read(&rates).headline;
    assert!(said.starts_with("The newest file: New is ") && said.contains("slower since day12 "), "{said}");
    assert!(said.ends_with("The newest file completes that level and is judged against the one before."), "{said}");
    // From then on the new level is the base, and the change is told as one.
    let rates: Vec<f64> = level(30.0, 12).chain(level(24.0, 4)).collect();
    let found = read(&rates);
    assert_ne!(found.against_segments[0].comparison.verdict, Verdict::Regressed);
    assert!(found.headline.contains("slower since day12"), "{}", found.headline);
}

#[test]
fn files_of_one_instant_have_no_order() {
    let mut files = archive(&[30.0, 30.1, 30.2]);
    files.iter_mut().for_each(|file| (file.at_s, file.at) = (1.8e9, "Monday".to_owned()));
    let found = history(files, &Options::default()).unwrap();
    assert!(found.against_week.is_none());
    assert_eq!(
        found.notices,
        ["no file is of the seven days before the newest: 2 others are of the same instant (Monday), and which was \
          measured first is not known"]
    );
}

#[test]
fn where_the_newest_has_one_session_the_bases_tell_how_much_they_differ() {
    let row = |rates: &[f64], options: &Options| {
        history(archive(rates), options).unwrap().against_week.unwrap().cells[0].metrics[0].clone()
    };
    let options = Options { metrics: vec![Metric::GenerationTps], ..Options::default() };
    let steady: Vec<f64> = [30.0, 30.02, 29.98, 30.01, 29.99, 30.005, 30.025, 30.015].into();
    let wild: Vec<f64> = [30.0, 33.0, 28.0, 31.0, 29.0, 32.0, 30.5, 30.2].into();
    let of_steady = row(&steady, &options);
    let said = &of_steady.warnings;
    assert!(said.iter().any(|warning| warning.starts_with("the base's sessions differ by 0.1 %")), "{said:?}");
    assert!(!said.iter().any(|warning| warning.contains("assumed")), "{said:?}");
    let of_wild = row(&wild, &options);
    assert!(of_steady.resolves_percent < Some(1.0) && of_wild.resolves_percent > Some(10.0));
    // SciPy: t.ppf(0.975, 6) times the deviation of the seven logarithms times sqrt(8 / 7); repeats add to it.
    let logs: Vec<f64> = wild[..7].iter().map(|rate| rate.ln()).collect();
    let mean = logs.iter().sum::<f64>() / 7.0;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 6.0;
    let least = 100.0 * (2.446_911_851 * (variance * 8.0 / 7.0).sqrt()).exp_m1();
    let resolves = of_wild.resolves_percent.unwrap();
    assert!(resolves >= least * 0.999 && resolves < least * 1.05, "{resolves} {least}");
    // Three files say too little, and who declares a deviation is believed.
    let of_few = row(&steady[..4], &options);
    assert!(of_few.warnings.iter().any(|warning| warning.contains("assumed, 1.5 %")), "{of_few:?}");
    let declared = row(&steady, &Options { floor_percent: Some(2.0), ..options });
    assert!(declared.warnings.iter().any(|warning| warning.contains("declared, 2.0 %")), "{declared:?}");
}

/// exo's file of a day with two placements, each served by an instance of its own.
fn of_two_placements(name: &str, rate: f64) -> MeasuredFile {
    let mut loaded = file(name, &[rate, rate * 1.002]);
    loaded.file.runs[1].placement_sharding = Some("Tensor".into());
    loaded.file.runs[1].instance_id = Some("j".into());
    MeasuredFile::of(&loaded).unwrap()
}

#[test]
fn a_calibration_counts_the_sessions_of_each_cell() {
    let files: Vec<MeasuredFile> =
        level(30.0, 6).enumerate().map(|(day, rate)| of_two_placements(&format!("day{day}"), rate)).collect();
    let found = calibration::calibrate(&files).unwrap();
    assert_eq!((found.sessions, found.false_alarms.pairs), (6, 15));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let found = calibration::calibrate(&files[..4]).unwrap();
    assert_eq!(found.sessions, 4);
    assert_eq!(
        found.warnings,
        ["4 sessions say little about how much sessions differ; 5 or more of each cell are wanted"]
    );
    let mut fewer = files.clone();
    fewer[0].cells.truncate(1);
    fewer[1].cells.truncate(1);
    let found = calibration::calibrate(&fewer).unwrap();
    assert_eq!(found.sessions, 6);
    assert!(found.warnings[0].starts_with("4 sessions of the cell with the fewest say little"), "{:?}", found.warnings);
    assert_eq!(found.warnings[1], "1 cell not in every session");
}

#[test]
fn what_is_not_the_same_thing_is_no_calibration() {
    let mut files: Vec<MeasuredFile> = level(30.0, 5).map(|rate| of_two_placements("a", rate)).collect();
    assert_eq!(calibration::unlike(&files), None);
    files[3].cells.iter_mut().for_each(|cell| cell.key.model_id = Some("o/other".to_owned()));
    let found = calibration::calibrate(&files).unwrap();
    assert!(found.warnings[0].starts_with("not the same thing: a is of o/m, a of o/other;"), "{:?}", found.warnings);
    files[3].class = Comparability::EngineInternal;
    let why = calibration::unlike(&files).unwrap();
    assert!(why.starts_with("not the same thing: a holds requests to an endpoint, a holds inside the engine"), "{why}");
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
    // fixtures/reference/power.py: detectable(4, ln 1.03 / error) = 4.2082 standard errors; with the error taken as known, as
    // norm.ppf(0.8) beyond the interval would, it is found in 74 % only.
    assert!((of_three.detects_percent - 4.047_254_420_650_664).abs() < 1e-8, "{of_three:?}");
    assert!(planned(5, 3, known).resolves_percent < of_three.resolves_percent);
    let many_repeats = planned(1, 1000, known).resolves_percent;
    assert!(many_repeats > 2.77, "repeats alone never get below the sessions: {many_repeats}");
}

#[test]
fn a_plan_takes_its_noise_from_the_calibration_before_the_file() {
    let one = file("a", &[30.0, 30.3, 29.7]);
    let of_file = planned(1, 3, Known { file: Some(&one), ..Known::default() });
    assert_eq!(of_file.source, "the file's repeats, assumed floor");
    assert!((of_file.within_percent.unwrap() - 1.0).abs() < 0.01);
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

/// Three sessions of one request each: they tell how much sessions differ and nothing of a session by itself.
#[test]
fn a_plan_of_sessions_with_one_request_does_not_take_the_unknown_for_nothing() {
    let rates = [30.0, 30.3, 29.7];
    let sessions = calibration_of(&rates.map(|rate| file("a", &[rate])));
    let known = Known { calibration: Some(&sessions), ..Known::default() };
    let options = Options { metrics: vec![Metric::GenerationTps], ..Options::default() };
    let found = plan(Design { sessions: 3, repeats: 3 }, known, &options).unwrap();
    let metric = &found.metrics[0];
    assert_eq!(metric.within_percent, None, "{metric:?}");
    assert!(serde_json::to_value(&found).unwrap()["metrics"][0]["within_percent"].is_null());
    // numpy: std(log([30, 30.3, 29.7]), ddof=1), and scipy's t.ppf(0.975, 4) of the mean of three on each side.
    assert!((metric.between_percent - 1.000_037_5).abs() < 1e-6, "{metric:?}");
    let half = 2.776_445_105_197_799 * f64::sqrt(2.0 / 3.0) * metric.between_percent / 100.0;
    assert!((metric.resolves_percent - 100.0 * half.exp_m1()).abs() < 1e-9, "{metric:?}");
    assert_eq!(planned(3, 30, known).resolves_percent, metric.resolves_percent, "nothing tells what repeats gain");
    let said = found.notices.iter().find(|notice| notice.starts_with("the deviation within a session is not known"));
    assert!(said.is_some_and(|said| said.ends_with("the plan resolves this or better")), "{:?}", found.notices);
    assert!(!plan_says_unknown(Known { file: Some(&file("a", &rates)), ..Known::default() }));
}

fn plan_says_unknown(known: Known<'_>) -> bool {
    let found = plan(Design { sessions: 3, repeats: 3 }, known, &Options::default()).unwrap();
    found.notices.iter().any(|notice| notice.contains("within a session"))
}

fn calibration_of(files: &[Loaded]) -> Calibration {
    let files: Vec<MeasuredFile> = files.iter().map(|file| MeasuredFile::of(file).unwrap()).collect();
    calibration::calibrate(&files).unwrap()
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

#[test]
fn a_plan_counts_warm_ups_idling_and_each_placement() {
    let mut loaded = file("a", &[30.0, 30.3]);
    loaded.file.runs[1].placement_sharding = Some("Tensor".into());
    let design = Design { sessions: 2, repeats: 3 };
    let of = |loaded: &Loaded| {
        let known =
            Known { file: Some(loaded), floor_percent: Some(1.0), noise_percent: Some(1.0), ..Known::default() };
        plan(design, known, &Options::default()).unwrap()
    };
    // Each placement has its pauses and its cell.
    let of_cell = 3.0 * 13.0 + 2.0;
    let found = of(&loaded);
    assert_eq!(found.seconds_per_side, Some(2.0 * 2.0 * (8.0 + of_cell)));
    let said = "in the time are requests and pauses; warm-ups, idle baselines and placing the model are not";
    assert!(found.notices.iter().any(|notice| notice == said), "{:?}", found.notices);
    // What a file of the same cells cannot tell is not planned, though the noise is declared.
    let metrics: Vec<Metric> = found.metrics.iter().map(|row| row.metric).collect();
    assert!(metrics.contains(&Metric::GenerationTps) && !metrics.contains(&Metric::Ttft), "{metrics:?}");
    assert!(!metrics.contains(&Metric::Energy), "{metrics:?}");

    let fixture =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/results/exoscope_energy.json")).unwrap();
    let mut ours = import::load("ours", &fixture).unwrap();
    let provenance = |file: &mut Loaded, change: fn(&mut Provenance)| change(file.file.exoscope.as_mut().unwrap());
    provenance(&mut ours, |own| (own.method.warmup, own.method.idle_baseline_s) = (0, None));
    let before = of(&ours);
    provenance(&mut ours, |own| (own.method.warmup, own.method.idle_baseline_s) = (0, Some(15.0)));
    assert_eq!(of(&ours).seconds_per_side, before.seconds_per_side.map(|seconds| seconds + 2.0 * 2.0 * 15.0));
    provenance(&mut ours, |own| own.method.warmup = 2);
    let found = of(&ours);
    let more = found.seconds_per_side.unwrap() - before.seconds_per_side.unwrap() - 60.0;
    assert!(more > 0.0, "two requests a session");
    let said = "2 warm-ups of each placement, 15 s of idling before and after each; placing the model is not";
    assert!(found.notices.iter().any(|notice| notice.ends_with(said)), "{:?}", found.notices);
}

#[test]
fn other_tools_have_none_of_exos_pauses() {
    let text = "[{\"n_prompt\": 512, \"n_gen\": 0, \"avg_ts\": 256.0, \"avg_ns\": 2000000000, \"samples_ts\": [256.0, 256.0, 255.0]}]";
    let loaded = import::load("llama", text.as_bytes()).unwrap();
    let known = Known { file: Some(&loaded), seconds_per_request: Some(2.0), ..Known::default() };
    let found = plan(Design { sessions: 2, repeats: 3 }, known, &Options::default()).unwrap();
    assert_eq!(found.seconds_per_side, Some(2.0 * 3.0 * 2.0));
    assert!(found.notices.iter().any(|notice| notice.starts_with("the time is that of the requests alone")));
}
