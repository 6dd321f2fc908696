//! What in a file cannot be true, or hardly: wrong units, clocks that run backwards, times below nothing.
//!
//! Nothing is put right: a reader is told, a sentence each. What can be no measurement takes no part in any number.
//!
//! * `instants` when things happened, against how long they took.
//! * `power` powers and energies.
//! * `scale` times and rates of another tool that are of different scales.

mod instants;
pub(super) mod power;
mod scale;

use super::instant;
use crate::record::{MetricSeries, ResultFile, Run};
use crate::units;

/// No single request was seen to decode faster; the fastest hardware for one gives a few thousand tokens a second.
const DECODE_TPS: f64 = 20_000.0;
/// No machine was seen to prefill one prompt faster.
const PREFILL_TPS: f64 = 5_000_000.0;
/// A request of two days. exo's client waits two hours at most.
const REQUEST_S: f64 = 172_800.0;
/// A time a hundred times as long as the server's own two phases is one in another unit, or a queue.
const TIMES_TOO_LONG: f64 = 100.0;
/// A time below this share of the server's own two phases cannot be.
const SHARE_TOO_SHORT: f64 = 0.1;

/// The doubts about a file.
pub(super) fn doubts(file: &ResultFile) -> Vec<String> {
    let rows = file.runs.len() as u64;
    let count = |is: &dyn Fn(&Run) -> bool| file.runs.iter().filter(|run| is(run)).count();
    let stats = |run: &Run, of: fn(&crate::record::GenerationStats) -> Option<f64>| run.stats.as_ref().and_then(of);
    let told: [(usize, &str, &str); 20] = [
        (
            count(&|run| stats(run, |stats| stats.generation_tps).is_some_and(|rate| rate > DECODE_TPS)),
            "decodes faster than 20000 tokens a second, which nothing does: is a time in another unit?",
            "decode faster than 20000 tokens a second, which nothing does: is a time in another unit?",
        ),
        (
            count(&|run| stats(run, |stats| stats.prompt_tps).is_some_and(|rate| rate > PREFILL_TPS)),
            "prefills faster than 5 million tokens a second, which nothing does: is a time in another unit?",
            "prefill faster than 5 million tokens a second, which nothing does: is a time in another unit?",
        ),
        (
            count(&|run| stats(run, |stats| stats.generation_tps).is_some_and(|rate| rate < 0.0)),
            "has a decode rate below 0, which is left out",
            "have a decode rate below 0, which is left out",
        ),
        (
            count(&|run| stats(run, |stats| stats.prompt_tps).is_some_and(|rate| rate < 0.0)),
            "has a prefill rate below 0, which is left out",
            "have a prefill rate below 0, which is left out",
        ),
        (
            count(&|run| longest_s(run).is_some_and(|seconds| seconds > REQUEST_S)),
            "took longer than two days: is it in milliseconds?",
            "took longer than two days: are they in milliseconds?",
        ),
        (
            count(&is_too_long),
            "took more than 100 times what the server says of its work: is it in milliseconds, or did it queue?",
            "took more than 100 times what the server says of its work: are they in milliseconds, or did they queue?",
        ),
        (
            count(&is_too_short),
            "took less than a tenth of what the server says of its work: is a time or a rate in another unit?",
            "took less than a tenth of what the server says of its work: is a time or a rate in another unit?",
        ),
        (
            count(&|run| run.elapsed_s.is_some_and(|seconds| seconds < 0.0)),
            "took less than no time, which is left out",
            "took less than no time, which is left out",
        ),
        // exo's own rows have a rate of 0 for one token; other tools write it for what they did not measure.
        (
            count(&|run| foreign(run).is_some_and(|figures| figures.contains(&0.0))),
            "has a time or a rate of 0, which is no measurement and left out",
            "have a time or a rate of 0, which is no measurement and left out",
        ),
        (
            count(&runs_backwards),
            "ends before it begins: the clock ran backwards",
            "end before they begin: the clock ran backwards",
        ),
        (
            count(&instants::disagree),
            "has instants that are not as far apart as its elapsed time says: are they in another unit?",
            "have instants that are not as far apart as their elapsed time says: are they in another unit?",
        ),
        (
            count(&instants::is_first_token_impossible),
            "has a first token before the start, after the end or after twice the elapsed time: it is left out",
            "have a first token before the start, after the end or after twice the elapsed time: it is left out",
        ),
        (
            count(&instants::is_beyond),
            "holds a number beyond 1e18, which is no measurement and left out",
            "hold a number beyond 1e18, which is no measurement and left out",
        ),
        (
            count(&power::is_below_nothing),
            "has an energy below 0, which is left out",
            "have an energy below 0, which is left out",
        ),
        (
            count(&|run| {
                run.figures.as_ref().is_some_and(|figures| {
                    [figures.ttft_s, figures.tpot_s, figures.itl_s].iter().flatten().any(|seconds| *seconds < 0.0)
                })
            }),
            "has a latency below 0, which is left out",
            "have a latency below 0, which is left out",
        ),
        (
            count(&scale::is_below_nothing),
            "has a throughput below 0, which is left out",
            "have a throughput below 0, which is left out",
        ),
        (
            count(&scale::is_first_token_after_all),
            "has its first token after the whole answer: is a time in another unit?",
            "have their first token after the whole answer: is a time in another unit?",
        ),
        (
            count(&scale::is_too_short),
            "holds a time below a microsecond, which nothing takes: is it in another unit?",
            "hold a time below a microsecond, which nothing takes: are they in another unit?",
        ),
        (
            count(&scale::are_gaps_longer_than_all),
            "has gaps between tokens that take ten times as long as the whole answer: is a time in another unit?",
            "have gaps between tokens that take ten times as long as the whole answer: is a time in another unit?",
        ),
        (
            count(&scale::is_throughput_of_more_than_all),
            "has a throughput of ten times what its requests decode together: is a time in another unit?",
            "have a throughput of ten times what their requests decode together: is a time in another unit?",
        ),
    ];
    let mut doubts: Vec<String> = told
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, several)| {
            format!("{} {}", units::part(*count as u64, rows, "row"), units::agree(*count as u64, one, several))
        })
        .collect();
    doubts.extend(file.exoscope.as_ref().and_then(|provenance| start(&provenance.started_at)));
    doubts.extend(power::doubts(file));
    // exo's own files are looked through where they are read.
    doubts.extend(file.exoscope.as_ref().and_then(|_| super::exo::repeated(file)));
    let series = file.metric_series.iter().filter(|series| goes_back(series)).count();
    if series > 0 {
        let part = units::part(series as u64, file.metric_series.len() as u64, "series");
        doubts.push(format!("the times of {part} of node readings go backwards"));
    }
    doubts
}

/// That a start is no instant.
fn start(words: &str) -> Option<String> {
    instant::parse(words).is_none_or(|at| !at.zoned).then(|| {
        format!("its start, {words:?}, is no time with a zone: the history goes by the date of the file instead")
    })
}

/// The times and rates of a row of another tool.
fn foreign(run: &Run) -> Option<Vec<f64>> {
    let figures = run.figures.as_ref()?;
    let stats = run.stats.as_ref();
    let rates = [stats.and_then(|stats| stats.prompt_tps), stats.and_then(|stats| stats.generation_tps)];
    let times = [run.elapsed_s, figures.ttft_s, figures.tpot_s, figures.itl_s];
    Some(rates.into_iter().chain(times).flatten().collect())
}

fn longest_s(run: &Run) -> Option<f64> {
    let figures = run.figures.as_ref();
    [run.elapsed_s, figures.and_then(|figures| figures.ttft_s), figures.and_then(|figures| figures.tpot_s)]
        .into_iter()
        .flatten()
        .reduce(f64::max)
}

/// The elapsed time of a lone request.
fn lone(run: &Run) -> Option<(f64, &crate::record::GenerationStats)> {
    let many = run.figures.as_ref().is_some_and(|figures| figures.stands_for.is_some());
    if many || run.concurrency.unwrap_or(1) > 1 {
        return None;
    }
    Some((run.elapsed_s.filter(|seconds| *seconds > 0.0)?, run.stats.as_ref()?))
}

fn phase(tokens: Option<u64>, rate: Option<f64>) -> Option<f64> {
    Some(tokens? as f64 / rate.filter(|rate| *rate > 0.0)?)
}

/// Longer than a hundred times the whole prompt and all tokens by the server's own rates. What the cache served took less.
fn is_too_long(run: &Run) -> bool {
    let expected = lone(run).and_then(|(elapsed, stats)| {
        let work =
            phase(stats.prompt_tokens, stats.prompt_tps)? + phase(stats.generation_tokens, stats.generation_tps)?;
        Some((elapsed, work))
    });
    // Below a second the way there and back weighs more than the work.
    expected.is_some_and(|(elapsed, work)| elapsed > 1.0 && elapsed > TIMES_TOO_LONG * work)
}

/// Shorter than a tenth of the tokens alone by the server's own rate.
fn is_too_short(run: &Run) -> bool {
    let expected =
        lone(run).and_then(|(elapsed, stats)| Some((elapsed, phase(stats.generation_tokens, stats.generation_tps)?)));
    expected.is_some_and(|(elapsed, work)| work > 1.0 && elapsed < SHARE_TOO_SHORT * work)
}

fn runs_backwards(run: &Run) -> bool {
    let timing = run.exoscope.as_ref().map(|detail| &detail.timing);
    let observed = timing.is_some_and(|timing| {
        timing.done_s < timing.sent_s
            || timing.first_token_s.is_some_and(|first| first < timing.sent_s || first > timing.done_s)
    });
    let figures = run.figures.as_ref();
    let taken =
        figures.is_some_and(|figures| figures.sent_s.zip(figures.done_s).is_some_and(|(sent, done)| done < sent));
    observed || taken
}

fn goes_back(series: &MetricSeries) -> bool {
    series.t_s.windows(2).any(|pair| pair[1] < pair[0])
}
