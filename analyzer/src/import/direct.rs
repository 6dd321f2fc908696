//! The straight way of a result file: bytes → records, without a tree of values between them.
//!
//! A tree takes ten times the bytes of the file. What is not plainly a result file goes the long way, which knows what to
//! say of it; so this way answers with none and never with a reason.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::exo::{self, Found, Top, Traits};
use super::sniff;
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
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Document>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace())? {
        b'{' => objects(bytes),
        b'[' => list(bytes),
        _ => None,
    }
}

fn objects(bytes: &[u8]) -> Option<Vec<Document>> {
    let files = serde_json::Deserializer::from_slice(bytes).into_iter::<ResultFile>();
    let files: Vec<ResultFile> = files.collect::<Result<_, _>>().ok()?;
    let timed = |file: &ResultFile| file.source.is_none() && file.runs.iter().all(|run| run.elapsed_s.is_some());
    if !files.iter().all(timed) {
        return None;
    }
    let version = |file: &ResultFile| file.exoscope.as_ref().map(|provenance| provenance.format_version);
    if files.iter().all(|file| version(file).is_some_and(|version| (1..=FORMAT_VERSION).contains(&version))) {
        let document = |file| Some(Document { shape: Shape::Exoscope(version(&file)?), file });
        return files.into_iter().map(document).collect();
    }
    // A key beyond exo's own may make it something else.
    let plain = |file: &ResultFile| file.exoscope.is_none() && file.unknown.is_empty() && is_plain(&file.runs);
    if !files.iter().all(plain) {
        return None;
    }
    let keys = serde_json::Deserializer::from_slice(bytes).into_iter::<Keys>();
    let traits = keys.map(|keys| keys.map(|keys| keys.runs.0)).collect::<Result<Vec<_>, _>>().ok()?;
    let pairs = traits.into_iter().zip(files);
    Some(pairs.map(|(traits, file)| Document { shape: Shape::Exo(Top::Object, traits), file }).collect())
}

fn list(bytes: &[u8]) -> Option<Vec<Document>> {
    let runs: Vec<Run> = serde_json::from_slice(bytes).ok()?;
    if runs.is_empty() || !is_plain(&runs) {
        return None;
    }
    let RowTraits(traits) = serde_json::from_slice(bytes).ok()?;
    let file = ResultFile { runs, ..ResultFile::default() };
    Some(vec![Document { shape: Shape::Exo(Top::List, traits), file }])
}

/// Rows with keys that are not exo's may be those of another tool.
fn is_plain(runs: &[Run]) -> bool {
    let plain = |run: &Run| run.exoscope.is_none() && run.figures.is_none() && run.unknown.is_empty();
    runs.iter().all(|run| run.elapsed_s.is_some() && plain(run))
}

#[derive(Deserialize)]
struct Keys {
    runs: RowTraits,
}

/// What the rows of a list hold, folded while they are read.
struct RowTraits(Traits);

impl<'de> Deserialize<'de> for RowTraits {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fold;
        impl<'de> serde::de::Visitor<'de> for Fold {
            type Value = Traits;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("rows")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut rows: A) -> Result<Traits, A::Error> {
                let mut traits = Traits { is_empty: true, ..Traits::default() };
                while let Some(row) = rows.next_element::<RowKeys>()? {
                    row.note(&mut traits);
                }
                Ok(traits)
            }
        }
        deserializer.deserialize_seq(Fold).map(Self)
    }
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
