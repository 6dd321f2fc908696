//! A window that moves over a source of bytes, from which JSON values are taken one after the other.
//!
//! Bytes and records of a large file are never both in memory as a whole: the window holds a few rows, or the one value that
//! is larger.

use std::io::{self, Read};
use std::ops::Range;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::extent;

/// Bytes that are asked of the source at a time: some hundred rows, so that reading the last one twice costs little.
const STEP: usize = 1 << 18;

/// A value that is larger is looked at before it is taken: it may hold more values than there is memory.
const ORDINARY: usize = 1 << 20;

/// A larger value is none of a result file.
const LARGEST: usize = super::bytes::MOST as usize / 2;

/// Why no more is taken.
#[derive(Debug)]
pub(super) enum Stop {
    /// The source failed.
    Failed(io::Error),
    /// What stands there is not what was asked for.
    Unlike,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// The window.
pub(super) struct Window<R> {
    source: R,
    bytes: Vec<u8>,
    /// What stands before it was taken.
    start: usize,
    /// Where the value that was taken last stands.
    taken: Range<usize>,
    /// Whether the source has no more.
    ended: bool,
}

impl<R: Read> Window<R> {
    /// Before the first byte.
    pub(super) const fn new(source: R) -> Self {
        Self { source, bytes: Vec::new(), start: 0, taken: 0..0, ended: false }
    }

    /// Takes a prefix, where it stands there.
    pub(super) fn strip(&mut self, prefix: &[u8]) -> io::Result<()> {
        while !self.ended && self.rest().len() < prefix.len() {
            self.fill()?;
        }
        if self.rest().starts_with(prefix) {
            self.start += prefix.len();
        }
        Ok(())
    }

    /// The next byte that is not white; none at the end.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            if let Some(blank) = self.rest().iter().position(|byte| !white(byte)) {
                self.start += blank;
                return Ok(self.rest().first().copied());
            }
            self.start = self.bytes.len();
            if self.ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Takes the next byte, where it is this one.
    pub(super) fn next_is(&mut self, byte: u8) -> io::Result<bool> {
        let is = self.peek()? == Some(byte);
        self.start += usize::from(is);
        Ok(is)
    }

    /// Takes this byte.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        if self.next_is(byte)? { Ok(()) } else { Err(Stop::Unlike) }
    }

    /// Takes a value.
    pub(super) fn value<T: DeserializeOwned>(&mut self) -> Result<T, Stop> {
        self.checked(extent::is_first_within)
    }

    /// Takes a value and looks at nothing of it.
    pub(super) fn skip(&mut self) -> Result<(), Stop> {
        self.checked::<IgnoredAny>(|_| true).map(|_| ())
    }

    fn checked<T: DeserializeOwned>(&mut self, is_within: fn(&[u8]) -> bool) -> Result<T, Stop> {
        loop {
            let length = self.rest().len();
            if length > LARGEST || (length > ORDINARY && !is_within(self.rest())) {
                return Err(Stop::Unlike);
            }
            let mut values = serde_json::Deserializer::from_slice(self.rest()).into_iter::<T>();
            let value = values.next();
            let end = self.start + values.byte_offset();
            match value {
                // A number at the end of the window may go on behind it.
                Some(Ok(value)) if self.ended || end < self.bytes.len() => {
                    self.taken = self.start..end;
                    self.start = end;
                    return Ok(value);
                }
                Some(Err(error)) if !error.is_eof() => return Err(Stop::Unlike),
                _ if self.ended => return Err(Stop::Unlike),
                _ => self.fill()?,
            }
        }
    }

    /// The bytes of the value that was taken last. Anything else that is asked of the window may move them away.
    pub(super) fn taken(&self) -> &[u8] {
        self.bytes.get(self.taken.clone()).unwrap_or(&[])
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or(&[])
    }

    /// Drops what was taken and reads on: at least as much as is kept, so that a value as large as the file is begun anew a
    /// few times only.
    fn fill(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.start);
        (self.start, self.taken) = (0, 0..0);
        let more = STEP.max(self.bytes.len());
        let read = (&mut self.source).take(more as u64).read_to_end(&mut self.bytes)?;
        self.ended = read < more;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives a byte at a time is read as one that gives all.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(into.len()).min(1);
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn a_value_may_be_cut_anywhere_by_the_end_of_the_window() {
        // Each length puts the end of the first window elsewhere in the value.
        let value = r#"{"a":[-1.5e-3,true,null],"b":"ü\u00fc\\","c":{"d":12345678901}}"#;
        let expected: serde_json::Value = serde_json::from_str(value).unwrap();
        for before in STEP - value.len() - 2..=STEP {
            let text = format!("{}{value} {value}", " ".repeat(before));
            let mut window = Window::new(text.as_bytes());
            for _ in 0..2 {
                window.peek().unwrap();
                assert_eq!(window.value::<serde_json::Value>().unwrap(), expected);
                assert_eq!(window.taken(), value.as_bytes());
            }
            assert_eq!(window.peek().unwrap(), None);
        }
    }

    #[test]
    fn a_number_goes_on_behind_the_window() {
        let text = format!("{}1234", " ".repeat(STEP - 2));
        let mut window = Window::new(text.as_bytes());
        assert_eq!(window.value::<u64>().unwrap(), 1234);
        let mut window = Window::new(Drip(b"12"));
        assert_eq!(window.value::<u64>().unwrap(), 12);
    }

    #[test]
    fn a_value_may_be_larger_than_the_window() {
        let long = "x".repeat(5 * STEP + 7);
        let text = format!("\"{long}\"]");
        let mut window = Window::new(text.as_bytes());
        assert_eq!(window.value::<String>().unwrap(), long);
        assert!(window.next_is(b']').unwrap());
    }

    #[test]
    fn what_breaks_off_or_is_something_else_stops() {
        for text in ["{\"a\":", "[1,2", "\"open", "tru", ""] {
            let stopped = Window::new(text.as_bytes()).value::<serde_json::Value>();
            assert!(matches!(stopped, Err(Stop::Unlike)), "{text}");
        }
    }
}
