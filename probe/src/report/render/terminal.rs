//! Blocks → a terminal's width and colours.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::Look;
use super::sheet::{Block, Grid, clean};

/// One rule below the heads: more lines than that are more to read.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Draws blocks one below the other.
pub(super) fn draw(blocks: &[Block], look: Look) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Heading(1, words) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&bold(&clean(words), look));
                text.push('\n');
            }
            Block::Heading(_, words) => {
                text.push('\n');
                text.push_str(&bold(&clean(words), look));
                text.push('\n');
            }
            Block::Line(words) => paragraph(&mut text, words, "", look),
            Block::List(_, sentences) if sentences.is_empty() => {}
            Block::List(word, sentences) => {
                text.push_str(&format!("{word}:\n"));
                for sentence in sentences {
                    paragraph(&mut text, sentence, "  • ", look);
                }
            }
            Block::Facts(facts) => {
                let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                for (name, value) in facts {
                    let pad = " ".repeat(width - name.chars().count());
                    paragraph(&mut text, value, &format!("  {name}{pad}  "), look);
                }
            }
            Block::Verbatim(lines) => {
                for line in lines {
                    text.push_str(&clean(line));
                    text.push('\n');
                }
            }
            Block::Grid(grid) => {
                text.push_str(&table(grid, look));
                for note in grid.notes.lines() {
                    paragraph(&mut text, &note, "  ", look);
                }
            }
        }
    }
    text
}

/// A paragraph behind its first indent, further lines below its text.
fn paragraph(text: &mut String, words: &str, indent: &str, look: Look) {
    let words = clean(words);
    let first = indent.chars().count();
    let width = look.width.map_or(usize::MAX, usize::from).max(first + 20);
    let mut column = first;
    text.push_str(indent);
    for (place, word) in words.split(' ').enumerate() {
        let length = word.chars().count();
        if place > 0 {
            if column + 1 + length > width {
                text.push('\n');
                text.push_str(&" ".repeat(first));
                column = first;
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}

fn table(grid: &Grid, look: Look) -> String {
    let mut table = Table::new();
    table.load_style(RULED);
    match look.width {
        Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    table.set_header(grid.head.iter().map(|head| clean(head)).collect::<Vec<_>>());
    for row in &grid.rows {
        table.add_row(row.iter().map(|cell| clean(cell)).collect::<Vec<_>>());
    }
    for (place, numbers) in grid.numbers.iter().enumerate() {
        if let (true, Some(column)) = (*numbers, table.column_mut(place)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    if look.colour {
        // After the layout: escape sequences have no width.
        for (words, code) in
            [("▼ regressed", "31"), ("▲ improved", "32"), ("~ undecided", "2"), ("⌀ not comparable", "2")]
        {
            text = text.replace(words, &format!("\u{1b}[{code}m{words}\u{1b}[0m"));
        }
    }
    text
}

fn bold(words: &str, look: Look) -> String {
    if look.colour { format!("\u{1b}[1m{words}\u{1b}[0m") } else { words.to_owned() }
}
