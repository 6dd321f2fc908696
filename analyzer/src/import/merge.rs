//! Several documents of one file → one result file.

use serde_json::{Map, Value};

use crate::record::{Cluster, ResultFile};

/// Puts documents one behind the other. Sessions are numbered on, so that rows and power samples of one document are never
/// mixed with those of another. The first document's account of cluster and provenance stands for all, with the nodes of the
/// others, so that each has its name; where another differs, a notice says so.
pub(crate) fn merge(files: Vec<ResultFile>) -> (ResultFile, Vec<String>) {
    let count = files.len();
    let mut notices = Vec::new();
    let mut files = files.into_iter();
    let Some(mut whole) = files.next() else {
        return (ResultFile::default(), notices);
    };
    if count == 1 {
        return (whole, notices);
    }
    notices
        .push(format!("the file holds {count} documents one after the other; each is taken as a session of its own"));
    let mut sessions = sessions_of(&whole);
    let mut other_cluster = false;
    let mut other_target = false;
    for mut file in files {
        let next = sessions + sessions_of(&file);
        renumber(&mut file, sessions);
        sessions = next;
        other_cluster |= match (&whole.cluster, &file.cluster) {
            (Some(first), Some(other)) => first.node_identities != other.node_identities,
            _ => false,
        };
        if let (Some(cluster), Some(other)) = (&mut whole.cluster, &mut file.cluster) {
            add_nodes(cluster, other);
        }
        match (&mut whole.exoscope, file.exoscope) {
            (Some(first), Some(other)) => {
                other_target |= first.target != other.target || first.method != other.method;
                first.simulated |= other.simulated;
                first.sessions = sessions;
                first.incomplete = first.incomplete.take().or(other.incomplete);
                first.notices.extend(other.notices);
            }
            (slot @ None, other) => *slot = other,
            (Some(_), None) => {}
        }
        whole.runs.append(&mut file.runs);
        whole.failures.append(&mut file.failures);
        whole.metric_series.append(&mut file.metric_series);
        whole.idle_windows.append(&mut file.idle_windows);
        whole.merged.append(&mut file.merged);
        whole.cluster = whole.cluster.take().or(file.cluster);
        whole.system_metrics = whole.system_metrics.take().or(file.system_metrics);
        for (key, value) in file.unknown {
            whole.unknown.entry(key).or_insert(value);
        }
    }
    if other_cluster {
        notices.push("the documents name different nodes; the facts show those of all".to_owned());
    }
    if other_target {
        notices.push("the documents differ in target or method; the facts shown are those of the first".to_owned());
    }
    (whole, notices)
}

/// Adds the nodes that are not known yet. Links and loads are of a moment, and stay those of the first document.
fn add_nodes(cluster: &mut Cluster, other: &mut Cluster) {
    let add = |known: &mut Option<Map<String, Value>>, other: Option<Map<String, Value>>| {
        for (id, node) in other.into_iter().flatten() {
            known.get_or_insert_default().entry(id).or_insert(node);
        }
    };
    add(&mut cluster.node_identities, other.node_identities.take());
    add(&mut cluster.node_memory, other.node_memory.take());
}

/// Rows that each document gave: one count for an ordinary file, one per part for a file that was merged before.
pub(super) fn rows_of_documents(file: &ResultFile) -> Vec<usize> {
    let parts: Option<Vec<usize>> = file.merged.iter().map(|part| usize::try_from(part.rows).ok()).collect();
    // Parts that do not add up tell of a file that was changed by hand: then it is one document.
    let whole = |rows: &usize| *rows == file.runs.len();
    let sum = |parts: &Vec<usize>| parts.iter().try_fold(0_usize, |sum, rows| sum.checked_add(*rows));
    parts.filter(|parts| !parts.is_empty() && sum(parts).as_ref().is_some_and(whole)).unwrap_or(vec![file.runs.len()])
}

fn sessions_of(file: &ResultFile) -> u32 {
    let in_rows = file.runs.iter().filter_map(|run| run.exoscope.as_ref()).map(|detail| detail.session);
    let in_failures = file.failures.iter().map(|failure| failure.session);
    let in_series = file.metric_series.iter().map(|series| series.session);
    in_rows.chain(in_failures).chain(in_series).max().map_or(1, |last| last.saturating_add(1))
}

fn renumber(file: &mut ResultFile, by: u32) {
    for detail in file.runs.iter_mut().filter_map(|run| run.exoscope.as_mut()) {
        detail.session = detail.session.saturating_add(by);
    }
    for failure in &mut file.failures {
        failure.session = failure.session.saturating_add(by);
    }
    for idle in &mut file.idle_windows {
        idle.session = idle.session.saturating_add(by);
    }
    for series in &mut file.metric_series {
        series.session = series.session.saturating_add(by);
    }
}
