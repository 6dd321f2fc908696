//! Power readings of another instrument, laid over a run by time: macmon, powermetrics, a meter at the wall.

use std::collections::BTreeSet;

use serde_json::Value;

use super::instant::{self, Instant};
use super::{ImportError, bytes, delimited, documents};
use crate::record::{MetricSeries, Overlay, PowerScope, ResultFile, SeriesColumns};
use crate::units;

/// Readings this long before and after the run are kept, s: its idling tells the power at rest.
const MARGIN_S: f64 = 600.0;

/// A reading: when, and W.
type Reading = (Instant, f64);

struct Instrument {
    name: &'static str,
    scope: PowerScope,
    readings: Vec<Reading>,
    /// Readings whose power is no number or below 0.
    unread: usize,
}

/// Lays the readings of a file over a run. Gives the overlay and what a reader should know, a sentence each.
///
/// # Errors
/// [`ImportError`] where the file holds no readings, the run does not tell when it began, or the two do not meet in time.
pub fn overlay(result: &ResultFile, name: &str, content: &[u8]) -> Result<(Overlay, Vec<String>), ImportError> {
    let refuse =
        |seems: &str, hint: &'static str| ImportError::Foreign { name: name.into(), seems: seems.into(), hint };
    let decoded = bytes::decode(name, content)?;
    let mut notices = decoded.notices;
    let Some(instrument) = read(name, &decoded.text)? else {
        let hint = "give it readings of macmon (JSON Lines), powermetrics (-f plist) or a table with a time and watts";
        return Err(refuse("no power readings", hint));
    };
    if instrument.unread > 0 {
        let unread = instrument.unread as u64;
        let (readings, are) = (units::count(unread, "reading"), units::agree(unread, "is", "are"));
        notices.push(format!("{readings} of {name} {are} no power and {are} left out"));
    }
    if result.merged.len() > 1 {
        let hint = "lay them over each part before the parts are merged";
        return Err(refuse("power readings for a merged file, whose parts count from starts of their own", hint));
    }
    let start = result.exoscope.as_ref().map(|provenance| provenance.started_at.as_str());
    let start = start.or_else(|| result.source.as_ref()?.started_at.as_deref()).and_then(instant::parse);
    let Some(start) = start else {
        return Err(refuse(
            "power readings for a run that does not tell when it began",
            "they can only be laid over a run with a start",
        ));
    };
    if !start.zoned || instrument.readings.iter().any(|(at, _)| !at.zoned) {
        notices.push("a time without a zone was taken as UTC: see that the readings lie where the load was".to_owned());
    }
    let timed: BTreeSet<&String> =
        result.runs.iter().filter_map(|run| run.figures.as_ref()?.derived.get("sent_s")).collect();
    notices.extend(timed.into_iter().map(|how| format!("when the requests ran was reckoned: {how}")));
    let mut readings: Vec<(f64, f64)> =
        instrument.readings.iter().map(|(at, watts)| (at.unix_s - start.unix_s, *watts)).collect();
    if readings.windows(2).any(|pair| pair[1].0 < pair[0].0) {
        notices.push("the clock of the power readings goes backwards; they were put in order".to_owned());
        readings.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let Some((from, to)) = extent(result) else {
        let hint = "take one whose requests carry their times, or a console log with stamps";
        return Err(refuse("power readings for a run that does not tell when its requests ran", hint));
    };
    readings.retain(|(t, _)| *t >= from - MARGIN_S && *t <= to + MARGIN_S);
    // Readings on both sides are of the right time, and where none lies inside the report says that the run was too short.
    let inside = readings.iter().any(|(t, _)| *t >= from && *t <= to);
    let around = readings.iter().any(|(t, _)| *t < from) && readings.iter().any(|(t, _)| *t > to);
    if !inside && !around {
        return Err(refuse(
            "power readings of another time than the run",
            "see that both clocks are set alike and name their zone",
        ));
    }
    let mut gaps: Vec<f64> = readings.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    gaps.sort_by(f64::total_cmp);
    let Some(interval_s) = gaps.get(gaps.len() / 2).copied() else {
        return Err(refuse("a single power reading in the time of the run", "energy needs two or more"));
    };
    let series = MetricSeries {
        node_id: format!("{} ({name})", instrument.scope.words()),
        source: instrument.name.to_owned(),
        instance_id: None,
        session: 0,
        interval_s,
        t_s: readings.iter().map(|(t, _)| *t).collect(),
        poll_s: Vec::new(),
        columns: SeriesColumns {
            sys_power: readings.iter().map(|(_, watts)| Some(*watts)).collect(),
            ..SeriesColumns::default()
        },
        health: None,
    };
    Ok((Overlay { scope: instrument.scope, instrument: instrument.name.to_owned(), series }, notices))
}

/// From the first request sent to the last answer done, s since the start of the run.
fn extent(result: &ResultFile) -> Option<(f64, f64)> {
    let spans = result.runs.iter().filter_map(|run| {
        let seen = run.exoscope.as_ref().map(|detail| (detail.timing.sent_s, detail.timing.done_s));
        seen.or_else(|| run.figures.as_ref()?.sent_s.zip(run.figures.as_ref()?.done_s))
    });
    spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn read(name: &str, text: &str) -> Result<Option<Instrument>, ImportError> {
    if is_powermetrics(text) {
        return Ok(Some(powermetrics(text)));
    }
    if text.trim_start().starts_with('{') {
        super::bounded(name, text)?;
        let documents = documents::read(name, text)?.values;
        return Ok(documents.first().is_some_and(is_macmon).then(|| macmon(&documents)));
    }
    if !is_meter(text) {
        return Ok(None);
    }
    meter(text).map(Some).map_err(|reason| ImportError::Broken {
        name: name.into(),
        format: "readings of a power meter",
        reason,
    })
}

fn instrument(name: &'static str, scope: PowerScope, found: impl Iterator<Item = Option<Reading>>) -> Instrument {
    let mut instrument = Instrument { name, scope, readings: Vec::new(), unread: 0 };
    for reading in found {
        match reading.filter(|(_, watts)| SeriesColumns::is_power(*watts)) {
            Some(reading) => instrument.readings.push(reading),
            None => instrument.unread += 1,
        }
    }
    instrument
}

/// A reading of macmon.
pub(super) fn is_macmon(document: &Value) -> bool {
    document.get("sys_power").is_some() && document.get("timestamp").is_some()
}

/// The same with the comments that macmon's documentation puts into it.
pub(super) fn is_macmon_documentation(text: &str) -> bool {
    text.contains("\"sys_power\"") && text.contains("\"timestamp\"") && text.contains(" // ")
}

/// `sys_power` is the machine's own meter (SMC PSTR) at the instant of the reading.
fn macmon(documents: &[Value]) -> Instrument {
    let readings = documents.iter().map(|document| {
        let at = instant::parse(document.get("timestamp")?.as_str()?)?;
        Some((at, document.get("sys_power")?.as_f64()?))
    });
    instrument("macmon sys_power", PowerScope::WholeMachineDc, readings)
}

/// The property lists of powermetrics, one after the other with a zero byte between them.
pub(super) fn is_powermetrics(text: &str) -> bool {
    text.contains("<plist")
        && text.contains("<key>timestamp</key>")
        && (text.contains("<key>combined_power</key>") || text.contains("<key>package_watts</key>"))
}

/// Rails of the chip in mW, the mean over the interval before the stamp.
fn powermetrics(text: &str) -> Instrument {
    let samples = text.split("<plist").skip(1).map(|sample| {
        let mut at = instant::parse(tagged(sample, "timestamp")?)?;
        // The mean over an interval stands for its middle.
        let interval_s = tagged(sample, "elapsed_ns").and_then(|ns| ns.parse::<f64>().ok()).map(|ns| ns / 1e9);
        at.unix_s -= interval_s.filter(|seconds| (0.0..=60.0).contains(seconds)).unwrap_or(0.0) / 2.0;
        let watts = tagged(sample, "combined_power").and_then(|mw| mw.parse::<f64>().ok()).map(|mw| mw / 1e3);
        Some((at, watts.or_else(|| tagged(sample, "package_watts")?.parse().ok())?))
    });
    instrument("powermetrics combined_power", PowerScope::Soc, samples)
}

/// The text of the element that follows a key.
fn tagged<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("<key>{key}</key>"))?.1;
    let rest = rest.split_once('>')?.1;
    Some(rest.split_once('<')?.0.trim())
}

/// Where the columns of a meter's table are: the time, the power, and W to its unit.
fn columns(heading: &[String]) -> Option<(usize, usize, f64)> {
    let word = |name: &str| name.trim().trim_start_matches('\u{feff}').to_lowercase();
    let time = heading.iter().position(|name| {
        let name = word(name);
        ["time", "date", "epoch", "unix"].iter().any(|start| name.starts_with(start))
            || name == "t"
            || name == "_time"
            || name == "last_changed"
    })?;
    let power = heading.iter().position(|name| {
        let name = word(name);
        name.contains("watt") || name.contains("power") || matches!(name.as_str(), "w" | "kw" | "mw")
    })?;
    let name = word(&heading[power]);
    let per_unit = if name.contains("kw") || name.contains("kilowatt") {
        1e3
    } else if name.contains("mw") || name.contains("milliwatt") {
        1e-3
    } else {
        1.0
    };
    (time != power).then_some((time, power, per_unit))
}

/// A table whose heading names a time and a power.
pub(super) fn is_meter(text: &str) -> bool {
    // No table has a heading of more; a line without an end would be split into as many pieces as it has commas.
    let heading = text.lines().find(|line| !line.trim().is_empty()).filter(|line| line.len() < 1 << 16);
    heading
        .is_some_and(|line| [',', ';', '\t'].iter().any(|mark| columns(&delimited::split(line, *mark, '"')).is_some()))
}

fn meter(text: &str) -> Result<Instrument, String> {
    let (heading, rows) = delimited::table(text)?;
    let (time, power, per_unit) = columns(&heading).ok_or("its heading names no time and no power")?;
    let readings = rows.iter().map(|row| {
        let watts: f64 = row.get(power)?.replace(',', ".").parse().ok()?;
        Some((instant::parse(row.get(time)?)?, watts * per_unit))
    });
    Ok(instrument("meter", PowerScope::WallAc, readings))
}
