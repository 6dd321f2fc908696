//! A request that was sent → a row of the result file, or a failure.

use analyzer::record::{ActualPlacement, Failure, FailureKind, Leftover, Run, RunDetail, Timing, TokenCounts};

use super::offer::Placement;
use crate::capture::batch::Sent;
use crate::capture::clock::Stamp;
use crate::capture::event::Event;
use crate::capture::exchange::Exchange;
use crate::endpoint::{Answer, Outcome};

/// What all requests of a batch share.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'a> {
    /// The model id in full.
    pub model_id: &'a str,
    /// The part after the last slash.
    pub model_short_id: &'a str,
    /// The placement.
    pub placement: &'a Placement,
    /// What was really built.
    pub actual: Option<ActualPlacement>,
    /// Session, from 0.
    pub session: u32,
    /// Prompt tokens.
    pub pp: u64,
    /// Tokens to generate.
    pub tg: u64,
    /// Requests started together.
    pub concurrency: u32,
    /// Repeat, from 0.
    pub repeat: u32,
    /// Whether this is a warm-up.
    pub warmup: bool,
    /// Whether the answers are streamed.
    pub streamed: bool,
    /// Whether the server may use its prefix cache.
    pub use_prefix_cache: bool,
    /// Whether the first 200 characters of the answer are kept.
    pub keep_preview: bool,
    /// Seconds that downloading took in this run.
    pub download_duration_s: Option<f64>,
}

impl Group<'_> {
    /// What became of one request of the batch that was meant to start at `start`. `completed` is its place among those
    /// that gave a row.
    #[must_use]
    pub fn event(&self, sent: Sent, start: Stamp, now: Stamp, completed: u32) -> Event {
        let request_index = sent.request_index;
        match sent.result {
            Err(error) => {
                let ended = Ended { sent: None, at: now, frames: None };
                self.failure(request_index, FailureKind::Connect, error.to_string(), None, ended)
            }
            Ok(exchange) => match exchange.read_chat(self.streamed) {
                Outcome::Completed(answer) => self.row(request_index, &exchange, answer, start, completed),
                Outcome::Failed(problem) => {
                    // A connection that was never answered and broke at once is no different from one that was refused.
                    let ended = Ended { sent: Some(exchange.sent), at: exchange.done, frames: problem.frames };
                    self.failure(request_index, problem.kind, problem.message, exchange.status, ended)
                }
            },
        }
    }

    fn row(
        &self,
        request_index: u32,
        exchange: &Exchange,
        answer: Answer<Stamp>,
        start: Stamp,
        completed: u32,
    ) -> Event {
        // exo's client counts from the common start of a batch, and from its own sending where there is one request.
        let from = if self.concurrency > 1 { start } else { exchange.sent };
        let tokens = answer.token_stamps.as_ref();
        let timing = Timing {
            intended_s: Some(start.seconds()),
            sent_s: exchange.sent.seconds(),
            headers_s: exchange.headers.map(Stamp::seconds),
            first_byte_s: exchange.first_byte().map(Stamp::seconds),
            first_token_s: tokens.and_then(|stamps| stamps.first()).map(|stamp| stamp.seconds()),
            last_token_s: tokens.and_then(|stamps| stamps.last()).map(|stamp| stamp.seconds()),
            done_s: exchange.done.seconds(),
            connect_s: Some(exchange.connect.as_secs_f64()),
            token_offsets_s: tokens.map(|stamps| stamps.iter().map(|stamp| stamp.since(exchange.sent)).collect()),
        };
        let counts = TokenCounts {
            prompt_client: Some(self.pp),
            prompt_server: answer.stats.prompt_tokens,
            generation_requested: self.tg,
            generation_server: answer.stats.generation_tokens,
            generation_frames: tokens.map(|stamps| stamps.len() as u64),
        };
        let run = Run {
            elapsed_s: Some(exchange.done.since(from)),
            output_text_preview: self.keep_preview.then(|| answer.text.chars().take(200).collect::<String>().into()),
            stats: Some(answer.stats),
            power_usage: answer.power_usage.map(Box::new),
            model_short_id: Some(self.model_short_id.into()),
            model_id: Some(self.model_id.into()),
            placement_sharding: Some(self.placement.sharding.as_str().into()),
            placement_instance_meta: Some(self.placement.instance_meta.as_str().into()),
            placement_nodes: Some(self.placement.nodes),
            instance_id: Some(self.placement.instance.id.as_str().into()),
            pp_tokens: Some(self.pp),
            tg: Some(self.tg),
            repeat_index: Some(self.repeat),
            concurrency: Some(self.concurrency),
            concurrent_index: (self.concurrency > 1).then_some(completed),
            download_duration_s: self.download_duration_s,
            figures: None,
            exoscope: Some(Box::new(RunDetail {
                session: self.session,
                start: None,
                request_index,
                streamed: self.streamed,
                placement: self.actual.clone(),
                timing,
                tokens: counts,
                use_prefix_cache: self.use_prefix_cache,
                atom: None,
                unknown: serde_json::Map::new(),
            })),
            unknown: Leftover::default(),
        };
        Event::Finished { run: Box::new(run) }
    }

    fn failure(
        &self,
        request_index: u32,
        kind: FailureKind,
        message: String,
        status: Option<u16>,
        ended: Ended,
    ) -> Event {
        let failure = Failure {
            kind,
            message,
            status,
            warmup: self.warmup,
            model_id: Some(self.model_id.to_owned()),
            placement_sharding: Some(self.placement.sharding.clone()),
            placement_instance_meta: Some(self.placement.instance_meta.clone()),
            placement_nodes: Some(self.placement.nodes),
            instance_id: Some(self.placement.instance.id.clone()),
            pp_tokens: Some(self.pp),
            tg: Some(self.tg),
            concurrency: Some(self.concurrency),
            repeat_index: self.repeat,
            request_index,
            session: self.session,
            start: None,
            use_prefix_cache: self.use_prefix_cache,
            streamed: self.streamed,
            sent_s: ended.sent.map(Stamp::seconds),
            ended_s: Some(ended.at.seconds()),
            frames: ended.frames,
            engine: None,
            quantization: None,
            settings: std::collections::BTreeMap::new(),
        };
        Event::Failed { failure: Box::new(failure) }
    }
}

/// When and how far a request got that failed.
struct Ended {
    sent: Option<Stamp>,
    at: Stamp,
    frames: Option<u64>,
}
