//! The power record of a file: which channel speaks for a node while a batch ran, and what it drew at rest.

use std::collections::BTreeMap;

use super::idle::idle_power_w;
use super::phases::Window;
use super::publications::Channel;
use crate::record::{MetricSeries, ResultFile};

/// All channels of a file, found by node and session, and the spans in which the instances were left idle.
#[derive(Debug, Clone, Default)]
pub struct PowerRecord<'a> {
    channels: BTreeMap<(&'a str, u32), Vec<Recorded<'a>>>,
    idle: BTreeMap<(&'a str, u32), Vec<Window>>,
}

/// A series and its publications.
#[derive(Debug, Clone)]
pub struct Recorded<'a> {
    /// The polls.
    pub series: &'a MetricSeries,
    /// What was published.
    pub channel: Channel,
}

/// The instance that served a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served<'a> {
    /// Its id; None in files that do not tell.
    pub instance_id: Option<&'a str>,
    /// Session, from 0.
    pub session: u32,
}

impl<'a> PowerRecord<'a> {
    /// Indexes a file's series. Each is read once, however many batches ask for it.
    #[must_use]
    pub fn of(file: &'a ResultFile) -> Self {
        let mut record = Self::default();
        for series in &file.metric_series {
            let place = record.channels.entry((series.node_id.as_str(), series.session)).or_default();
            place.push(Recorded { series, channel: Channel::of(series) });
        }
        for idle in &file.idle_windows {
            let place = record.idle.entry((idle.instance_id.as_str(), idle.session)).or_default();
            place.push(Window { from_s: idle.from_s, to_s: idle.to_s });
        }
        record
    }

    /// The series of a node that belongs to the instance and spans the window; where none spans it, the first that belongs
    /// to the instance (a run that was resumed has one for each of its starts).
    #[must_use]
    pub fn channel<'s>(&'s self, node: &'s str, served: Served<'_>, window: Window) -> Option<&'s Recorded<'a>> {
        let belongs = |recorded: &&Recorded<'_>| {
            recorded.series.instance_id.is_none() || recorded.series.instance_id.as_deref() == served.instance_id
        };
        let spans = |recorded: &&Recorded<'_>| {
            recorded.channel.span().is_some_and(|(first, last)| first <= window.from_s && last >= window.to_s)
        };
        let found = || self.channels.get(&(node, served.session)).into_iter().flatten().filter(belongs);
        found().find(spans).or_else(|| found().next())
    }

    /// Power at rest of all these nodes together, W. None where the instance was not left idle or a node told too little.
    #[must_use]
    pub fn idle_power_w(&self, nodes: &[String], served: Served<'_>) -> Option<f64> {
        let windows = self.idle.get(&(served.instance_id?, served.session))?;
        if nodes.is_empty() {
            return None;
        }
        nodes
            .iter()
            .map(|node| {
                // Each window may lie in the series of another start.
                let recorded = windows.iter().find_map(|window| self.channel(node, served, *window))?;
                idle_power_w(&recorded.channel, windows)
            })
            .sum()
    }
}
