//! The common start of requests that are sent together.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use super::clock::{Clock, Stamp};

/// The line that prepared requests stand at until all of them do.
#[derive(Debug)]
pub struct StartLine {
    arrived: Arc<Semaphore>,
    expected: u32,
    start: watch::Sender<Option<Stamp>>,
}

/// The place of one request at the line. One that is given up counts as taken: nobody waits for a connection that broke.
#[derive(Debug)]
pub struct Place {
    arrived: Option<Arc<Semaphore>>,
    start: watch::Receiver<Option<Stamp>>,
}

impl StartLine {
    /// A line for so many requests, with their places.
    #[must_use]
    pub fn new(requests: u32) -> (Self, Vec<Place>) {
        let arrived = Arc::new(Semaphore::new(0));
        let (start, receiver) = watch::channel(None);
        let place = || Place { arrived: Some(arrived.clone()), start: receiver.clone() };
        let places = (0..requests).map(|_| place()).collect();
        (Self { arrived, expected: requests, start }, places)
    }

    /// Waits until all stand at the line.
    pub async fn everyone(&self) {
        // An error would mean that the semaphore was closed, which nobody does.
        if let Ok(all) = self.arrived.acquire_many(self.expected).await {
            all.forget();
        }
    }

    /// Lets them go together: first what `at_once` does with all of them in one breath, then each by itself. Gives the common start: the instant that all of them were meant to be sent, from which the
    /// duration of each is counted.
    #[must_use]
    pub fn release(self, clock: &Clock, at_once: impl FnOnce()) -> Stamp {
        let start = clock.now();
        at_once();
        self.start.send_replace(Some(start));
        start
    }
}

impl Place {
    /// Stands at the line until all are let go. None when the line was given up.
    pub async fn wait(mut self) -> Option<Stamp> {
        self.arrive();
        self.start.wait_for(Option::is_some).await.ok().and_then(|start| *start)
    }

    fn arrive(&mut self) {
        if let Some(arrived) = self.arrived.take() {
            arrived.add_permits(1);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.arrive();
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
        line.everyone().await;
        let start = line.release(&clock, || ());
        assert!((start.seconds() - 2.0).abs() < 0.01);
        for (meant, really) in tasks.join_all().await {
            assert_eq!(meant, Some(start));
            assert!(really.since(start) < 0.01);
        }
    }

    #[tokio::test]
    async fn a_place_that_is_given_up_is_not_waited_for() {
        let (line, mut places) = StartLine::new(2);
        places.pop();
        let waiting = tokio::spawn(places.remove(0).wait());
        line.everyone().await;
        let start = line.release(&Clock::start(), || ());
        assert_eq!(waiting.await.unwrap(), Some(start));
    }
}
