//! Blocks → Markdown, for issues and pull requests.

use super::sheet::{Block, Grid, clean};

/// Writes blocks one below the other.
pub(super) fn draw(blocks: &[Block]) -> String {
    let parts: Vec<String> = blocks.iter().filter_map(part).collect();
    parts.join("\n\n") + "\n"
}

fn part(block: &Block) -> Option<String> {
    Some(match block {
        Block::Heading(level, words) => format!("{} {}", "#".repeat(usize::from(*level) + 1), escape(words)),
        Block::Line(words) => escape(words),
        Block::List(_, sentences) if sentences.is_empty() => return None,
        Block::List(word, sentences) => {
            let items: Vec<String> = sentences.iter().map(|sentence| format!("- {}", escape(sentence))).collect();
            format!("{word}:\n\n{}", items.join("\n"))
        }
        Block::Facts(facts) if facts.is_empty() => return None,
        Block::Facts(facts) => {
            let items: Vec<String> =
                facts.iter().map(|(name, value)| format!("- {}: {}", escape(name), escape(value))).collect();
            items.join("\n")
        }
        Block::Verbatim(lines) => {
            // A fence that no line can close.
            let lines: Vec<String> = lines.iter().map(|line| clean(line).replace("```", "'''")).collect();
            format!("```text\n{}\n```", lines.join("\n"))
        }
        Block::Grid(grid) => table(grid),
    })
}

fn table(grid: &Grid) -> String {
    let row =
        |cells: &[String]| format!("| {} |", cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | "));
    let rule: Vec<&str> = grid.numbers.iter().map(|number| if *number { "---:" } else { "---" }).collect();
    let mut lines = vec![row(&grid.head), format!("| {} |", rule.join(" | "))];
    lines.extend(grid.rows.iter().map(|cells| row(cells)));
    let notes = grid.notes.lines();
    if !notes.is_empty() {
        lines.push(String::new());
        // Two spaces end a line without ending the paragraph.
        lines.push(notes.iter().map(|note| escape(note)).collect::<Vec<_>>().join("  \n"));
    }
    lines.join("\n")
}

/// Text that Markdown would read as its own.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in clean(text).chars() {
        if matches!(letter, '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '#') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_name_cannot_break_a_table() {
        let mut grid = Grid::new(["model", ">tok/s"]);
        grid.rows.push(vec!["a|b_c".into(), "1.5".into()]);
        assert_eq!(table(&grid), "| model | tok/s |\n| --- | ---: |\n| a\\|b\\_c | 1.5 |");
    }
}
