//! Why a comparison as a whole is weaker than it looks, a sentence each.

use super::calibration::Calibration;
use super::measured::MeasuredFile;
use super::{CellComparison, Difference, residue};
use crate::units;

/// That a calibration is of other models than what is compared.
pub(super) fn of_the_calibration(calibration: &Calibration, cells: &[CellComparison]) -> Option<String> {
    let known = |cell: &CellComparison| {
        cell.cell.model_id.as_ref().is_none_or(|model| calibration.models.contains(model))
            && calibration.placements.contains(&cell.cell.placement())
    };
    let strange = cells.iter().filter(|cell| !known(cell)).count() as u64;
    (strange > 0).then(|| {
        format!(
            "the calibration is of {} on {}: for {} the deviation between sessions may be another",
            calibration.models.join(", "),
            calibration.placements.join(", "),
            units::count(strange, "cell")
        )
    })
}

/// What is pooled and is not one thing, and what cannot be told apart.
pub(super) fn of_the_sides(base: &[&MeasuredFile], new: &[&MeasuredFile], residue: &[Difference]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (side, files) in [("base", base), ("new side", new)] {
        let hidden = residue::hidden(files);
        if !hidden.is_empty() {
            warnings.push(format!("the files of the {side} differ among themselves in: {}", hidden.join(", ")));
        }
    }
    let causes = residue::causes(residue);
    if causes.len() > 1 {
        warnings
            .push(format!("several causes differ at once ({}): a change is of none of them alone", causes.join(", ")));
    }
    warnings
}

/// Where the files come from, what failed in them, and what only one side has.
pub(super) fn of_the_whole(base: &[&MeasuredFile], new: &[&MeasuredFile], cells: &[CellComparison]) -> Vec<String> {
    let mut warnings = Vec::new();
    let all = |files: &[&MeasuredFile]| files.iter().all(|file| file.simulated);
    let any = |files: &[&MeasuredFile]| files.iter().any(|file| file.simulated);
    if any(base) != any(new) {
        let side = if any(base) { "base" } else { "new side" };
        warnings.push(format!("the {side} comes from the simulator and the other does not"));
    } else if any(base) && !(all(base) && all(new)) {
        warnings.push("some files come from the simulator and some do not".to_owned());
    }
    for (side, files) in [("base", base), ("new side", new)] {
        let failed: u64 = files.iter().map(|file| file.failed).sum();
        if failed > 0 {
            let requests = units::count(failed, "measured request");
            warnings.push(format!("{requests} of the {side} failed and are in no number here"));
        }
        // What makes a file's own numbers doubtful makes a comparison doubtful.
        for file in files {
            warnings.extend(file.notices.iter().map(|notice| format!("{side}, {}: {notice}", file.name)));
        }
        if files.iter().any(|file| file.incomplete) {
            warnings.push(format!("the run of the {side} did not reach its end"));
        }
    }
    let one_sided = |base: bool| {
        cells
            .iter()
            .filter(|cell| {
                let mut metrics = cell.metrics.iter().peekable();
                metrics.peek().is_some()
                    && metrics.all(|metric| if base { metric.new.is_none() } else { metric.base.is_none() })
            })
            .count()
    };
    for (count, side) in [(one_sided(true), "base"), (one_sided(false), "new side")] {
        if count > 0 {
            warnings.push(format!(
                "{} only in the {side}",
                if count == 1 { "1 cell is".into() } else { format!("{count} cells are") }
            ));
        }
    }
    warnings
}
