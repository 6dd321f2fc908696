//! The raw exchanges of a run, kept as JSON Lines that `exoscope replay` serves again.
//!
//! A line is made after its exchange has ended and written by a thread of its own, so that nothing of it stands between
//! an event and its stamp. Each line is flushed: what a crash leaves are whole lines. A disk that is full costs the
//! recording, never the measurement.

pub mod recorded;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::clock::{Clock, Stamp};
use super::exchange::{End, Exchange};
use super::transport::{Ready, SIMULATED};
use crate::environment::tool;
use recorded::{Ended, Header, RECORDING_VERSION, Recorded};

/// Why a recording cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// There is one.
    #[error("{path} is there already, and a recording never overwrites; name another file with --record")]
    Exists {
        /// The file.
        path: String,
    },
    /// The system's own words.
    #[error("{path} cannot be written: {error}; name another file with --record")]
    Unwritable {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
}

/// A file claimed for a recording before anything is asked of the cluster. Dropped unused, it is removed again.
#[derive(Debug)]
pub struct Claim {
    place: Place,
    file: File,
}

/// The file's name, and the duty to leave no empty file behind: it would be in the way of the next run.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    empty: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.empty {
            // Gone already is as good; a file that stays says so itself when the next run meets it.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

impl Claim {
    /// Claims a file that must not be there; its folder is made.
    ///
    /// # Errors
    /// [`RecordingError`].
    pub fn new(path: &Path) -> Result<Self, RecordingError> {
        let shown = || path.display().to_string();
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| RecordingError::Unwritable { path: shown(), error })?;
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => RecordingError::Exists { path: shown() },
            _ => RecordingError::Unwritable { path: shown(), error },
        })?;
        Ok(Self { place: Place { path: path.to_path_buf(), empty: true }, file })
    }

    /// Begins to record on the clock of the run; gzipped where the name ends in `.gz`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(self, clock: &Clock) -> io::Result<Recording> {
        let Self { place, file } = self;
        let zipped = place.path.extension().is_some_and(|extension| extension == "gz");
        let out: Box<dyn Write + Send> = if zipped {
            Box::new(GzEncoder::new(file, Compression::default()))
        } else {
            Box::new(BufWriter::new(file))
        };
        let (sender, receiver) = channel();
        let tool = tool();
        let header = Header {
            exoscope_recording: RECORDING_VERSION,
            tool: format!("{} {}", tool.name, tool.version),
            started_at: Some(clock.started_at()),
            simulated: false,
        };
        let path = place.path.display().to_string();
        let writer = std::thread::Builder::new()
            .name("exoscope-recording".into())
            .spawn(move || write(place, out, header, &receiver))?;
        let shared = Shared { sender, writer: Mutex::new(Some(writer)), path, next: AtomicU64::new(0) };
        Ok(Recording { clock: *clock, shared: Arc::new(shared) })
    }
}

/// A request that is about to leave.
#[derive(Debug)]
pub struct Asked(Recorded);

impl Asked {
    fn answered(self, exchange: &Exchange) -> Recorded {
        let mut recorded = Recorded {
            t_req_end: Some(exchange.sent.seconds()),
            status: exchange.status,
            t_resp_headers: exchange.headers.map(Stamp::seconds),
            resp_headers: exchange.answer_headers.clone(),
            resp_chunks: exchange.chunks.iter().map(|(stamp, chunk)| (stamp.seconds(), chunk.len())).collect(),
            t_resp_end: Some(exchange.done.seconds()),
            end: match exchange.end {
                End::Whole => Ended::Whole,
                End::Broken(_) => Ended::Broken,
                End::Silent(_) => Ended::Silent,
                End::Interrupted => Ended::Interrupted,
            },
            ..self.0
        };
        recorded.set_answered(exchange.body());
        recorded
    }
}

/// What the writer is told.
enum Message {
    Line(Box<Recorded>),
    Close,
}

#[derive(Debug)]
struct Shared {
    sender: Sender<Message>,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
    path: String,
    next: AtomicU64,
}

/// A recording that grows. Copies are the same recording.
#[derive(Debug, Clone)]
pub struct Recording {
    clock: Clock,
    shared: Arc<Shared>,
}

impl Recording {
    /// Notes a request whose connection has just been opened, before it is let go.
    #[must_use]
    pub fn asked(&self, ready: &Ready) -> Asked {
        let seq = self.shared.next.fetch_add(1, Ordering::Relaxed);
        Asked(Recorded {
            seq,
            // One connection per request.
            conn: Some(seq + 1),
            t_open: Some((self.clock.now().seconds() - ready.connect().as_secs_f64()).max(0.0)),
            ..ready.recorded()
        })
    }

    /// Keeps an exchange that has ended.
    pub fn keep(&self, asked: Asked, exchange: &Exchange) {
        let line = Message::Line(Box::new(asked.answered(exchange)));
        // Refused only after a full disk, which `close` tells, or after `close`.
        drop(self.shared.sender.send(line));
    }

    /// Waits until everything is written, and ends. A sentence says what was lost; none: nothing.
    #[must_use]
    pub fn close(&self) -> Option<String> {
        let writer = self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        drop(self.shared.sender.send(Message::Close));
        let reason = match writer.join() {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "its thread ended".into(),
        };
        let path = &self.shared.path;
        Some(format!(
            "the recording {path} could not be written to its end ({reason}); what was measured is not affected"
        ))
    }
}

/// Writes line by line until told to close, or until the disk is full.
fn write(mut place: Place, mut out: impl Write, header: Header, messages: &Receiver<Message>) -> io::Result<()> {
    let mut header = Some(header);
    while let Ok(Message::Line(line)) = messages.recv() {
        if let Some(header) = header.take() {
            // With the first answer, because only answers tell whether they are simulated.
            place.empty = false;
            let simulated = line.resp_headers.iter().any(|(name, value)| name == SIMULATED && value == "true");
            line_of(&mut out, &Header { simulated, ..header })?;
        }
        line_of(&mut out, &line)?;
        out.flush()?;
    }
    Ok(())
}

fn line_of(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_refused_and_an_unused_claim_leaves_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/run.jsonl");
        let claim = Claim::new(&path).unwrap();
        let error = Claim::new(&path).unwrap_err().to_string();
        assert!(error.contains("never overwrites") && error.contains("--record"), "{error}");
        drop(claim);
        assert!(!path.exists());
        let recording = Claim::new(&path).unwrap().start(&Clock::start()).unwrap();
        assert_eq!(recording.close(), None);
        assert!(!path.exists(), "nothing was exchanged, so nothing is in the way of the next run");
    }
}
