//! The common start of requests that are sent together.

use std::sync::Arc;

use tokio::sync::{Barrier, watch};

use super::clock::{Clock, Stamp};

/// The line that prepared requests stand at until all of them do.
#[derive(Debug)]
pub struct StartLine {
    everyone: Arc<Barrier>,
    start: watch::Sender<Option<Stamp>>,
}

/// The place of one request at the line.
#[derive(Debug)]
pub struct Place {
    everyone: Arc<Barrier>,
    start: watch::Receiver<Option<Stamp>>,
}

impl StartLine {
    /// A line for so many requests, with their places.
    #[must_use]
    pub fn new(requests: usize) -> (Self, Vec<Place>) {
        let everyone = Arc::new(Barrier::new(requests + 1));
        let (start, receiver) = watch::channel(None);
        let place = || Place { everyone: everyone.clone(), start: receiver.clone() };
        let places = (0..requests).map(|_| place()).collect();
        (Self { everyone, start }, places)
    }

    /// Waits until all stand at the line, then lets them go together. Gives the common start: the instant that all of
    /// them were meant to be sent, from which the duration of each is counted.
    pub async fn release(self, clock: &Clock) -> Stamp {
        self.everyone.wait().await;
        let start = clock.now();
        self.start.send_replace(Some(start));
        start
    }
}

impl Place {
    /// Stands at the line until all do. None when the line was given up.
    pub async fn wait(mut self) -> Option<Stamp> {
        self.everyone.wait().await;
        self.start.wait_for(Option::is_some).await.ok().and_then(|start| *start)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nobody_starts_before_the_last_has_come() {
        let clock = Clock::start();
        let (line, places) = StartLine::new(3);
        let mut tasks = tokio::task::JoinSet::new();
        for (number, place) in places.into_iter().enumerate() {
            tasks.spawn(async move {
                tokio::time::sleep(Duration::from_secs(number as u64)).await;
                (place.wait().await, clock.now())
            });
        }
        let start = line.release(&clock).await;
        assert!((start.seconds() - 2.0).abs() < 0.01);
        for (meant, really) in tasks.join_all().await {
            assert_eq!(meant, Some(start));
            assert!(really.since(start) < 0.01);
        }
    }
}
