//! exo's printed lines, worked out again from the raw answers of its server by formulas written here alone: the analyzer is
//! not asked for a number, so that a fault in it shows as a different line.
//!
//! From the recorded wire come the rates, counts and sizes; from the command line the plan; from the official file the
//! durations alone, which only its client's clock knows. What a line shows beside those (ids of instances, "Deleted
//! instance …") is not a result and is left out.

use probe::replay::{Exchange, Session};
use serde_json::Value;

/// One answer as the server gave it.
#[derive(Debug, Clone)]
struct Answer {
    stats: Value,
    power: Value,
    /// By the official client's clock; none for a warm-up.
    elapsed_s: Option<f64>,
}

/// What a recorded command line asked for.
#[derive(Debug)]
struct Asked {
    pp: Vec<u64>,
    tg: Vec<u64>,
    concurrency: Vec<u64>,
    repeat: u64,
    warmup: u64,
    stream: bool,
    metrics: bool,
    reuse: bool,
    all: bool,
}

impl Asked {
    fn read(command: &str) -> Self {
        let words: Vec<&str> = command.split_whitespace().collect();
        let value = |flag: &str| words.iter().position(|word| *word == flag).map(|place| words[place + 1]);
        let list = |flag: &str, default: &str| -> Vec<u64> {
            value(flag).unwrap_or(default).split(',').map(|number| number.parse().unwrap()).collect()
        };
        let has = |flag: &str| words.contains(&flag);
        Self {
            pp: list("--pp", ""),
            tg: list("--tg", ""),
            concurrency: list("--concurrency", "1"),
            repeat: list("--repeat", "1")[0],
            warmup: list("--warmup", "0")[0],
            stream: has("--stream"),
            metrics: !has("--no-system-metrics"),
            reuse: has("--reuse-instance"),
            all: has("--all-combinations"),
        }
    }

    fn pairs(&self) -> (&'static str, Vec<(u64, u64)>) {
        if self.all || self.pp.len() != self.tg.len() {
            let each = |&pp: &u64| self.tg.iter().map(move |&tg| (pp, tg));
            ("combinations (product)", self.pp.iter().flat_map(each).collect())
        } else {
            ("tandem (zip)", self.pp.iter().copied().zip(self.tg.iter().copied()).collect())
        }
    }
}

/// The answers to benchmark requests in the order of sending.
fn answers(session: &Session) -> Vec<Answer> {
    let bench = session.exchanges().iter().filter(|exchange| exchange.target.starts_with("/bench/"));
    bench.map(answer).collect()
}

fn answer(exchange: &Exchange) -> Answer {
    let body = &exchange.resp_body;
    let (stats, power) = match serde_json::from_str::<Value>(body) {
        Ok(plain) => (plain["generation_stats"].clone(), plain["power_usage"].clone()),
        Err(_) => {
            let comment = body.lines().find_map(|line| line.strip_prefix(": generation_stats ")).unwrap();
            (serde_json::from_str(comment).unwrap(), Value::Null)
        }
    };
    Answer { stats, power, elapsed_s: None }
}

fn number(answer: &Answer, key: &str) -> f64 {
    answer.stats[key].as_f64().unwrap()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Steps of 1024 that are labelled as if they were of 1000.
fn size(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, "B");
    for next in ["KB", "MB", "GB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    format!("{value:.2}{unit}")
}

/// The line of a group, over all requests of all repeats. `windows` are the seconds of inference.
fn summary(asked: &Asked, group: &[Answer], concurrency: u64, windows: f64) -> String {
    let largest = group.iter().map(|answer| number(answer, "generation_tps")).fold(0.0, f64::max);
    let peak = mean(group.iter().map(|answer| {
        let size = &answer.stats["peak_memory_usage"];
        size.get("inBytes").or_else(|| size.get("in_bytes")).unwrap().as_f64().unwrap()
    }));
    let mut line = format!(
        "prompt_tps={:.2} gen_tps={:.2}    prompt_tokens={} gen_tokens={}    peak_memory={}",
        mean(group.iter().map(|answer| number(answer, "prompt_tps"))),
        largest * concurrency as f64,
        mean(group.iter().map(|answer| number(answer, "prompt_tokens"))) as u64,
        mean(group.iter().map(|answer| number(answer, "generation_tokens"))) as u64,
        size(peak),
    );
    // No node of the recorded cluster had a power source; the client's own energy is then 0 and printed as such.
    if asked.metrics && !asked.reuse {
        line.push_str(&format!("    energy=0.0J (0.0W avg over {windows:.1}s inference)"));
    }
    let phases: Vec<&Value> = group.iter().map(|answer| &answer.power).filter(|power| power.is_object()).collect();
    if !phases.is_empty() {
        let of = |key: &str| mean(phases.iter().map(|power| power[key].as_f64().unwrap()));
        let (prefill, generation) = (of("prefill_energy_joules"), of("generation_energy_joules"));
        line.push_str(&format!("    prefill_energy={prefill:.1}J  gen_energy={generation:.1}J"));
    }
    line
}

/// All lines of results of a run.
fn printed_again(asked: &Asked, answers: &[Answer]) -> Vec<String> {
    let (mode, pairs) = asked.pairs();
    let mut lines = vec![format!("pp/tg mode: {mode} - {} pairs", pairs.len())];
    let mut rest = answers;
    let mut take = |count: u64| {
        let (taken, behind) = rest.split_at(usize::try_from(count).unwrap());
        rest = behind;
        taken
    };
    for number in 1..=asked.warmup {
        take(1);
        lines.push(format!("tok={}", asked.pp[0]));
        lines.push(format!("warmup {number}/{} done", asked.warmup));
    }
    for (pp, tg) in pairs {
        for &concurrency in &asked.concurrency {
            lines.push(format!("--- pp={pp} tg={tg} concurrency={concurrency} ---"));
            let mut group: Vec<Answer> = Vec::new();
            let mut windows = 0.0;
            for _ in 0..asked.repeat {
                lines.push(format!("tok={pp}"));
                let batch = take(concurrency);
                let wall = batch.iter().map(|answer| answer.elapsed_s.unwrap()).fold(0.0, f64::max);
                windows += wall;
                if concurrency > 1 {
                    let fastest = batch.iter().map(|answer| number(answer, "generation_tps")).fold(0.0, f64::max);
                    lines.push(format!(
                        "[concurrent {concurrency}x]  agg_gen_tps={:.2}  per_req_tps={fastest:.2}  wall_s={wall:.2}  errors=0",
                        fastest * concurrency as f64
                    ));
                }
                group.extend_from_slice(batch);
            }
            lines.push(summary(asked, &group, concurrency, windows));
        }
    }
    assert!(rest.is_empty(), "every answer belongs to a line");
    lines
}

/// The lines of results in an official log.
fn official(log: &str) -> Vec<String> {
    let messages = log.lines().filter_map(|line| line.splitn(3, " | ").nth(2)?.split_once(" - ").map(|(_, text)| text));
    let results = ["pp/tg mode", "tok=", "warmup", "--- pp=", "[concurrent", "prompt_tps="];
    let trimmed = messages.map(str::trim);
    trimmed.filter(|text| results.iter().any(|start| text.starts_with(start))).map(str::to_owned).collect()
}

/// The seconds of inference include sizing the prompts, which no file tells: they may differ by their last digit. All other
/// words are the same to the letter.
fn same_line(ours: &str, theirs: &str) -> bool {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (ours, theirs) = (words(ours), words(theirs));
    let seconds = |word: &str| word.strip_suffix('s').and_then(|number| number.parse::<f64>().ok());
    ours.len() == theirs.len()
        && ours.iter().zip(&theirs).all(|(ours, theirs)| match (seconds(ours), seconds(theirs)) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs() < 0.15,
            _ => ours == theirs,
        })
}

fn every_line_is_worked_out_again(name: &str) {
    let Some(command) = tests::shared(&format!("captures/exo-results/{name}.cmd")) else { return };
    let Some(recording) = tests::shared(&format!("captures/exo-wire/exo_bench_wire.{name}.jsonl.gz")) else { return };
    let asked = Asked::read(&std::fs::read_to_string(&command).unwrap());
    let mut answers = answers(&Session::load(&recording).unwrap());
    // The official file holds what the wire carried, row by row.
    let file = tests::measured::read_json(&command.with_extension("json")).unwrap();
    for row in file["runs"].as_array().unwrap() {
        let found = answers.iter_mut().rfind(|answer| answer.elapsed_s.is_none() && answer.stats == row["stats"]);
        let found = found.unwrap_or_else(|| panic!("{name}: {} was never on the wire", row["stats"]));
        found.elapsed_s = row["elapsed_s"].as_f64();
    }
    let theirs = official(&std::fs::read_to_string(command.with_extension("log")).unwrap());
    let ours = printed_again(&asked, &answers);
    assert_eq!(ours.len(), theirs.len(), "{name}\n{ours:#?}\n{theirs:#?}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(same_line(ours, theirs), "{name}\n  worked out: {ours}\n  printed:    {theirs}");
    }
    assert_eq!(asked.stream, file["runs"][0]["power_usage"].is_null(), "{name}");
}

#[test]
fn plain_answers() {
    every_line_is_worked_out_again("r1_nonstream");
}

#[test]
fn plain_answers_with_the_prefix_cache() {
    every_line_is_worked_out_again("r2_nonstream_cache");
}

#[test]
fn streams_and_plain_answers_together() {
    every_line_is_worked_out_again("r3_stream");
}

#[test]
fn streams_with_the_prefix_cache() {
    every_line_is_worked_out_again("r4_stream_cache");
}

#[test]
fn a_reused_instance() {
    every_line_is_worked_out_again("r6_reuse");
}

#[test]
fn a_line_with_another_number_is_another_line() {
    let line = "[concurrent 2x]  agg_gen_tps=19.52  per_req_tps=9.76  wall_s=5.80  errors=0";
    assert!(same_line(line, line));
    assert!(!same_line(line, &line.replace("5.80", "5.81")) && !same_line(line, &line.replace("9.76", "9.77")));
}
