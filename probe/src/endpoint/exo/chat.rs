//! One request to `/bench/chat/completions`, and its answer.

use analyzer::record::{FailureKind, GenerationStats, PowerUsage, Sampling};
use serde_json::{Value, json};

use crate::endpoint::sse::{Event, Reader};
use crate::endpoint::{Answer, Outcome, Problem};

/// Where benchmark requests go.
pub const PATH: &str = "/bench/chat/completions";

/// What is asked of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The model id in full.
    pub model: String,
    /// The one user message.
    pub content: String,
    /// Tokens to generate.
    pub max_tokens: u64,
    /// Whether the server may use its prefix cache.
    pub use_prefix_cache: bool,
    /// Whether the answer shall be streamed.
    pub stream: bool,
    /// How tokens shall be chosen; none: as the server does by itself.
    pub sampling: Option<Sampling>,
}

impl Question {
    /// The body. The order of keys is that of the official client for a request that goes alone or with others. That
    /// client names no temperature and no seed; what was asked for here stands behind its keys.
    #[must_use]
    pub fn body(&self, together: bool) -> Value {
        let mut body = self.official(together);
        let sampling = self.sampling.unwrap_or_default();
        let wishes = [
            ("temperature", sampling.temperature.map(Value::from)),
            ("top_p", sampling.top_p.map(Value::from)),
            ("top_k", sampling.top_k.map(Value::from)),
            ("min_p", sampling.min_p.map(Value::from)),
            ("seed", sampling.seed.map(Value::from)),
        ];
        for (key, value) in wishes {
            if let Some(value) = value {
                body[key] = value;
            }
        }
        body
    }

    fn official(&self, together: bool) -> Value {
        let messages = json!([{"role": "user", "content": self.content}]);
        if together {
            json!({
                "model": self.model, "messages": messages, "stream": self.stream, "max_tokens": self.max_tokens,
                "logprobs": false, "use_prefix_cache": self.use_prefix_cache,
            })
        } else {
            json!({
                "model": self.model, "messages": messages, "max_tokens": self.max_tokens, "logprobs": false,
                "use_prefix_cache": self.use_prefix_cache, "stream": self.stream,
            })
        }
    }
}

/// Reads a plain answer with status 200.
#[must_use]
pub fn read_plain<T>(body: &[u8]) -> Outcome<T> {
    let malformed = |reason: String| Outcome::Failed(Problem::new(FailureKind::Malformed, reason));
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => return malformed(format!("the answer is not JSON: {error}")),
    };
    let Some(choice) = value.pointer("/choices/0") else {
        return malformed("the answer has no choices".into());
    };
    let text = choice.pointer("/message/content").and_then(Value::as_str).map(str::to_owned);
    let stats = match value.get("generation_stats") {
        None | Some(Value::Null) => {
            let message = "the answer carries no statistics";
            return Outcome::Failed(Problem::new(FailureKind::NoStats, message));
        }
        Some(stats) => match serde_json::from_value::<GenerationStats>(stats.clone()) {
            Ok(stats) => stats,
            Err(error) => return malformed(format!("generation_stats: {error}")),
        },
    };
    let power_usage = match value.get("power_usage") {
        None | Some(Value::Null) => None,
        Some(power) => match serde_json::from_value::<PowerUsage>(power.clone()) {
            Ok(power) => Some(power),
            Err(error) => return malformed(format!("power_usage: {error}")),
        },
    };
    match text {
        Some(text) if stats.generation_tokens != Some(0) => {
            Outcome::Completed(Answer { text, stats, power_usage, token_stamps: None })
        }
        _ => Outcome::Failed(Problem::new(FailureKind::NoToken, "the answer ended well but holds no token")),
    }
}

/// Reads a streamed answer with status 200 from its stamped chunks.
///
/// Each frame with a choice is a token, also where its text is empty (a token may end within a character), and the
/// frame with the finish reason carries the last one. A stream without the statistics comment is a failure: the official
/// client then makes up figures from its own clock, but those have another definition than the server's, and two
/// definitions do not stand in one column.
#[must_use]
pub fn read_stream<T: Copy, B: AsRef<[u8]>>(chunks: &[(T, B)]) -> Outcome<T> {
    let mut reader = Reader::default();
    let mut stamps = Vec::new();
    let mut text = String::new();
    let mut stats = None;
    let mut done = false;
    for (stamp, bytes) in chunks {
        for event in reader.feed(bytes.as_ref()) {
            let frames = stamps.len() as u64;
            let failed = |kind, message: String| Outcome::Failed(Problem::new(kind, message).after(frames));
            match event {
                Event::Comment(comment) => {
                    let Some(found) = comment.strip_prefix("generation_stats ") else { continue };
                    match serde_json::from_str::<GenerationStats>(found) {
                        Ok(found) => stats = Some(found),
                        Err(error) => {
                            return failed(FailureKind::Malformed, format!("generation_stats: {error}"));
                        }
                    }
                }
                Event::Data(data) if data == "[DONE]" => done = true,
                Event::Data(data) => {
                    let frame: Value = match serde_json::from_str(&data) {
                        Ok(frame) => frame,
                        Err(error) => {
                            return failed(FailureKind::Malformed, format!("a frame is not JSON: {error}"));
                        }
                    };
                    if let Some(error) = frame.get("error") {
                        let words = error.get("message").and_then(Value::as_str).map(str::to_owned);
                        return failed(FailureKind::ErrorFrame, words.unwrap_or_else(|| error.to_string()));
                    }
                    if let Some(choice) = frame.pointer("/choices/0") {
                        stamps.push(*stamp);
                        if let Some(piece) = choice.pointer("/delta/content").and_then(Value::as_str) {
                            text.push_str(piece);
                        }
                    }
                }
            }
        }
    }
    let frames = stamps.len() as u64;
    let failed = |kind, message: &str| Outcome::Failed(Problem::new(kind, message).after(frames));
    match stats {
        _ if !done => failed(FailureKind::TruncatedStream, "the stream ended without [DONE]"),
        _ if stamps.is_empty() => failed(FailureKind::NoToken, "the stream ended well but holds no token"),
        None => failed(FailureKind::NoStats, "the stream carries no statistics"),
        Some(stats) => Outcome::Completed(Answer { text, stats, power_usage: None, token_stamps: Some(stamps) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = r#"{"prompt_tps":10.5,"generation_tps":5.0,"prompt_tokens":64,"generation_tokens":3,"peak_memory_usage":{"in_bytes":7},"prefix_cache_hit":"none"}"#;

    fn frame(content: &str, more: &str) -> String {
        format!(r#"data: {{"choices":[{{"index":0,"delta":{{"role":"assistant","content":"{content}"}}{more}}}]}}"#)
            + "\n\n"
    }

    fn stream(parts: &[String]) -> Outcome<usize> {
        let chunks: Vec<(usize, Vec<u8>)> = parts.iter().map(|part| part.clone().into_bytes()).enumerate().collect();
        read_stream(&chunks)
    }

    fn failure(outcome: Outcome<usize>) -> (FailureKind, Option<u64>) {
        match outcome {
            Outcome::Failed(problem) => (problem.kind, problem.frames),
            Outcome::Completed(answer) => panic!("completed: {answer:?}"),
        }
    }

    fn whole() -> Vec<String> {
        vec![
            ": keep-alive\n\n".into(),
            ": prefill_progress {\"PrefillProgressChunk\":{}}\n\n".into(),
            frame("a", ""),
            frame("", ""),
            frame("b", r#","finish_reason":"length""#),
            format!(": generation_stats {STATS}\n\n"),
            "data: [DONE]\n\n".into(),
        ]
    }

    #[test]
    fn every_token_frame_counts_and_comments_do_not() {
        let Outcome::Completed(answer) = stream(&whole()) else { panic!("failed") };
        assert_eq!(answer.token_stamps, Some(vec![2, 3, 4]));
        assert_eq!(answer.text, "ab");
        assert_eq!(answer.stats.peak_memory_usage.map(|size| size.bytes()), Some(7));
    }

    #[test]
    fn a_cut_stream_is_broken_not_completed() {
        let parts = whole();
        assert_eq!(failure(stream(&parts[..4])), (FailureKind::TruncatedStream, Some(2)));
        assert_eq!(failure(stream(&parts[..6])), (FailureKind::TruncatedStream, Some(3)));
        assert_eq!(failure(stream(&[])), (FailureKind::TruncatedStream, Some(0)));
    }

    #[test]
    fn a_whole_stream_without_statistics_or_tokens_is_a_failure() {
        let mut parts = whole();
        parts.remove(5);
        assert_eq!(failure(stream(&parts)), (FailureKind::NoStats, Some(3)));
        assert_eq!(failure(stream(&["data: [DONE]\n\n".into()])), (FailureKind::NoToken, Some(0)));
    }

    #[test]
    fn an_error_frame_in_a_good_status_is_a_failure() {
        let error = "data: {\"error\":{\"message\":\"runner died\",\"type\":\"InternalServerError\",\"code\":500}}\n\n";
        let outcome = stream(&[frame("a", ""), error.into(), "data: [DONE]\n\n".into()]);
        assert_eq!(failure(outcome), (FailureKind::ErrorFrame, Some(1)));
    }

    #[test]
    fn a_plain_answer_needs_statistics_and_a_token() {
        let answer = |stats: &str| {
            format!(
                r#"{{"choices":[{{"message":{{"content":"x"}},"finish_reason":"length"}}],"usage":null,"generation_stats":{stats},"power_usage":null}}"#
            )
        };
        assert!(matches!(read_plain::<usize>(answer(STATS).as_bytes()), Outcome::Completed(_)));
        assert_eq!(failure(read_plain(answer("null").as_bytes())), (FailureKind::NoStats, None));
        let none = STATS.replace(r#""generation_tokens":3"#, r#""generation_tokens":0"#);
        assert_eq!(failure(read_plain(answer(&none).as_bytes())), (FailureKind::NoToken, None));
        assert_eq!(failure(read_plain(b"<html>")), (FailureKind::Malformed, None));
        assert_eq!(failure(read_plain(b"{}")), (FailureKind::Malformed, None));
    }

    #[test]
    fn the_body_has_the_official_client_s_order_of_keys() {
        let mut question = Question {
            model: "m".into(),
            content: "a ".into(),
            max_tokens: 8,
            use_prefix_cache: false,
            stream: false,
            sampling: None,
        };
        let keys = |value: Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(keys(question.body(false)), "model messages max_tokens logprobs use_prefix_cache stream");
        assert_eq!(keys(question.body(true)), "model messages stream max_tokens logprobs use_prefix_cache");
        question.sampling = Some(Sampling { temperature: Some(0.0), seed: Some(7), ..Sampling::default() });
        let body = question.body(false);
        assert_eq!((body["temperature"].as_f64(), body["seed"].as_u64()), (Some(0.0), Some(7)));
        assert!(keys(body).ends_with("stream temperature seed"));
    }
}
