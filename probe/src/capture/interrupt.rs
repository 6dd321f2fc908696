//! The wish to stop. Whoever waits, waits through here, so that a stop is heard everywhere and the way out is the same.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// Why the run shall stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Ctrl-C or SIGTERM.
    User,
    /// The journal cannot be written, so that nothing more would be kept.
    Journal,
}

/// What was cut short because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

#[derive(Debug, Clone, Copy, Default)]
struct State {
    why: Option<Why>,
    times: u32,
}

/// A wish to stop that can be raised and waited for; copies are the same wish.
#[derive(Debug, Clone)]
pub struct Interrupt {
    state: Arc<watch::Sender<State>>,
}

impl Default for Interrupt {
    fn default() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }
}

/// SIGXFSZ, the same number on Linux (x86, ARM) and macOS.
#[cfg(unix)]
const FILE_TOO_LARGE: i32 = 25;

impl Interrupt {
    /// Raises it; the first reason stays. A second time means: do not wait for the clean-up either.
    pub fn raise(&self, why: Why) {
        self.state.send_modify(|state| {
            state.why.get_or_insert(why);
            state.times += 1;
        });
    }

    /// Why it was raised; none so far.
    #[must_use]
    pub fn why(&self) -> Option<Why> {
        self.state.borrow().why
    }

    /// Waits until it is raised.
    pub async fn raised(&self) {
        self.times(1).await;
    }

    /// Waits until it is raised a second time.
    pub async fn insisted(&self) {
        self.times(2).await;
    }

    async fn times(&self, times: u32) {
        // The sender lives in self, so the channel cannot close meanwhile.
        if self.state.subscribe().wait_for(|state| state.times >= times).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Does something unless it is raised before that is done.
    ///
    /// # Errors
    /// It was raised.
    pub async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, Interrupted> {
        tokio::select! {
            biased;
            () = self.raised() => Err(Interrupted),
            done = work => Ok(done),
        }
    }

    /// Waits for so long unless it is raised before.
    ///
    /// # Errors
    /// It was raised.
    pub async fn pause(&self, seconds: f64) -> Result<(), Interrupted> {
        let pause = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.unless(tokio::time::sleep(pause)).await
    }

    /// Raises it whenever the user presses Ctrl-C, the terminal is closed, or the system asks the program to end. Needs a runtime.
    ///
    /// # Errors
    /// The system does not let the program listen for signals.
    pub fn listen(&self) -> std::io::Result<()> {
        let interrupt = self.clone();
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let (mut from_keyboard, mut from_system) =
                (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            // A closed terminal or a lost connection must not leave an instance behind either.
            let mut from_terminal = signal(SignalKind::hangup())?;
            // Unheard, a file that may not grow any more would end the program on the spot; heard, writing fails with a
            // reason. The handler stays after its listener is dropped.
            drop(signal(SignalKind::from_raw(FILE_TOO_LARGE))?);
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        Some(()) = from_keyboard.recv() => {}
                        Some(()) = from_system.recv() => {}
                        Some(()) = from_terminal.recv() => {}
                        else => return,
                    }
                    interrupt.raise(Why::User);
                }
            });
        }
        #[cfg(not(unix))]
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                interrupt.raise(Why::User);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pause_ends_at_once_when_raised_and_stays_refused() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.pause(5.0).await, Ok(()));
        let raiser = interrupt.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            raiser.raise(Why::User);
        });
        let before = tokio::time::Instant::now();
        assert_eq!(interrupt.pause(60.0).await, Err(Interrupted));
        assert_eq!(before.elapsed(), Duration::from_secs(1));
        assert_eq!(interrupt.unless(async {}).await, Err(Interrupted));
        interrupt.raise(Why::Journal);
        interrupt.insisted().await;
        assert_eq!(interrupt.why(), Some(Why::User));
    }
}
