//! The figures that exo's own console prints, under exo's definitions of 2026-06, so that both can be laid side by side.
//!
//! exo takes the mean of prefill rate, tokens and memory, but the largest decode rate, over all requests of a group, and
//! multiplies that by the concurrency asked for. Its group knows no cache state, so cells that differ in that alone show the
//! same line. Several sessions in one file are pooled here, where exo prints a line for each.

use super::{ExoBatch, ExoConsole};
use crate::frame::{self, Batch};
use crate::statistics::spread::mean;
use crate::throughput;
use crate::units;

/// The figures over the batches of a group.
pub(super) fn figures(batches: &[Batch], concurrency: u32) -> ExoConsole {
    let all = |name: &str| -> Vec<Option<f64>> {
        batches.iter().flat_map(|batch| batch.column(name).iter().copied()).collect()
    };
    let mean_of = |name: &str| mean(&all(name).into_iter().flatten().collect::<Vec<f64>>());
    ExoConsole {
        prompt_tps_mean: mean_of(frame::PROMPT_TPS),
        gen_tps_max_times_concurrency: throughput::max_times_concurrency(&all(frame::GENERATION_TPS), concurrency),
        prompt_tokens_mean: mean_of(frame::PROMPT_TOKENS),
        generation_tokens_mean: mean_of(frame::GENERATION_TOKENS),
        peak_memory_bytes_mean: mean_of(frame::PEAK),
        batches: if concurrency > 1 {
            batches.iter().filter_map(|batch| line(batch, concurrency)).collect()
        } else {
            Vec::new()
        },
    }
}

fn line(batch: &Batch, concurrency: u32) -> Option<ExoBatch> {
    let rates = batch.column(frame::GENERATION_TPS);
    Some(ExoBatch {
        repeat_index: batch.repeat_index,
        agg_gen_tps_max_times_concurrency: throughput::max_times_concurrency(rates, concurrency),
        per_req_tps_max: throughput::largest(rates),
        wall_s: batch.column(frame::ELAPSED).iter().flatten().copied().reduce(f64::max)?,
        // exo writes no row for a request that failed: those that lack have failed.
        errors: u64::from(concurrency).checked_sub(batch.rows.len() as u64),
    })
}

impl ExoConsole {
    /// exo's summary line of the group, as its console prints it, without the energy part.
    #[must_use]
    pub fn summary_line(&self) -> String {
        let two = |value: Option<f64>| value.map_or_else(|| units::ABSENT.to_owned(), |value| units::fixed(value, 2));
        // exo cuts the means of the counts to whole numbers.
        let whole =
            |value: Option<f64>| value.map_or_else(|| units::ABSENT.to_owned(), |value| units::fixed(value.trunc(), 0));
        let peak = self.peak_memory_bytes_mean.map_or_else(|| units::ABSENT.to_owned(), units::exo_size);
        format!(
            "prompt_tps={} gen_tps={}    prompt_tokens={} gen_tokens={}    peak_memory={peak}",
            two(self.prompt_tps_mean),
            two(self.gen_tps_max_times_concurrency),
            whole(self.prompt_tokens_mean),
            whole(self.generation_tokens_mean),
        )
    }

    /// exo's line of each concurrent batch.
    #[must_use]
    pub fn batch_lines(&self, concurrency: u32) -> Vec<String> {
        let two = |value: Option<f64>| value.map_or_else(|| units::ABSENT.to_owned(), |value| units::fixed(value, 2));
        self.batches
            .iter()
            .map(|batch| {
                format!(
                    "[concurrent {concurrency}x]  agg_gen_tps={}  per_req_tps={}  wall_s={}  errors={}",
                    two(batch.agg_gen_tps_max_times_concurrency),
                    two(batch.per_req_tps_max),
                    units::fixed(batch.wall_s, 2),
                    batch.errors.map_or_else(|| units::ABSENT.to_owned(), |errors| errors.to_string()),
                )
            })
            .collect()
    }
}
