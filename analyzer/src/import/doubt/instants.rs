//! Instants of a request that cannot be true, and numbers that are none.

use crate::frame;
use crate::metric::is_value;
use crate::record::Run;

/// Clocks and the way there and back explain less.
const FACTOR: f64 = 2.0;
/// As above, s.
const APART_S: f64 = 1.0;

/// Whether the client's instants tell another duration than the elapsed time beside them. Of a row that stands for many
/// requests the instants are those of the whole run, and the time is the mean of them: they say nothing of each other.
pub(super) fn disagree(run: &Run) -> bool {
    if run.figures.as_ref().is_some_and(|figures| figures.stands_for > Some(1)) {
        return false;
    }
    let observed = run.exoscope.as_ref().map(|detail| {
        let timing = &detail.timing;
        // The time of a batch counts from its common start, and a connection may be opened meanwhile.
        let from = timing.intended_s.map_or(timing.sent_s, |intended| intended.min(timing.sent_s));
        (timing.done_s - from, timing.done_s - timing.sent_s)
    });
    let told = observed.or_else(|| {
        let figures = run.figures.as_ref().filter(|figures| !figures.derived.contains_key("sent_s"))?;
        let span = figures.done_s? - figures.sent_s?;
        Some((span, span))
    });
    let Some(((longest, shortest), elapsed)) = told.zip(run.elapsed_s.filter(|seconds| *seconds > 0.0)) else {
        return false;
    };
    let shorter = longest * FACTOR < elapsed && elapsed - longest > APART_S;
    let longer = shortest > elapsed * FACTOR && shortest - elapsed > APART_S;
    // One that runs backwards is told as that.
    shortest >= 0.0 && (shorter || longer)
}

/// Whether the first token came after the answer was done, or later than the whole request took.
pub(super) fn is_first_token_impossible(run: &Run) -> bool {
    !frame::has_possible_first_token(run)
}

/// Whether a number of the row is beyond what anything can be.
pub(super) fn is_beyond(run: &Run) -> bool {
    let stats = run.stats.as_ref();
    let own = [
        run.elapsed_s,
        stats.and_then(|stats| stats.prompt_tps),
        stats.and_then(|stats| stats.generation_tps),
        stats.and_then(|stats| stats.prompt_tokens).map(|tokens| tokens as f64),
        stats.and_then(|stats| stats.generation_tokens).map(|tokens| tokens as f64),
        stats.and_then(|stats| stats.peak_memory_usage).map(|size| size.bytes() as f64),
    ];
    let power = run
        .power_usage
        .as_ref()
        .map(|power| [power.total_energy_joules, power.prefill_energy_joules, power.generation_energy_joules]);
    let timing = run.exoscope.as_ref().map(|detail| {
        let timing = &detail.timing;
        [Some(timing.sent_s), Some(timing.done_s), timing.first_token_s, timing.last_token_s, timing.connect_s]
    });
    let figures = run.figures.as_ref().map(|figures| {
        [
            figures.sent_s,
            figures.done_s,
            figures.ttft_s,
            figures.tpot_s,
            figures.itl_s,
            figures.itl_p99_s,
            figures.output_tps,
            figures.requests_per_s,
            figures.exo_max_times_n_tps,
            figures.client_energy_j,
            figures.power_w,
        ]
    });
    let others = power.into_iter().flatten().chain(timing.into_iter().flatten()).chain(figures.into_iter().flatten());
    own.into_iter().chain(others).flatten().any(|number| !is_value(number))
}
