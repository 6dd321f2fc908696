//! An archive → blocks: the verdicts on the newest file, then each cell over time.

use analyzer::comparison::history::{CellHistory, History, LevelChange, Point};
use analyzer::summary::Varied;
use analyzer::units::{self, ABSENT, Scale};

use super::comparison;
use super::report::{PLACE, REMOVABLE, place};
use super::sheet::{Block, Grid};

/// The blocks of a history.
pub(super) fn blocks(history: &History) -> Vec<Block> {
    let newest = history.files.last().map_or(ABSENT, |file| file.name.as_str());
    let mut blocks = vec![
        Block::Heading(1, format!("{newest} against the archive")),
        Block::Line(history.headline.clone()),
        Block::Line(format!(
            "{}: {} to {}",
            analyzer::units::count(history.files.len() as u64, "file"),
            history.files.first().map_or(ABSENT, |file| file.at.as_str()),
            history.files.last().map_or(ABSENT, |file| file.at.as_str())
        )),
        Block::List("Beware".to_owned(), history.notices.clone()),
    ];
    if !history.level_changes.is_empty() {
        blocks.push(Block::Heading(2, "Changes of level".to_owned()));
        blocks.push(Block::Line(
            "Geometric means over the files of a level, before and since; the newest file is no part of them."
                .to_owned(),
        ));
        blocks.push(Block::Grid(changes(history)));
    }
    if let Some(week) = &history.against_week {
        blocks.push(Block::Heading(2, "Against the seven days before".to_owned()));
        blocks.push(Block::Line(week.headline.clone()));
        blocks.extend(comparison::details(week));
    }
    if !history.against_segments.is_empty() {
        let since = |segment: &analyzer::comparison::history::SegmentComparison| {
            let name = segment.metric.definition().name;
            format!("{name}, against {}: {}", segment.against, segment.comparison.headline)
        };
        blocks.push(Block::List(
            "Against the files of its level".to_owned(),
            history.against_segments.iter().map(since).collect(),
        ));
    }
    blocks.push(Block::Heading(2, "Over time".to_owned()));
    blocks.push(Block::Grid(grid(history)));
    blocks
}

/// A line for each change of level.
fn changes(history: &History) -> Grid {
    let varied = Varied::of(history.level_changes.iter().map(|change| &change.cell));
    let heads = ["metric", "since", "measured", ">before", ">since", ">change", "for the"];
    let mut grid = Grid::new(PLACE.into_iter().chain(heads));
    for change in &history.level_changes {
        let scale = Scale::of(change.metric.definition().unit, [change.before, change.after]);
        let mut line = place(&change.cell, &varied);
        line.extend([
            format!("{} {}", change.metric.definition().name, scale.label()),
            change.since.clone(),
            change.at.clone(),
            scale.text(Some(change.before)),
            scale.text(Some(change.after)),
            units::change(change.change_percent),
            if change.improved { "▲ better" } else { "▼ worse" }.to_owned(),
        ]);
        grid.rows.push(line);
    }
    grid.without_empty(&REMOVABLE)
}

fn grid(history: &History) -> Grid {
    let judged: Vec<&CellHistory> = history.cells.iter().filter(|cell| cell.metric.definition().primary).collect();
    let varied = Varied::of(judged.iter().map(|cell| &cell.cell));
    let heads = ["metric", ">files", ">first", ">newest", "level changed at"];
    let mut grid = Grid::new(PLACE.into_iter().chain(heads));
    for cell in judged {
        let scale = Scale::of(&cell.unit, cell.points.iter().map(|point| point.geomean));
        let text = |point: Option<&Point>| scale.text(point.map(|point| point.geomean));
        let of_cell = |change: &&LevelChange| change.metric == cell.metric && change.cell == cell.cell;
        let words = |change: &LevelChange| format!("{} ({})", change.since, units::change(change.change_percent));
        let changes: Vec<String> = history.level_changes.iter().filter(of_cell).map(words).collect();
        let mut line = place(&cell.cell, &varied);
        line.extend([
            format!("{} {}", cell.metric.definition().name, scale.label()),
            cell.points.len().to_string(),
            text(cell.points.first()),
            text(cell.points.last()),
            if changes.is_empty() { ABSENT.to_owned() } else { changes.join(", ") },
        ]);
        grid.rows.push(line);
    }
    grid.without_empty(&REMOVABLE.into_iter().chain(["level changed at"]).collect::<Vec<_>>())
}
