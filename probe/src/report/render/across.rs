//! What all cells of a file tell together: what more nodes give, and how much repeats differ.

use analyzer::summary::{FileReport, Ratio, Scaling};
use analyzer::units::{self, ABSENT, Scale};

use super::report::{PLACE, REMOVABLE, place, varied};
use super::sheet::{Block, Grid};

/// Speed-up, efficiency and energy over nodes; nothing where no two cells differ in the nodes alone.
pub(super) fn scaling(report: &FileReport, tag: &str) -> Vec<Block> {
    if report.scaling.is_empty() {
        return Vec::new();
    }
    let heads = [">nodes", "metric", ">speed-up", ">efficiency", ">J ratio"];
    // The nodes have a column of their own.
    let keys: Vec<&str> = PLACE.into_iter().collect();
    let mut grid = Grid::new(keys.into_iter().chain(heads));
    for scaling in &report.scaling {
        let Some(cell) = usize::try_from(scaling.cell).ok().and_then(|cell| report.cells.get(cell)) else { continue };
        let mut row = place(&cell.key, &varied(&report.cells));
        row.extend(numbers(scaling));
        grid.rows.push(row);
    }
    vec![
        Block::Heading(2, format!("scaling over nodes{tag}")),
        Block::Line(
            "against the fewest nodes of the same work, geometric means with 95 % intervals; efficiency 1: each node adds \
             as much as the first; J ratio above 1: a token costs more"
                .to_owned(),
        ),
        Block::Grid(grid.without_empty(&REMOVABLE)),
    ]
}

fn numbers(scaling: &Scaling) -> [String; 5] {
    [
        format!("{} → {}", scaling.base_nodes, scaling.nodes),
        scaling.metric.definition().name.to_owned(),
        ratio(scaling.speed_up),
        ratio(scaling.efficiency),
        ratio(scaling.joules_ratio),
    ]
}

/// A ratio with its interval: "1.82 (1.79–1.85)".
fn ratio(ratio: Option<Ratio>) -> String {
    let Some(ratio) = ratio else { return ABSENT.to_owned() };
    let interval = ratio
        .interval
        .map_or_else(String::new, |[low, high]| format!(" ({}–{})", units::fixed(low, 2), units::fixed(high, 2)));
    units::fixed(ratio.value, 2) + &interval
}

/// The deviation inside cells, both ways, of the metrics that a comparison judges; nothing where only one cell has one, for
/// it stands in that cell's row.
pub(super) fn pooled(report: &FileReport, tag: &str) -> Vec<Block> {
    let heads = ["metric", "unit", ">cells", ">df", ">unweighted (asiai)", ">by degrees of freedom"];
    let mut grid = Grid::new(heads);
    for pooled in report.pooled.iter().filter(|pooled| pooled.cells > 1 && pooled.metric.definition().primary) {
        let deviations = [pooled.sd_unweighted_asiai, pooled.sd_weighted_by_freedom];
        let scale = Scale::of(&pooled.unit, deviations);
        let mut row = vec![pooled.metric.definition().name.to_owned(), scale.label().to_owned()];
        row.extend([pooled.cells, pooled.freedom].map(|count| count.to_string()));
        row.extend(deviations.map(|deviation| scale.text(Some(deviation))));
        grid.rows.push(row);
    }
    if grid.rows.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Heading(2, format!("pooled deviation{tag}")),
        Block::Line(
            "how much repeats inside the cells differ: root of the mean of the cells' variances, and of all \
                     squares over all degrees of freedom"
                .to_owned(),
        ),
        Block::Grid(grid),
    ]
}
