//! Server-sent events out of bytes, however they are cut (WHATWG HTML, "Parsing an event stream").

/// One thing that a stream said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A line that began with a colon, without it. exo sends keep-alives, progress and statistics this way.
    Comment(String),
    /// The data of one event, its lines joined.
    Data(String),
}

/// Reads a stream piece by piece. An event that was not ended by an empty line is not given out: it was cut off.
#[derive(Debug, Default)]
pub struct Reader {
    line: Vec<u8>,
    data: Option<String>,
    after_carriage_return: bool,
}

impl Reader {
    /// Takes the next bytes and gives the events that they completed.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let second_half = byte == b'\n' && self.after_carriage_return;
            self.after_carriage_return = byte == b'\r';
            match byte {
                _ if second_half => {}
                b'\r' | b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_of_line(&String::from_utf8_lossy(&line)));
                }
                _ => self.line.push(byte),
            }
        }
        events
    }

    fn end_of_line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            return self.data.take().map(Event::Data);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => return Some(Event::Comment(value.into())),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.into()),
            },
            // event, id and retry mean nothing to the engines that are measured.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": keep-alive\n\ndata: {\"a\":1}\n\n: stats {\"b\":2}\r\n\r\ndata: häß\rdata:2\r\rid: 7\ndata\n\ndata: [DONE]\n\ndata: cut";

    fn comment(text: &str) -> Event {
        Event::Comment(text.into())
    }

    fn data(text: &str) -> Event {
        Event::Data(text.into())
    }

    fn expected() -> Vec<Event> {
        vec![
            comment("keep-alive"),
            data("{\"a\":1}"),
            comment("stats {\"b\":2}"),
            data("häß\n2"),
            data(""),
            data("[DONE]"),
        ]
    }

    #[test]
    fn comments_data_and_every_kind_of_line_end_are_read() {
        assert_eq!(Reader::default().feed(STREAM.as_bytes()), expected());
    }

    proptest! {
        #[test]
        fn a_stream_cut_at_any_bytes_gives_the_same_events(cuts in prop::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut reader = Reader::default();
            let (mut events, mut start) = (Vec::new(), 0);
            for cut in cuts.into_iter().chain([STREAM.len()]) {
                events.extend(reader.feed(&STREAM.as_bytes()[start..cut]));
                start = cut;
            }
            prop_assert_eq!(events, expected());
        }

        #[test]
        fn no_bytes_make_it_stumble(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            Reader::default().feed(&bytes);
        }
    }
}
