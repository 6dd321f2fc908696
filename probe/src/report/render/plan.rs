//! A plan → blocks: what the design resolves and how long it takes.

use analyzer::comparison::planning::Plan;
use analyzer::units::{self, ABSENT};

use super::sheet::{Block, Grid};

/// The blocks of a plan.
pub(super) fn blocks(plan: &Plan) -> Vec<Block> {
    let design = format!(
        "{} of {} on each side, {}",
        units::count(u64::from(plan.sessions), "session"),
        units::count(u64::from(plan.repeats), "repeat"),
        units::count(plan.cells, "cell")
    );
    let mut blocks = vec![Block::Heading(1, design)];
    if let Some(seconds) = plan.seconds_per_side {
        blocks.push(Block::Line(format!("One side takes {}, placing the model not counted.", duration(seconds))));
    }
    blocks.push(Block::List("Beware".to_owned(), plan.notices.clone()));
    if !plan.metrics.is_empty() {
        blocks.push(Block::Line(
            "Resolves: half of the 95 % interval. Detects: the smallest true change that is called one four times in five."
                .to_owned(),
        ));
        blocks.push(Block::Grid(grid(plan)));
    }
    blocks
}

fn grid(plan: &Plan) -> Grid {
    let mut grid = Grid::new(["metric", ">resolves", ">detects", ">within", ">between", "known from"]);
    let deviation = |percent: f64| format!("{} %", units::fixed(percent, 2));
    grid.rows = plan
        .metrics
        .iter()
        .map(|row| {
            vec![
                row.metric.definition().name.to_owned(),
                units::percent(row.resolves_percent),
                units::percent(row.detects_percent),
                row.within_percent.map_or_else(|| ABSENT.to_owned(), deviation),
                deviation(row.between_percent),
                row.source.clone(),
            ]
        })
        .collect();
    grid
}

/// "2 h 5 min", "3 min 20 s", "12 s".
fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match (whole / 3600, whole % 3600 / 60, whole % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}
