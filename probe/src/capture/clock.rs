//! The only clock: monotonic nanoseconds since the start of the run, and one anchor in UTC.

use std::time::Duration;

use tokio::time::Instant;

/// An instant of a run, nanoseconds since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

impl Stamp {
    /// Seconds since the start of the run, as the result file keeps them.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        Duration::from_nanos(self.0).as_secs_f64()
    }

    /// Seconds from an earlier instant to this one; 0 where that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> f64 {
        Duration::from_nanos(self.0.saturating_sub(earlier.0)).as_secs_f64()
    }
}

/// The clock of one run. Copies show the same time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    /// What the clock showed at its origin: 0, or the time between the first start of a run and this one.
    ahead: Duration,
    started_at: jiff::Timestamp,
}

impl Clock {
    /// Starts at 0 now. UTC is read this once: later it may jump.
    #[must_use]
    pub fn start() -> Self {
        Self { origin: Instant::now(), ahead: Duration::ZERO, started_at: jiff::Timestamp::now() }
    }

    /// Goes on counting from an earlier start, by UTC: the monotonic clock of that start is gone. A UTC that was set back
    /// meanwhile leaves the clock at 0.
    #[must_use]
    pub fn resume(started_at: jiff::Timestamp) -> Self {
        let ahead = jiff::Timestamp::now().duration_since(started_at);
        Self { origin: Instant::now(), ahead: Duration::try_from(ahead).unwrap_or(Duration::ZERO), started_at }
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Stamp {
        // 2^64 ns are 584 years.
        Stamp(u64::try_from((self.ahead + self.origin.elapsed()).as_nanos()).unwrap_or(u64::MAX))
    }

    /// The start of the run, UTC, RFC 3339.
    #[must_use]
    pub fn started_at(&self) -> String {
        format!("{:.3}", self.started_at)
    }

    /// An instant in UTC by the run's own anchor, RFC 3339.
    #[must_use]
    pub fn utc(&self, stamp: Stamp) -> String {
        format!("{:.3}", self.started_at + Duration::from_nanos(stamp.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_counts_from_the_start_and_utc_hangs_on_one_anchor() {
        let clock = Clock::start();
        tokio::time::advance(Duration::from_millis(1500)).await;
        let stamp = clock.now();
        assert!((stamp.seconds() - 1.5).abs() < 1e-9);
        assert_eq!(Stamp(5).since(Stamp(9)), 0.0);
        let earlier = jiff::Timestamp::now() - Duration::from_secs(100);
        assert!((Clock::resume(earlier).now().seconds() - 100.0).abs() < 1.0);
        let start: jiff::Timestamp = clock.started_at().parse().unwrap();
        let later: jiff::Timestamp = clock.utc(stamp).parse().unwrap();
        assert_eq!(later.as_millisecond() - start.as_millisecond(), 1500);
    }
}
