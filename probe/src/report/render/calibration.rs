//! A calibration → blocks: how much each metric varies, and how often the method would have been wrong.

use analyzer::comparison::calibration::{Calibration, FalseAlarms};
use analyzer::units::{self, ABSENT};

use super::sheet::{Block, Grid};

/// The blocks of a calibration.
pub(super) fn blocks(found: &Calibration) -> Vec<Block> {
    let tag = if found.simulated { "  [simulated]" } else { "" };
    vec![
        Block::Heading(1, format!("{} of the same thing{tag}", units::count(found.sessions, "session"))),
        Block::Facts(vec![
            ("Models".to_owned(), found.models.join(", ")),
            ("Placements".to_owned(), found.placements.join("; ")),
        ]),
        Block::List("Beware".to_owned(), found.warnings.clone()),
        Block::Line(
            "Standard deviations of the logarithms: of repeats within a session, and what sessions add to it. Degrees of \
             freedom (df) say how well a deviation is known."
                .to_owned(),
        ),
        Block::Grid(grid(found)),
        Block::List("The comparison tried on every pair of sessions".to_owned(), alarms(&found.false_alarms)),
    ]
}

fn grid(found: &Calibration) -> Grid {
    let mut grid = Grid::new(["metric", ">cells", ">within", ">df", ">between", ">df"]);
    let percent =
        |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |value| format!("{} %", units::fixed(value, 2)));
    let freedom = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |value| units::fixed(value, 1));
    grid.rows = found
        .metrics
        .iter()
        .map(|row| {
            vec![
                row.metric.definition().name.to_owned(),
                row.cells.to_string(),
                percent(row.within_percent),
                freedom(row.within_freedom),
                percent(Some(row.between_percent)),
                freedom(row.between_freedom),
            ]
        })
        .collect();
    grid
}

fn alarms(found: &FalseAlarms) -> Vec<String> {
    if found.verdicts == 0 {
        return vec!["no pair of sessions could be judged".to_owned()];
    }
    let rate = |wrong: u64| {
        let share = units::percent(100.0 * wrong as f64 / found.verdicts as f64);
        format!("{wrong} of {} verdicts were false alarms ({share})", found.verdicts)
    };
    let judge = if found.left_out { "each pair judged by all other sessions" } else { "the sessions judge themselves" };
    vec![
        format!("with this calibration {} ({judge})", rate(found.with_calibration)),
        format!("with the assumed floors {}", rate(found.with_floor)),
        format!("with repeats alone, as if sessions did not differ, {}", rate(found.with_repeats_alone)),
    ]
}
