//! Which recorded answer a request gets.
//!
//! A client polls as often as it likes, so polls cannot be matched one to one. What holds still is the order of the
//! requests that change something: they cut the recording into segments, and a poll is answered from the segment the
//! client is in. An instance polled before its `DELETE` can so never show the 404 that was recorded after it.

use std::collections::HashMap;

use super::session::Session;

/// Whether a request only looks: `/state/…` and `GET /instance/{id}`. How often it is sent depends on timing, so it is
/// set aside when the requests of two clients are compared. `GET /state` itself is a step of the method and is not polling.
#[must_use]
pub fn is_polling(target: &str, method: &str) -> bool {
    if method != "GET" {
        return false;
    }
    let path = target.split('?').next().unwrap_or(target);
    if let Some(rest) = path.strip_prefix("/state/") {
        return !rest.is_empty();
    }
    // `previews`, `placement` and `await` are questions of their own beside the ids.
    path.strip_prefix("/instance/").is_some_and(|id| !matches!(id, "" | "previews" | "placement" | "await"))
}

/// Whether runs of equal poll answers are given one by one or as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeats {
    /// One by one, as recorded.
    Kept,
    /// As one: a client that asks ten times a second need not wait as long as the recorded one did.
    Collapsed,
}

/// The answer to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The recorded exchange with this index.
    Recorded(usize),
    /// No reading of the nodes was ever recorded: an empty one.
    NoReadings,
    /// Nothing like it was recorded.
    Unknown,
}

type Key = (String, String);

/// The place in a recording.
#[derive(Debug)]
pub(super) struct Cursor {
    /// Method and target → indexes into the session, in order.
    recorded: HashMap<Key, Vec<usize>>,
    /// For each exchange, how many changing requests were recorded up to it, itself included.
    segment: Vec<usize>,
    /// How many answers each key, or each polled key in each segment, has given.
    given: HashMap<(Key, Option<usize>), usize>,
    /// The segment the client is in.
    here: usize,
}

impl Cursor {
    pub(super) fn new(session: &Session, repeats: Repeats) -> Self {
        let mut recorded: HashMap<Key, Vec<usize>> = HashMap::new();
        let mut segment = Vec::new();
        let mut changes = 0;
        let exchanges = session.exchanges();
        for (index, exchange) in exchanges.iter().enumerate() {
            changes += usize::from(exchange.method != "GET");
            segment.push(changes);
            let answers = recorded.entry((exchange.method.clone(), exchange.target.clone())).or_default();
            let repeated = answers.last().is_some_and(|&last| {
                segment[last] == changes
                    && exchanges[last].status == exchange.status
                    && exchanges[last].resp_body == exchange.resp_body
                    && exchanges[last].resp_body_base64 == exchange.resp_body_base64
            });
            if repeated && repeats == Repeats::Collapsed && is_polling(&exchange.target, &exchange.method) {
                continue;
            }
            answers.push(index);
        }
        Self { recorded, segment, given: HashMap::new(), here: 0 }
    }

    /// The answer to the next request, which moves the cursor on.
    pub(super) fn next(&mut self, method: &str, target: &str) -> Answer {
        let key = (method.to_owned(), target.to_owned());
        let Some(recorded) = self.recorded.get(&key) else {
            let readings = method == "GET" && target == "/state/nodeSystem";
            return if readings { Answer::NoReadings } else { Answer::Unknown };
        };
        if !is_polling(target, method) {
            let given = self.given.entry((key, None)).or_insert(0);
            let index = recorded[(*given).min(recorded.len() - 1)];
            *given += 1;
            if method != "GET" {
                // Two requests of one batch may arrive the other way round; the client is past both segments then.
                self.here = self.here.max(self.segment[index]);
            }
            return Answer::Recorded(index);
        }
        let here: Vec<usize> = recorded.iter().copied().filter(|&index| self.segment[index] == self.here).collect();
        if here.is_empty() {
            let before = recorded.iter().copied().rfind(|&index| self.segment[index] < self.here);
            return before.map_or(Answer::Unknown, Answer::Recorded);
        }
        let given = self.given.entry((key, Some(self.here))).or_insert(0);
        let index = here[(*given).min(here.len() - 1)];
        *given += 1;
        Answer::Recorded(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> Session {
        Session::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/wire/lifecycle.jsonl")).unwrap()
    }

    fn bodies(session: &Session, cursor: &mut Cursor, requests: &[(&str, &str)]) -> Vec<String> {
        let text = |answer| match answer {
            Answer::Recorded(index) => {
                let exchange: &crate::replay::Exchange = &session.exchanges()[index];
                format!("{} {}", exchange.status.unwrap(), exchange.resp_body)
            }
            other => format!("{other:?}"),
        };
        requests.iter().map(|(method, target)| text(cursor.next(method, target))).collect()
    }

    #[test]
    fn polling_is_looking_at_state_paths_and_instances() {
        for (method, target, polling) in [
            ("GET", "/state/runners/r", true),
            ("GET", "/instance/i", true),
            ("GET", "/state", false),
            ("GET", "/instance/previews?model_id=a%2Fb", false),
            ("DELETE", "/instance/i", false),
            ("POST", "/instance", false),
            ("GET", "/models", false),
        ] {
            assert_eq!(is_polling(target, method), polling, "{method} {target}");
        }
    }

    #[test]
    fn a_poll_before_the_delete_never_gets_the_answer_after_it() {
        let session = fixture();
        let mut cursor = Cursor::new(&session, Repeats::Kept);
        let polls = [("GET", "/instance/i"); 4];
        cursor.next("POST", "/instance");
        assert_eq!(bodies(&session, &mut cursor, &polls), ["404 no", "200 yes", "200 yes", "200 yes"]);
        cursor.next("DELETE", "/instance/i");
        assert_eq!(bodies(&session, &mut cursor, &polls[..3]), ["200 yes", "404 gone", "404 gone"]);
    }

    #[test]
    fn a_poll_that_its_segment_lacks_gets_the_last_answer_before() {
        let session = fixture();
        let mut cursor = Cursor::new(&session, Repeats::Kept);
        let poll = [("GET", "/state/runners/r")];
        assert_eq!(bodies(&session, &mut cursor, &poll), ["Unknown"]);
        cursor.next("POST", "/instance");
        assert_eq!(bodies(&session, &mut cursor, &poll), ["404 none"]);
        cursor.next("DELETE", "/instance/i");
        assert_eq!(bodies(&session, &mut cursor, &poll), ["200 ready"]);
    }

    #[test]
    fn equal_polls_in_a_row_collapse_on_request() {
        let session = fixture();
        let polls = [("GET", "/state/runners/r"); 3];
        let mut kept = Cursor::new(&session, Repeats::Kept);
        kept.next("POST", "/instance");
        assert_eq!(bodies(&session, &mut kept, &polls), ["404 none", "404 none", "200 ready"]);
        let mut collapsed = Cursor::new(&session, Repeats::Collapsed);
        collapsed.next("POST", "/instance");
        assert_eq!(bodies(&session, &mut collapsed, &polls), ["404 none", "200 ready", "200 ready"]);
    }

    #[test]
    fn steps_are_answered_in_order_and_the_last_repeats() {
        let session = fixture();
        let mut cursor = Cursor::new(&session, Repeats::Collapsed);
        let models = [("GET", "/models"); 3];
        assert_eq!(bodies(&session, &mut cursor, &models), ["200 first", "200 second", "200 second"]);
    }

    #[test]
    fn readings_that_were_never_recorded_are_empty() {
        let mut cursor = Cursor::new(&fixture(), Repeats::Kept);
        assert_eq!(cursor.next("GET", "/state/nodeSystem"), Answer::NoReadings);
        assert_eq!(cursor.next("GET", "/state/nodeDisk/n"), Answer::Unknown);
    }
}
