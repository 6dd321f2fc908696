//! Events → what is running and how long it will take, on stderr.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::capture::event::Event;
use crate::capture::recorder::Listener;
use crate::report::tame;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Mode {
    /// A bar on a terminal, nothing where stderr is piped
    #[default]
    Auto,
    /// One line per step, also where stderr is piped
    Plain,
    /// Nothing but notices
    Off,
}

/// Shows events as they happen. Notices are shown in every mode: they change how the numbers are read.
#[must_use]
pub fn listener(mode: Mode) -> Listener {
    match mode {
        Mode::Auto if std::io::stderr().is_terminal() => {
            let mut bar = Bar::new();
            Box::new(move |event| bar.show(event))
        }
        Mode::Auto | Mode::Off => Box::new(|event| {
            if let Event::Notice { sentence } = event {
                say(&format!("note: {sentence}"));
            }
        }),
        Mode::Plain => Box::new(|event| {
            if let Some(line) = line(event) {
                say(&line);
            }
        }),
    }
}

/// Says one line on stderr. Words of a server or a file may hold anything, so what would move the cursor or turn the text
/// around is shown as a mark instead.
pub fn say(line: &str) {
    // Nobody is left to tell when stderr is closed.
    drop(writeln!(std::io::stderr(), "{}", tame(line)));
}

/// One event in words; none for those that only a bar shows.
fn line(event: &Event) -> Option<String> {
    match event {
        Event::Planned { placements, requests, .. } => {
            Some(format!("placements: {}; {requests} requests to measure", placements.join(", ")))
        }
        Event::Notice { sentence } => Some(format!("note: {sentence}")),
        Event::PlacementStarted { placement, number, instance_id } => {
            Some(format!("placement {number}: {placement} / instance {instance_id}"))
        }
        Event::Waiting { what } => Some(format!("waiting for {what}")),
        Event::WarmedUp { number, of } => Some(format!("warm-up {number}/{of} done")),
        Event::BatchStarted { pp, tg, concurrency, repeat } => {
            Some(format!("pp {pp} tg {tg} concurrency {concurrency}, repeat {}", u64::from(*repeat) + 1))
        }
        Event::Failed { failure } => Some(format!("a request failed: {}", failure.message)),
        Event::Ended { cut_short: Some(reason), .. } => Some(format!("ended early: {reason}")),
        Event::Resumed { .. } => Some("going on where the earlier start stopped".into()),
        Event::Started { .. }
        | Event::Cluster { .. }
        | Event::Finished { .. }
        | Event::Sampled { .. }
        | Event::Idled { .. }
        | Event::BatchEnded
        | Event::PlacementEnded
        | Event::Ended { .. } => None,
    }
}

/// A bar that counts batches.
struct Bar {
    bar: ProgressBar,
    placement: String,
}

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_style(style("{spinner} {elapsed} {msg}"));
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.set_message("asking the cluster");
        Self { bar, placement: String::new() }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Planned { batches, .. } => {
                self.bar.set_length(*batches);
                self.bar.set_style(style("{bar:30} {pos}/{len} batches  {msg}"));
            }
            Event::PlacementStarted { placement, .. } => {
                self.placement.clone_from(placement);
                self.bar.set_message(format!("{placement}: starting"));
            }
            Event::Waiting { what } if self.placement.is_empty() => self.bar.set_message(format!("waiting for {what}")),
            Event::Waiting { what } => self.bar.set_message(format!("{}: waiting for {what}", self.placement)),
            Event::WarmedUp { number, of } => {
                self.bar.set_message(format!("{}: warm-up {number}/{of} done", self.placement));
                if number == of {
                    // Loading says nothing about how long a batch takes.
                    self.bar.reset_eta();
                }
            }
            Event::BatchStarted { .. } => {
                if let Some(words) = line(event) {
                    self.bar.set_message(format!("{}: {words}", self.placement));
                }
            }
            Event::BatchEnded => {
                // Repeats to a precision are not known beforehand.
                if self.bar.length().is_some_and(|length| self.bar.position() >= length) {
                    self.bar.inc_length(1);
                }
                self.bar.inc(1);
                // Before the first batch nothing tells how long one takes.
                self.bar.set_style(style("{bar:30} {pos}/{len} batches, {eta} left  {msg}"));
            }
            Event::Notice { .. } | Event::Failed { .. } => {
                if let Some(words) = line(event) {
                    self.bar.println(tame(&words));
                }
            }
            Event::Ended { .. } => self.bar.finish_and_clear(),
            Event::Started { .. }
            | Event::Resumed { .. }
            | Event::Cluster { .. }
            | Event::Finished { .. }
            | Event::Sampled { .. }
            | Event::Idled { .. }
            | Event::PlacementEnded => {}
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A template that cannot be read is a slip of ours; the default bar will do then.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_can_be_read() {
        for template in [
            "{spinner} {elapsed} {msg}",
            "{bar:30} {pos}/{len} batches  {msg}",
            "{bar:30} {pos}/{len} batches, {eta} left  {msg}",
        ] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn a_repeat_is_counted_from_one_for_people() {
        let event = Event::BatchStarted { pp: 64, tg: 8, concurrency: 2, repeat: 0 };
        assert_eq!(line(&event).as_deref(), Some("pp 64 tg 8 concurrency 2, repeat 1"));
    }
}
