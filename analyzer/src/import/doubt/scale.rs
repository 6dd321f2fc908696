//! Times and rates of another tool's row that are of different scales: a file that tells milliseconds and means seconds.

use crate::record::Run;

/// No answer is as quick, s: a time below was told in a larger unit than it is read in.
const SHORTEST_S: f64 = 1e-6;
/// What rounding and means over other requests explain.
const FACTOR: f64 = 10.0;
/// As above, s.
const APART_S: f64 = 0.01;

/// Whether the first token came later than the whole answer.
pub(super) fn is_first_token_after_all(run: &Run) -> bool {
    let Some((ttft, elapsed)) = run.figures.as_ref().and_then(|figures| figures.ttft_s).zip(run.elapsed_s) else {
        return false;
    };
    elapsed > 0.0 && ttft > elapsed * (1.0 + 1e-6) + APART_S
}

/// Whether a time is shorter than anything takes.
pub(super) fn is_too_short(run: &Run) -> bool {
    let Some(figures) = &run.figures else { return false };
    let times = [run.elapsed_s, figures.ttft_s, figures.tpot_s, figures.itl_s];
    times.into_iter().flatten().any(|seconds| seconds > 0.0 && seconds < SHORTEST_S)
}

/// Whether the tokens of a request, one gap after the other, take ten times as long as the request.
pub(super) fn are_gaps_longer_than_all(run: &Run) -> bool {
    let Some(figures) = &run.figures else { return false };
    let tokens = run.stats.as_ref().and_then(|stats| stats.generation_tokens);
    let gap = figures.tpot_s.or(figures.itl_s);
    let (Some(tokens), Some(gap), Some(elapsed)) = (tokens, gap, run.elapsed_s) else { return false };
    elapsed > 0.0 && gap * tokens.saturating_sub(1) as f64 > FACTOR * elapsed + APART_S
}

/// Whether all requests together decode ten times as fast as each of them, times their number. Other tools' loads begin and
/// end with fewer at once, so that the other way round says nothing.
pub(super) fn is_throughput_of_more_than_all(run: &Run) -> bool {
    let Some(figures) = &run.figures else { return false };
    let rate = run.stats.as_ref().and_then(|stats| stats.generation_tps).filter(|rate| *rate > 0.0);
    let (Some(rate), Some(all), Some(together)) = (rate, figures.output_tps, run.concurrency) else { return false };
    all > FACTOR * rate * f64::from(together)
}

/// Whether a throughput is below 0.
pub(super) fn is_below_nothing(run: &Run) -> bool {
    let rates =
        run.figures.as_ref().map(|figures| [figures.output_tps, figures.requests_per_s, figures.exo_max_times_n_tps]);
    rates.into_iter().flatten().flatten().any(|rate| rate < 0.0)
}
