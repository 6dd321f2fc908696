//! Lines of cells between separators, as CSV and SQL write them.

/// Splits a line; a separator inside quotes is none, and a quote inside them is doubled.
pub(super) fn split(line: &str, separator: char, quote: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = cells.len() - 1;
        if letter == quote {
            if quoted && letters.peek() == Some(&quote) {
                letters.next();
                cells[last].push(quote);
            } else {
                quoted = !quoted;
            }
        } else if letter == separator && !quoted {
            cells.push(String::new());
        } else if quoted || !(letter.is_whitespace() && cells[last].is_empty()) {
            cells[last].push(letter);
        }
    }
    for cell in &mut cells {
        cell.truncate(cell.trim_end().len());
    }
    cells
}

/// The heading and the rows of a CSV. The separator is the heading's own: a comma, a semicolon or a tab.
pub(super) fn table(text: &str) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, first)) = lines.next() else { return Err("there is no heading".into()) };
    let separator = [',', ';', '\t'].into_iter().max_by_key(|mark| first.matches(*mark).count()).unwrap_or(',');
    let heading = split(first, separator, '"');
    let mut rows = Vec::new();
    for (place, line) in lines {
        let row = split(line, separator, '"');
        if row.len() != heading.len() {
            let (found, wanted) = (row.len(), heading.len());
            return Err(format!(
                "line {} has {found} cells and the heading {wanted}; it was cut off or changed",
                place + 1
            ));
        }
        rows.push(row);
    }
    Ok((heading, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_separators_and_quotes() {
        assert_eq!(split("a, \"b,\"\"c\"\"\",,d", ',', '"'), ["a", "b,\"c\"", "", "d"]);
        assert_eq!(split("'it''s', '1,5'", ',', '\''), ["it's", "1,5"]);
    }

    #[test]
    fn a_line_that_is_cut_off_is_named() {
        let error = table("a;b\n1;2\n3\n").unwrap_err();
        assert_eq!(error, "line 3 has 1 cells and the heading 2; it was cut off or changed");
    }
}
