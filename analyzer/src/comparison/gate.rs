//! What must not be set side by side, whatever the numbers say.

use super::matching::Axis;
use super::measured::{MeasuredCell, MeasuredFile, Session, Tally};
use crate::energy::SAMPLES_NEEDED;
use crate::metric::Metric;
use crate::summary::CacheState;

/// Why the two sides of a metric are not comparable, a sentence each; empty where they are.
pub(super) fn objections(metric: Metric, base: &MeasuredCell, new: &MeasuredCell) -> Vec<String> {
    let mut objections = Vec::new();
    match (metric, base.key.cache) {
        (Metric::PrefillTps, CacheState::Exact) => {
            objections.push("the prompts came from the prefix cache: the rate is a copy of an earlier one".to_owned());
        }
        (Metric::PrefillTps, CacheState::Partial) => objections.push(
            "an unknown part of the prompts came from the prefix cache: the two rates cover different work".to_owned(),
        ),
        _ => {}
    }
    let of_the_client_alone = matches!(metric, Metric::Connect | Metric::SendSpread);
    let tokens = |cell: &MeasuredCell, of: fn(&Session) -> Tally| Tally::mean(cell.sessions.iter().map(of));
    let prompt = |cell| tokens(cell, |session| session.prompt_tokens);
    let generated = |cell| tokens(cell, |session| session.generation_tokens);
    if let (Some(a), Some(b)) = (prompt(base), prompt(new))
        // exo's two engines count the same prompt as N and N + 1. Decoding reads the whole prompt for each token, too.
        && (a - b).abs() > 1.0
        && !of_the_client_alone
    {
        objections.push(format!("the server counted {a:.0} prompt tokens in the base and {b:.0} in the new side"));
    }
    if let (Some(a), Some(b)) = (generated(base), generated(new))
        && (a - b).abs() > 0.5
        && !matches!(
            metric,
            Metric::PrefillTps | Metric::Ttft | Metric::TtftGap | Metric::EnergyPrefill | Metric::JoulesPerPromptToken
        )
        && !of_the_client_alone
    {
        objections.push(format!("the server generated {a:.0} tokens in the base and {b:.0} in the new side"));
    }
    for (side, cell) in [("base", base), ("new side", new)] {
        let readings = cell.server_power_samples.filter(|_| metric.is_of_server_energy());
        if readings.is_some_and(|samples| samples < SAMPLES_NEEDED as u64) {
            objections.push(format!(
                "the windows of the {side} are too short: fewer than {SAMPLES_NEEDED} power samples inside"
            ));
        }
    }
    if let (Metric::EnergyOverlay, Some(a), Some(b)) = (metric, base.overlay_scope, new.overlay_scope)
        && a != b
    {
        objections.push(format!("the base's energy is of {} and the new file's of {}", a.words(), b.words()));
    }
    objections
}

/// Why cells that differ in some things are not comparable; None where they are.
///
/// One thing that differs may be what the comparison is about. Of engine and quantization at once a change could be put down
/// to neither; and a prefill of prompts that may have come from the cache is another work than one that did not.
pub(super) fn varied(metric: Metric, axes: &[Axis]) -> Option<String> {
    let told: Vec<&Axis> =
        axes.iter().filter(|axis| axis.is_told() && matches!(axis.name.as_str(), "engine" | "quantization")).collect();
    if told.len() > 1 {
        let words: Vec<String> = told.iter().map(|axis| axis.words()).collect();
        return Some(format!("{} at once: a change would be of neither alone", words.join(" and ")));
    }
    let cache = axes.iter().find(|axis| axis.name == "cache")?;
    matches!(metric, Metric::PrefillTps | Metric::Ttft | Metric::JoulesPerPromptToken | Metric::EnergyPrefill).then(
        || {
            let side = if cache.base.is_none() { "base" } else { "new side" };
            format!("the {side} does not tell whether its prompts came from the prefix cache")
        },
    )
}

/// Numbers of different classes are not the same quantity, whatever they are called.
pub(super) fn classes_differ(base: &MeasuredFile, new: &MeasuredFile) -> Option<String> {
    (base.class != new.class).then(|| {
        format!(
            "the files measure different things ({} and {}): nothing in them is comparable",
            base.class.words(),
            new.class.words()
        )
    })
}

/// Numbers of different definitions are not the same quantity.
pub(super) fn definitions_differ(base: &[&MeasuredFile], new: &[&MeasuredFile]) -> Option<String> {
    let mut all: Vec<&(String, u32)> = Vec::new();
    for file in base.iter().chain(new) {
        if !all.contains(&&file.definitions) {
            all.push(&file.definitions);
        }
    }
    (all.len() > 1).then(|| {
        let words: Vec<String> = all.iter().map(|(name, version)| format!("{name} {version}")).collect();
        format!("the files define their numbers differently ({}): nothing in them is comparable", words.join(" and "))
    })
}
