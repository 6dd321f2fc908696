//! An archive → blocks: the verdicts on the newest file, then each cell over time.

use analyzer::comparison::history::{CellHistory, History, Point};
use analyzer::summary::Varied;
use analyzer::units::{ABSENT, Scale};

use super::comparison;
use super::report::{PLACE, REMOVABLE, place};
use super::sheet::{Block, Grid};

/// The blocks of a history.
pub(super) fn blocks(history: &History) -> Vec<Block> {
    let newest = history.files.last().map_or(ABSENT, |file| file.name.as_str());
    let mut blocks = vec![
        Block::Heading(1, format!("{newest} against the archive")),
        Block::Line(format!(
            "{}: {} to {}",
            analyzer::units::count(history.files.len() as u64, "file"),
            history.files.first().map_or(ABSENT, |file| file.at.as_str()),
            history.files.last().map_or(ABSENT, |file| file.at.as_str())
        )),
        Block::List("Beware".to_owned(), history.notices.clone()),
    ];
    if let Some(week) = &history.against_week {
        blocks.push(Block::Heading(2, "Against the seven days before".to_owned()));
        blocks.push(Block::Line(week.headline.clone()));
        blocks.extend(comparison::details(week));
    }
    if !history.against_segments.is_empty() {
        let since = |segment: &analyzer::comparison::history::SegmentComparison| {
            let name = segment.metric.definition().name;
            format!("{name}, since {}: {}", segment.since, segment.comparison.headline)
        };
        blocks.push(Block::List(
            "Against the files since the last change of level".to_owned(),
            history.against_segments.iter().map(since).collect(),
        ));
    }
    blocks.push(Block::Heading(2, "Over time".to_owned()));
    blocks.push(Block::Grid(grid(history)));
    blocks
}

fn grid(history: &History) -> Grid {
    let judged: Vec<&CellHistory> = history.cells.iter().filter(|cell| cell.metric.definition().primary).collect();
    let varied = Varied::of(judged.iter().map(|cell| &cell.cell));
    let heads = ["metric", ">files", ">first", ">newest", "level changed at"];
    let mut grid = Grid::new(PLACE.into_iter().chain(heads));
    for cell in judged {
        let scale = Scale::of(&cell.unit, cell.points.iter().map(|point| point.geomean));
        let text = |point: Option<&Point>| scale.text(point.map(|point| point.geomean));
        let name = |place: &usize| {
            let file = history.files.get(cell.points.get(*place)?.file)?;
            Some(file.name.clone())
        };
        let changes: Vec<String> = cell.segments.iter().skip(1).filter_map(name).collect();
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
