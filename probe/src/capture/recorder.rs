//! Where events go in: each reaches the journal, the progress and the file in the making, in this order.

use super::event::Event;
use super::fold::Fold;
use super::interrupt::{Interrupt, Why};
use super::journal::Journal;

/// Who wants to see events as they happen.
pub type Listener = Box<dyn FnMut(&Event) + Send>;

/// Takes the events of one run, on the thread that waits for requests; those that take their bytes are others.
pub struct Recorder {
    journal: Option<Journal>,
    fold: Fold,
    listener: Listener,
    interrupt: Interrupt,
    started: bool,
    lost: Option<std::io::Error>,
}

impl Recorder {
    /// A recorder; without a journal for a dry run, of which nothing is kept. When the journal cannot be written any
    /// more, the run is asked to stop: nothing further would be kept through a crash.
    #[must_use]
    pub fn new(journal: Option<Journal>, listener: Listener, interrupt: Interrupt) -> Self {
        Self { journal, fold: Fold::default(), listener, interrupt, started: false, lost: None }
    }

    /// Goes on from what an earlier start of the run left.
    #[must_use]
    pub fn resume(self, fold: Fold) -> Self {
        Self { fold, ..self }
    }

    /// Takes an event.
    pub fn record(&mut self, event: Event) {
        self.started |= matches!(event, Event::Started { .. } | Event::Resumed { .. });
        // What is waited for is of the moment: nobody reads it in a journal.
        if self.lost.is_none()
            && !matches!(event, Event::Waiting { .. })
            && let Some(journal) = &mut self.journal
            && let Err(error) = journal.append(&event)
        {
            self.lost = Some(error);
            self.interrupt.raise(Why::Journal);
        }
        (self.listener)(&event);
        self.fold.take(event);
    }

    /// Takes a sentence that a reader of the file should see.
    pub fn notice(&mut self, sentence: impl Into<String>) {
        self.record(Event::Notice { sentence: sentence.into() });
    }

    /// What was measured so far, earlier starts included.
    #[must_use]
    pub const fn file(&self) -> &analyzer::record::ResultFile {
        self.fold.file()
    }

    /// Whether the run has started, so that there is something to end.
    #[must_use]
    pub const fn started(&self) -> bool {
        self.started
    }

    /// The file in the making, the journal, and why that could not be written.
    #[must_use]
    pub fn close(self) -> (Fold, Option<Journal>, Option<std::io::Error>) {
        (self.fold, self.journal, self.lost)
    }
}
