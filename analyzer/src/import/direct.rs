//! The straight way of a result file: bytes → records, without a tree of values between them.
//!
//! A tree takes ten times the bytes of the file. The bytes are read piece by piece, for rows and bytes together take twice
//! the memory of the rows. What is not plainly a result file goes the long way, which knows what to
//! say of it; so this way answers with none and never with a reason.

use std::io::{self, Read};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::exo::{self, Found, Top, Traits};
use super::extent::Spent;
use super::shared::Shared;
use super::sniff;
use super::window::{Stop, Window};
use crate::record::{FORMAT_VERSION, ResultFile, Run};

/// A document that was read.
pub(super) struct Document {
    pub(super) shape: Shape,
    pub(super) file: ResultFile,
}

/// What a document is.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Written by Exoscope, in this version of the format.
    Exoscope(u32),
    /// exo's object or list, with what its rows hold.
    Exo(Top, Traits),
}

impl Shape {
    /// Why it was recognised, in the words of the table.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Exoscope(_) => sniff::BY_VERSION,
            Self::Exo(Top::Object, _) => sniff::BY_RUNS,
            Self::Exo(Top::List, _) => sniff::BY_ROWS,
        }
    }

    /// Its version in words, and its caveats.
    pub(super) fn found(self) -> Found {
        match self {
            Self::Exoscope(version) => Found { format: format!("exoscope {version}"), notices: Vec::new() },
            Self::Exo(top, traits) => exo::describe(traits, top),
        }
    }
}

/// The documents of a file; none where the long way has to look.
///
/// # Errors
/// The source's own.
pub(super) fn read(source: impl Read) -> io::Result<Option<Vec<Document>>> {
    match documents(&mut Window::new(source)) {
        Ok(documents) => Ok(Some(documents)),
        Err(Stop::Unlike) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn documents<R: Read>(window: &mut Window<R>) -> Result<Vec<Document>, Stop> {
    window.strip(b"\xEF\xBB\xBF")?;
    let documents = if window.peek()? == Some(b'[') { vec![list(window)?] } else { objects(window)? };
    if documents.is_empty() || window.peek()?.is_some() { Err(Stop::Unlike) } else { Ok(documents) }
}

/// Objects one after the other, either all of them ours or all of them exo's.
fn objects<R: Read>(window: &mut Window<R>) -> Result<Vec<Document>, Stop> {
    let mut files = Vec::new();
    while window.next_is(b'{')? {
        files.push(object(window)?);
    }
    let version = |file: &ResultFile| file.exoscope.as_ref().map(|provenance| provenance.format_version);
    let known = |file: &ResultFile| version(file).filter(|version| (1..=FORMAT_VERSION).contains(version));
    if files.iter().all(|(file, _)| known(file).is_some()) {
        let document = |(file, _)| Some(Document { shape: Shape::Exoscope(known(&file)?), file });
        return files.into_iter().map(document).collect::<Option<_>>().ok_or(Stop::Unlike);
    }
    let plain = |file: &ResultFile| file.exoscope.is_none() && file.unknown.is_empty();
    let document = |(file, traits): (ResultFile, Option<Traits>)| {
        // A key beyond exo's own may make it something else.
        let traits = traits.filter(|_| plain(&file))?;
        Some(Document { shape: Shape::Exo(Top::Object, traits), file })
    };
    files.into_iter().map(document).collect::<Option<_>>().ok_or(Stop::Unlike)
}

/// An object behind its bracket: the rows one by one, and all its other keys together. Traits as in [`rows`].
fn object<R: Read>(window: &mut Window<R>) -> Result<(ResultFile, Option<Traits>), Stop> {
    let mut found = None;
    let mut spent = Spent::default();
    // The object as it is without its rows.
    let mut others = b"{".to_vec();
    loop {
        let key: String = window.value()?;
        others.extend(window.taken());
        others.push(b':');
        window.expect(b':')?;
        if key == "runs" {
            window.expect(b'[')?;
            found = Some(rows(window, Top::Object)?);
            others.extend(b"[]");
        } else {
            window.skip()?;
            // Series are read as numbers; what no record names becomes a tree.
            let is_series = matches!(key.as_str(), "metric_series" | "overlays");
            let may = if is_series { spent.numbers(window.taken()) } else { spent.tree(window.taken()) };
            if !may {
                return Err(Stop::Unlike);
            }
            others.extend(window.taken());
        }
        if !window.next_is(b',')? {
            break;
        }
        others.push(b',');
    }
    window.expect(b'}')?;
    others.push(b'}');
    // Of two lists of rows none is the right one, and two keys are refused here like any other that stands twice.
    let file: ResultFile = serde_json::from_slice(&others).map_err(|_| Stop::Unlike)?;
    let (runs, traits) = found.filter(|_| file.source.is_none()).ok_or(Stop::Unlike)?;
    Ok((ResultFile { runs, ..file }, traits))
}

fn list<R: Read>(window: &mut Window<R>) -> Result<Document, Stop> {
    window.expect(b'[')?;
    match rows(window, Top::List)? {
        (runs, Some(traits)) if !runs.is_empty() => {
            let file = ResultFile { runs, ..ResultFile::default() };
            Ok(Document { shape: Shape::Exo(Top::List, traits), file })
        }
        _ => Err(Stop::Unlike),
    }
}

/// A row and what is reckoned of it take up to a thousand bytes, and sixteen of the file are enough for one. More go the long
/// way, which refuses them.
const MOST_ROWS: usize = if cfg!(target_arch = "wasm32") { 1_000_000 } else { 2_000_000 };

/// The rows of a list behind its bracket, and what they hold as exo's; none where a row has keys that are not exo's, for
/// such rows may be those of another tool.
fn rows<R: Read>(window: &mut Window<R>, top: Top) -> Result<(Vec<Run>, Option<Traits>), Stop> {
    let mut runs: Vec<Run> = Vec::new();
    let mut shared = Shared::default();
    let mut traits = Some(Traits { is_empty: true, ..Traits::default() });
    if window.next_is(b']')? {
        return Ok((runs, traits));
    }
    loop {
        let mut run: Run = window.value()?;
        if run.elapsed_s.is_none() {
            return Err(Stop::Unlike);
        }
        traits = traits.filter(|_| run.exoscope.is_none() && run.figures.is_none() && run.unknown.is_empty());
        if let Some(traits) = traits.as_mut().filter(|traits| !traits.settle(top)) {
            let keys: RowKeys = serde_json::from_slice(window.taken()).map_err(|_| Stop::Unlike)?;
            keys.note(traits);
        }
        if runs.len() == MOST_ROWS {
            return Err(Stop::Unlike);
        }
        shared.share(&mut run);
        runs.push(run);
        if !window.next_is(b',')? {
            break;
        }
    }
    window.expect(b']')?;
    Ok((runs, traits))
}

/// Which of the telling keys a row has; a null is one, too, so that a plain option would not do.
#[derive(Deserialize)]
struct RowKeys {
    #[serde(default)]
    concurrency: There<Option<u64>>,
    #[serde(default)]
    placement_sharding: There<Option<String>>,
    #[serde(default)]
    download_duration_s: There<IgnoredAny>,
    #[serde(default)]
    power_usage: There<IgnoredAny>,
    #[serde(default)]
    stats: Option<StatsKeys>,
}

#[derive(Deserialize)]
struct StatsKeys {
    #[serde(default)]
    prefix_cache_hit: There<IgnoredAny>,
    #[serde(default)]
    peak_memory_usage: Option<PeakKeys>,
}

#[derive(Deserialize)]
struct PeakKeys {
    #[serde(default)]
    in_bytes: There<IgnoredAny>,
}

/// A key that stands there, whatever its value.
#[derive(Default)]
enum There<T> {
    #[default]
    No,
    Yes(T),
}

impl<T> There<T> {
    const fn is(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for There<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::Yes)
    }
}

impl RowKeys {
    fn note(&self, traits: &mut Traits) {
        traits.is_empty = false;
        traits.concurrency |= self.concurrency.is();
        traits.concurrent |= matches!(self.concurrency, There::Yes(Some(2..)));
        traits.reused |= matches!(&self.placement_sharding, There::Yes(Some(label)) if label == "reused");
        traits.download |= self.download_duration_s.is();
        traits.power_usage |= self.power_usage.is();
        if let Some(stats) = &self.stats {
            traits.prefix_cache |= stats.prefix_cache_hit.is();
            traits.streamed |= stats.peak_memory_usage.as_ref().is_some_and(|peak| peak.in_bytes.is());
        }
    }
}
