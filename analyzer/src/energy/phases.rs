//! The spans of a batch in which power is of one kind: waiting and prefill, then decoding.

/// A span of time on the clock of the polls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Start, s.
    pub from_s: f64,
    /// End, s; after the start.
    pub to_s: f64,
}

impl Window {
    /// Its length, s.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.to_s - self.from_s
    }
}

/// Where prefill ends and decoding begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Split {
    /// At this instant, s.
    At(f64),
    /// Not known: the whole window is one phase.
    Unknown,
    /// Nowhere: several requests ran at once, so one prefilled while another decoded.
    Overlapping,
}

/// The window of a batch and its split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phases {
    /// First request sent to last answer done.
    pub window: Window,
    /// Where its two phases meet.
    pub split: Split,
}

impl Phases {
    /// The window with its split; a split that does not lie inside is none.
    #[must_use]
    pub fn new(window: Window, split: Split) -> Self {
        let split = match split {
            Split::At(at) if !(at > window.from_s && at < window.to_s) => Split::Unknown,
            other => other,
        };
        Self { window, split }
    }

    /// The phases in order: prefill and decode, or the whole window as one.
    #[must_use]
    pub fn spans(&self) -> Vec<Window> {
        let Window { from_s, to_s } = self.window;
        match self.split {
            Split::At(at) => vec![Window { from_s, to_s: at }, Window { from_s: at, to_s }],
            Split::Unknown | Split::Overlapping => vec![self.window],
        }
    }
}

/// The instant of the first token of a lone request: as it was seen on a stream, else counted back from the end of the
/// answer by the server's decode rate, s. The latter blames the way back to the client on the prefill, some milliseconds.
#[must_use]
pub fn first_token_s(
    seen_s: Option<f64>,
    done_s: f64,
    generation_tokens: Option<f64>,
    generation_tps: Option<f64>,
) -> Option<f64> {
    let counted = || {
        let rate = generation_tps.filter(|rate| *rate > 0.0)?;
        generation_tokens.filter(|tokens| *tokens > 1.0).map(|tokens| done_s - (tokens - 1.0) / rate)
    };
    seen_s.or_else(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_answer_is_split_by_the_servers_rate_and_a_stream_by_what_was_seen() {
        assert_eq!(first_token_s(None, 10.0, Some(81.0), Some(20.0)), Some(6.0));
        assert_eq!(first_token_s(Some(5.9), 10.0, Some(81.0), Some(20.0)), Some(5.9));
        assert_eq!(first_token_s(None, 10.0, Some(1.0), Some(0.0)), None, "one token is not decoded");
    }

    #[test]
    fn a_split_outside_of_the_window_is_none() {
        let window = Window { from_s: 2.0, to_s: 4.0 };
        assert_eq!(Phases::new(window, Split::At(1.0)).spans(), [window]);
        assert_eq!(Phases::new(window, Split::At(3.0)).spans().len(), 2);
    }
}
