//! The console log of exo's bench, of one run or as a loop keeps it.
//!
//! A summary line is one measurement of a group. Over one request its figures are that request's; over several it holds
//! the mean prefill rate and the largest decode rate, times the number of requests at once.

use super::foreign::{Found, Row, failure};
use super::instant;
use super::mlx_lm::value;
use crate::record::{Comparability, FailureKind};
use crate::units;

/// Whether the text holds a line of exo's bench.
pub(super) fn is(text: &str) -> bool {
    text.lines()
        .any(|line| line.contains("prompt_tps=") && line.contains("gen_tps=") && line.contains("prompt_tokens="))
        || text.lines().any(|line| line.contains("| __main__:main:") && line.contains("exo-bench model:"))
}

/// Reads the log line by line.
pub(super) fn import(text: &str) -> Result<Found, String> {
    let mut log = Log::default();
    for line in text.lines() {
        log.line(line);
    }
    log.close();
    log.into_found()
}

#[derive(Default)]
struct Log {
    found: Found,
    /// What holds for the lines that follow.
    here: Row,
    /// The group whose summary is awaited.
    open: Option<Row>,
    /// Requests of the open group that were built, and those that failed in it.
    built: u64,
    batches: u64,
    errors: u64,
    walls: Vec<f64>,
    /// When the open group's first request was built.
    built_at: Option<f64>,
    /// The loop's iteration and those that failed.
    iteration: Option<u32>,
    iterations: u32,
    failed: Vec<(u32, String)>,
    /// The last line of an error.
    last_error: Option<String>,
    /// The log's clock: the first stamp, and the last.
    first: Option<f64>,
    now: Option<f64>,
    backwards: usize,
    /// Summary lines whose time is that between two stamps.
    stamped: usize,
    /// Summary lines over several requests.
    merged: usize,
    reused: u32,
}

impl Log {
    fn line(&mut self, raw: &str) {
        let line = plain(raw);
        let (stamp, words) = match line.split_once(" | ") {
            Some((stamp, rest)) if instant::parse(stamp).is_some() => {
                let words = rest.split_once(" - ").map_or(rest, |(_, words)| words);
                (instant::parse(stamp), words)
            }
            _ => (None, line.as_str()),
        };
        if let Some(stamp) = stamp {
            let first = *self.first.get_or_insert(stamp.unix_s);
            self.backwards += usize::from(self.now.is_some_and(|now| stamp.unix_s - first < now - 1e-9));
            self.now = Some(stamp.unix_s - first);
            if self.found.started_at.is_none() {
                self.found.started_at = line.split_once(" | ").map(|(stamp, _)| stamp.trim().to_owned());
            }
        }
        self.words(words.trim());
    }

    fn words(&mut self, words: &str) {
        if let Some((number, state)) = iteration(words) {
            self.close();
            self.iteration = Some(number);
            self.iterations += 1;
            self.here.cache = None;
            self.here.repeat = number.saturating_sub(1);
            self.last_error = None;
            self.here.settings.insert("prefix cache".to_owned(), state.to_owned());
        } else if let Some(number) = failed_iteration(words) {
            let why = self.last_error.take().unwrap_or_else(|| "it does not tell why".to_owned());
            self.failed.push((number, why));
        } else if words.starts_with("--- pp=") {
            self.close();
            let mut row = self.here.clone();
            row.pp = value(words, "pp=").map(|tokens| tokens as u64);
            row.tg = value(words, "tg=").map(|tokens| tokens as u64);
            row.concurrency = value(words, "concurrency=").map(|count| count as u32).or(Some(1));
            self.open = Some(row);
        } else if words.starts_with("tok=") {
            self.built += 1;
            self.built_at = self.built_at.or(self.now);
        } else if words.starts_with("[concurrent ") {
            self.batches += 1;
            self.errors = self.errors.saturating_add(value(words, "errors=").map_or(0, |errors| errors as u64));
            self.walls.extend(value(words, "wall_s=").filter(|seconds| *seconds >= 0.0));
            self.found.unread.words(words, &["wall_s=", "errors="], value, 0.0);
        } else if words.starts_with("prompt_tps=") {
            self.summary(words);
        } else if let Some(placement) = words.strip_prefix("PLACEMENT: ") {
            self.close();
            self.placement(placement);
        } else if let Some(instance) = words.strip_prefix("Using existing instance ") {
            self.reused += 1;
            // The same instance serves one run after the other; each start of the client is a session.
            self.here.instance_id = Some(format!("{}#{}", instance.trim(), self.reused));
        } else if words.contains("--use-prefix-cache") {
            self.here.settings.insert("prefix cache".to_owned(), "allowed".to_owned());
        } else if let Some((_, id)) = words.split_once("full_id=") {
            self.here.model = Some(id.trim().to_owned());
        } else if is_error(words) {
            self.last_error = Some(words.to_owned());
        } else if let Some(model) = words.strip_prefix("model        = ") {
            self.here.model = Some(model.trim().to_owned());
        } else if let Some(start) = words.strip_prefix("started      = ") {
            self.found.about.insert("loop started".to_owned(), start.trim().to_owned());
        }
    }

    fn placement(&mut self, words: &str) {
        let mut parts = words.split(" / ").map(str::trim);
        self.here.sharding = parts.next().map(str::to_owned);
        self.here.instance_meta = parts.next().map(str::to_owned);
        self.here.nodes = value(words, "nodes=").map(|nodes| nodes as u32);
        self.here.instance_id = words.split_once("instance_id=").map(|(_, id)| id.trim().to_owned());
    }

    fn summary(&mut self, words: &str) {
        let Some(mut row) = self.open.take() else { return };
        let unread = &mut self.found.unread;
        unread.words(words, &NUMBERS, value, 0.0);
        unread.words(words, &["peak_memory="], |line, _| peak_bytes(line), 0.0);
        let concurrency = u64::from(row.concurrency.unwrap_or(1));
        let requests =
            if concurrency > 1 { self.batches.max(1).saturating_mul(concurrency) } else { self.built.max(1) };
        self.fail(&row, self.errors);
        let count = |name: &str| value(words, name).filter(|tokens| *tokens >= 0.0).map(|tokens| tokens as u64);
        row.prompt_tps = value(words, "prompt_tps=");
        row.prompt_tokens = count("prompt_tokens=");
        row.generation_tokens = count("gen_tokens=");
        row.peak_bytes = peak(words);
        let rate = value(words, "gen_tps=");
        if concurrency > 1 {
            row.figures.exo_max_times_n_tps = rate;
        } else {
            row.generation_tps = rate;
        }
        if requests > 1 {
            self.merged += 1;
            let of_all = [("prompt_tps", "mean", row.prompt_tps), ("gen_tps", "max", row.generation_tps)];
            for (name, statistic, value) in of_all {
                if let Some(value) = value {
                    row.figures.published.insert(name.to_owned(), serde_json::json!({ statistic: value }));
                }
            }
            row.figures.stands_for = Some(requests.saturating_sub(self.errors));
        } else {
            // The prompt is built and then sent at once; the summary follows the answer.
            row.figures.sent_s = self.built_at;
            row.figures.done_s = self.now;
            row.elapsed_s =
                self.now.zip(self.built_at).map(|(done, sent)| to_ms(done - sent)).filter(|seconds| *seconds > 0.0);
            if row.elapsed_s.is_some() {
                self.stamped += 1;
                row.derive("elapsed_s", "stamp of the summary − stamp of the prompt, both of the log");
            }
        }
        if concurrency > 1 && !self.walls.is_empty() {
            row.elapsed_s = Some(self.walls.iter().sum::<f64>() / self.walls.len() as f64);
            row.derive("elapsed_s", "mean of wall_s over the group's batches");
        }
        if let Some(joules) = value(words, "energy=").filter(|joules| *joules > 0.0) {
            row.figures.client_energy_j = Some(joules);
            row.figures.power_w =
                words.split_once("J (").and_then(|(_, rest)| value(rest, "")).filter(|watts| *watts > 0.0);
        }
        row.figures.server_prefill_energy_j = value(words, "prefill_energy=").filter(|joules| *joules > 0.0);
        row.figures.server_decode_energy_j = value(words, "gen_energy=").filter(|joules| *joules > 0.0);
        self.found.rows.push(row);
        self.reset();
    }

    /// A group whose summary never came failed.
    fn close(&mut self) {
        if let Some(row) = self.open.take() {
            self.fail(&row, self.built.max(1));
        }
        self.reset();
    }

    fn reset(&mut self) {
        (self.built, self.batches, self.errors) = (0, 0, 0);
        self.walls.clear();
        self.built_at = None;
    }

    fn fail(&mut self, row: &Row, requests: u64) {
        let words = self
            .last_error
            .clone()
            .unwrap_or_else(|| "the log holds no summary of it and does not tell why".to_owned());
        let span = (self.built_at, self.now);
        self.found.fail(requests, |place| {
            let mut failed = failure(row, FailureKind::Untold, &words, place);
            (failed.sent_s, failed.ended_s) = span;
            failed
        });
    }

    fn into_found(mut self) -> Result<Found, String> {
        if self.found.rows.is_empty() {
            return Err("it holds no summary line with prompt_tps and gen_tps, so nothing was measured".into());
        }
        // The bench writes local times; a loop's heading tells their zone.
        let zone = self.found.about.get("loop started").and_then(|start| start.get(start.len().checked_sub(6)?..));
        if let (Some(zone), Some(start)) =
            (zone.filter(|zone| zone.starts_with(['+', '-'])), &mut self.found.started_at)
        {
            *start = format!("{}{zone}", start.replacen(' ', "T", 1));
        }
        for (number, why) in &self.failed {
            let row = Row { model: self.here.model.clone(), repeat: number.saturating_sub(1), ..self.here.clone() };
            let mut failed = failure(&row, FailureKind::ClientEnded, why, 0);
            failed.instance_id = None;
            self.found.failures.push(failed);
        }
        if !self.failed.is_empty() {
            let (failed, all) = (self.failed.len(), self.iterations);
            let why = &self.failed[self.failed.len() - 1].1;
            let why: String = why.chars().take(120).collect();
            let iterations = units::part(failed as u64, u64::from(all), "iteration");
            let they = units::agree(failed as u64, "it", "they");
            self.found
                .notices
                .push(format!("{iterations} of the loop failed before {they} measured anything, the last with: {why}"));
        }
        self.settle_cache();
        if self.stamped > 0 {
            let (stamped, all) = (self.stamped, units::count(self.found.rows.len() as u64, "summary line"));
            self.found.notices.push(format!(
                "the elapsed time of {stamped} of {all} is the difference of two log stamps (prompt built to summary written): \
                 it holds the client's own work and is right to a millisecond at best"
            ));
        }
        if self.merged > 0 {
            self.found.class = Some(Comparability::AggregateOnly);
            let lines = units::part(self.merged as u64, self.found.rows.len() as u64, "summary line");
            let stand = units::agree(
                self.merged as u64,
                "stands for several requests: its",
                "stand for several requests: their",
            );
            self.found.notices.push(format!("{lines} {stand} decode rate is the largest, times the number at once"));
        }
        if self.backwards > 0 {
            self.found.notices.push(format!(
                "the clock of the log goes backwards {}; spans over such a place are wrong",
                if self.backwards == 1 { "once".to_owned() } else { format!("{} times", self.backwards) }
            ));
        }
        Ok(self.found)
    }

    /// Without `--use-prefix-cache` every prompt is cold. With it the log does not tell what was served from the cache.
    fn settle_cache(&mut self) {
        for row in &mut self.found.rows {
            let allowed = row.settings.get("prefix cache").is_some_and(|state| state != "cold");
            row.cache = (!allowed).then_some("none");
            // The cell tells it already.
            row.settings.remove("prefix cache");
        }
        for failed in &mut self.found.failures {
            failed.settings.remove("prefix cache");
        }
    }
}

/// The stamps are written to the millisecond; more digits are the binary fraction's.
fn to_ms(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// Without the colours of a terminal.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\u{1b}[") {
        text.push_str(&rest[..at]);
        rest = &rest[at + 2..];
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic()).map_or(rest.len(), |end| end + 1);
        rest = &rest[end..];
    }
    text.push_str(rest);
    text
}

/// `=== iter 12 (cached) @ 20260415_002948 ===`
fn iteration(words: &str) -> Option<(u32, &str)> {
    let rest = words.strip_prefix("=== iter ")?;
    let (number, rest) = rest.split_once(' ')?;
    let state = rest.strip_prefix('(')?.split_once(')')?.0;
    Some((number.parse().ok()?, state))
}

/// `iter 66 FAILED (exit 1)`
fn failed_iteration(words: &str) -> Option<u32> {
    words.strip_prefix("iter ")?.split_once(" FAILED")?.0.parse().ok()
}

/// The last line of a traceback: `OSError: …`.
fn is_error(words: &str) -> bool {
    words.split_once(": ").is_some_and(|(name, _)| {
        let name = name.rsplit('.').next().unwrap_or(name);
        (name.ends_with("Error") || name.ends_with("Exception") || name == "SystemExit") && !name.contains(' ')
    })
}

/// The numbers of a summary line.
const NUMBERS: [&str; 7] =
    ["prompt_tps=", "gen_tps=", "prompt_tokens=", "gen_tokens=", "energy=", "prefill_energy=", "gen_energy="];

/// The peak; 0 is none.
fn peak(words: &str) -> Option<u64> {
    peak_bytes(words).filter(|bytes| *bytes > 0.0).map(|bytes| bytes.round() as u64)
}

/// exo prints steps of 1024.
fn peak_bytes(words: &str) -> Option<f64> {
    let number = value(words, "peak_memory=")?;
    let rest = words.split_once("peak_memory=")?.1;
    let unit = ["KB", "MB", "GB", "TB"]
        .iter()
        .position(|unit| rest.split_whitespace().next().is_some_and(|word| word.ends_with(unit)));
    match unit {
        Some(unit) => Some(number * [1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0][unit]),
        None => Some(0.0).filter(|none| *none == number),
    }
}
