//! The names that `--fault` takes, what may follow them, and a line of help for each.

use std::str::FromStr;
use std::time::Duration;

use super::{AnswerFault, DownloadFault, Fault, InstanceFault, When};
use crate::simulate::LONGEST;

/// What may follow a name after a colon, and the fault that is made of it.
enum Takes {
    Nothing(Fault),
    When(fn(When) -> Fault),
    /// A whole number of at least 1, and what it is where nothing is said.
    Count(&'static str, Option<u64>, fn(u64) -> Fault),
    Seconds(fn(Duration) -> Fault),
}

use Takes::{Count, Nothing, Seconds};

struct Entry(&'static str, Takes, &'static str);

const fn answer(name: &'static str, make: fn(When) -> Fault, line: &'static str) -> Entry {
    Entry(name, Takes::When(make), line)
}

const CATALOGUE: [Entry; 27] = [
    answer("http-500", |when| Fault::Answer(AnswerFault::Http500, when), "answer 500 in plain text"),
    answer(
        "error-frame",
        |when| Fault::Answer(AnswerFault::ErrorFrame, when),
        "an error frame in a stream with status 200; plain: 500",
    ),
    answer(
        "no-stats",
        |when| Fault::Answer(AnswerFault::NoStats, when),
        "200 without statistics and reason for the end",
    ),
    answer(
        "no-done",
        |when| Fault::Answer(AnswerFault::NoDone, when),
        "a stream ends without [DONE]; plain: as no-stats",
    ),
    answer("reset", |when| Fault::Answer(AnswerFault::Reset, when), "the connection ends within the answer"),
    answer("hang", |when| Fault::Answer(AnswerFault::Hang, when), "no answer; a stream sends keep-alives only"),
    answer("no-token", |when| Fault::Answer(AnswerFault::NoToken, when), "the answer ends well without a token"),
    answer("early-stop", |when| Fault::Answer(AnswerFault::EarlyStop, when), "half of the tokens asked for"),
    answer("malformed", |when| Fault::Answer(AnswerFault::Malformed, when), "an answer that is not JSON"),
    answer(
        "instance-gone",
        |when| Fault::Answer(AnswerFault::InstanceGone, when),
        "the instance is deleted while it answers",
    ),
    answer(
        "sequential-count",
        |when| Fault::Answer(AnswerFault::SequentialCount, when),
        "the server counts one prompt token more",
    ),
    answer(
        "wrong-count",
        |when| Fault::Answer(AnswerFault::WrongCount, when),
        "the server counts seven prompt tokens more",
    ),
    answer(
        "runner-fails",
        |when| Fault::Instance(InstanceFault::RunnerFails, when),
        "the runners of an instance fail while loading",
    ),
    answer(
        "never-ready",
        |when| Fault::Instance(InstanceFault::NeverReady, when),
        "the runners of an instance load for ever",
    ),
    answer(
        "never-appears",
        |when| Fault::Instance(InstanceFault::NeverAppears, when),
        "an instance is accepted and never there",
    ),
    answer("download-fails", |when| Fault::Download(DownloadFault::Fails, when), "a download fails half-way *"),
    answer("download-stalls", |when| Fault::Download(DownloadFault::Stalls, when), "a download stops half-way *"),
    Entry("download-slow", Seconds(Fault::DownloadSlow), "a download takes so long *"),
    Entry("disk-full", Nothing(Fault::DiskFull), "no room until another model is deleted *"),
    Entry("delete-slow", Seconds(Fault::DeleteSlow), "an instance goes so long after its deletion"),
    Entry("delete-refused", Count("N", Some(2), Fault::DeleteRefused), "the first N (2) deletions answer 500"),
    Entry("no-power", Count("NODE", None, |node| Fault::NoPower(number(node))), "a node (1, 2, …) without sensors"),
    Entry(
        "frozen-power",
        Count("NODE", None, |node| Fault::FrozenPower(number(node))),
        "a node whose sensors say the same for ever",
    ),
    Entry("no-macmon", Nothing(Fault::NoMacmon), "no node has sensors"),
    Entry(
        "slow-poll",
        Count("MS", None, |milliseconds| Fault::SlowPoll(Duration::from_millis(milliseconds))),
        "each answer about the state takes so long",
    ),
    Entry("poll-fails", Count("N", None, Fault::PollFails), "the first N questions for a runner answer 500"),
    Entry("other-instance", Nothing(Fault::OtherInstance), "an instance of another model is there"),
];

/// No cluster has more nodes than fit.
fn number(node: u64) -> usize {
    usize::try_from(node).unwrap_or(usize::MAX)
}

impl Entry {
    /// How it is written: `name[:WHEN]`.
    fn form(&self) -> String {
        let Self(name, takes, _) = self;
        match takes {
            Nothing(_) => (*name).to_owned(),
            Takes::When(_) => format!("{name}[:WHEN]"),
            Count(word, Some(_), _) => format!("{name}[:{word}]"),
            Count(word, None, _) => format!("{name}:{word}"),
            Seconds(_) => format!("{name}:SECONDS"),
        }
    }

    fn read(&self, argument: Option<&str>) -> Option<Fault> {
        match (&self.1, argument) {
            (Nothing(fault), None) => Some(*fault),
            (Takes::When(make), None) => Some(make(When::Always)),
            (Takes::When(make), Some(text)) => When::read(text).map(make),
            (Count(_, default, make), None) => default.map(make),
            (Count(_, _, make), Some(text)) => text.parse().ok().filter(|&count| count > 0).map(make),
            (Seconds(make), Some(text)) => {
                let seconds: f64 = text.parse().ok()?;
                (0.0..=LONGEST).contains(&seconds).then(|| make(Duration::from_secs_f64(seconds)))
            }
            (Nothing(_), Some(_)) | (Seconds(_), None) => None,
        }
    }
}

/// Why a text is no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// Nobody knows the name.
    #[error("there is no fault {given}; there are {names}")]
    Unknown {
        /// The name.
        given: String,
        /// All names.
        names: String,
    },
    /// The name is known, what follows it is not.
    #[error("write {form}{hint}")]
    Argument {
        /// How it is written.
        form: String,
        /// Examples, where WHEN may be given.
        hint: &'static str,
    },
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (name, argument) = text.split_once(':').map_or((text, None), |(name, argument)| (name, Some(argument)));
        let Some(entry) = CATALOGUE.iter().find(|entry| entry.0 == name) else {
            let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.0).collect();
            return Err(FaultError::Unknown { given: name.to_owned(), names: names.join(", ") });
        };
        let hint = if matches!(entry.1, Takes::When(_)) { ", with WHEN as in :2, :2-3 or :every=3" } else { "" };
        entry.read(argument).ok_or_else(|| FaultError::Argument { form: entry.form(), hint })
    }
}

/// A line for each fault, for a help text.
#[must_use]
pub fn help() -> String {
    CATALOGUE.iter().fold(String::new(), |mut text, entry| {
        text.push_str(&format!("  {:<25}{}\n", entry.form(), entry.2));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Fault, String> {
        text.parse().map_err(|error: FaultError| error.to_string())
    }

    #[test]
    fn a_name_alone_or_with_what_it_takes() {
        assert_eq!(read("hang"), Ok(Fault::Answer(AnswerFault::Hang, When::Always)));
        assert_eq!(read("hang:2-3"), Ok(Fault::Answer(AnswerFault::Hang, When::Between(2, 3))));
        assert_eq!(read("delete-slow:1.5"), Ok(Fault::DeleteSlow(Duration::from_millis(1500))));
        assert_eq!(read("delete-refused"), Ok(Fault::DeleteRefused(2)));
        assert_eq!(read("delete-refused:9"), Ok(Fault::DeleteRefused(9)));
        assert_eq!(read("no-power:2"), Ok(Fault::NoPower(2)));
        assert_eq!(read("disk-full"), Ok(Fault::DiskFull));
    }

    #[test]
    fn what_cannot_be_read_says_how_it_is_written() {
        assert_eq!(read("hang:never"), Err("write hang[:WHEN], with WHEN as in :2, :2-3 or :every=3".to_owned()));
        for wrong in ["no-power", "no-power:0", "no-power:x"] {
            assert_eq!(read(wrong), Err("write no-power:NODE".to_owned()), "{wrong}");
        }
        for wrong in ["delete-slow", "delete-slow:-1", "delete-slow:inf"] {
            assert_eq!(read(wrong), Err("write delete-slow:SECONDS".to_owned()), "{wrong}");
        }
        assert_eq!(read("disk-full:1"), Err("write disk-full".to_owned()));
        let unknown = read("gremlins").unwrap_err();
        assert!(unknown.starts_with("there is no fault gremlins; there are http-500, "), "{unknown}");
    }

    #[test]
    fn every_name_stands_in_the_help_once_and_fits() {
        let text = help();
        for Entry(name, ..) in &CATALOGUE {
            let lines = text.lines().filter(|line| line.trim_start().split([':', '[', ' ']).next() == Some(name));
            assert_eq!(lines.count(), 1, "{name}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
