//! The straight way of a result file: bytes → records, without a tree of values between them.
//!
//! A tree takes ten times the bytes of the file. What is not plainly a result file goes the long way, which knows what to
//! say of it; so this way answers with none and never with a reason.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::exo::Traits;
use super::sniff::Shape;
use crate::record::{FORMAT_VERSION, ResultFile, Run};

/// The documents of a file with the shape of each and what its rows hold; none where the long way has to look.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<(Shape, Traits, ResultFile)>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace())? {
        b'{' => objects(bytes),
        b'[' => list(bytes),
        _ => None,
    }
}

fn objects(bytes: &[u8]) -> Option<Vec<(Shape, Traits, ResultFile)>> {
    let files = serde_json::Deserializer::from_slice(bytes).into_iter::<ResultFile>();
    let files: Vec<ResultFile> = files.collect::<Result<_, _>>().ok()?;
    if files.iter().all(|file| file.exoscope.is_some()) {
        let known = |file: &ResultFile| {
            file.exoscope.as_ref().is_some_and(|provenance| (1..=FORMAT_VERSION).contains(&provenance.format_version))
        };
        let whole = files.iter().all(known);
        return whole.then(|| files.into_iter().map(|file| (Shape::Exoscope, Traits::default(), file)).collect());
    }
    // A key beyond exo's own may make it something else.
    let plain = |file: &ResultFile| file.exoscope.is_none() && file.unknown.is_empty() && is_plain(&file.runs);
    if !files.iter().all(plain) {
        return None;
    }
    let keys = serde_json::Deserializer::from_slice(bytes).into_iter::<Keys>();
    let traits = keys.map(|keys| keys.map(|keys| keys.runs.0)).collect::<Result<Vec<_>, _>>().ok()?;
    Some(traits.into_iter().zip(files).map(|(traits, file)| (Shape::ExoObject, traits, file)).collect())
}

fn list(bytes: &[u8]) -> Option<Vec<(Shape, Traits, ResultFile)>> {
    let runs: Vec<Run> = serde_json::from_slice(bytes).ok()?;
    if runs.is_empty() || !is_plain(&runs) {
        return None;
    }
    let RowTraits(traits) = serde_json::from_slice(bytes).ok()?;
    Some(vec![(Shape::ExoList, traits, ResultFile { runs, ..ResultFile::default() })])
}

/// Rows with keys that are not exo's may be those of another tool.
fn is_plain(runs: &[Run]) -> bool {
    runs.iter().all(|run| run.exoscope.is_none() && run.unknown.is_empty())
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
