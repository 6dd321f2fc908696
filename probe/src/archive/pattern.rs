//! Names with * and ?, as a shell knows them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of a folder whose name matches. As in a shell, a name that begins with a dot is meant by a pattern that does,
/// too: the cache lies in the folder, and is no result file.
pub(super) fn matching(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let read = |error: io::Error| (folder.to_path_buf(), error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_hidden = name.starts_with('.') && !pattern.starts_with('.');
        if !is_hidden && name != super::CACHE_NAME && path.is_file() && fits(pattern.as_bytes(), name.as_bytes()) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Whether a name fits a pattern: * is any run of bytes, ? any one of them.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // The last * and how much of the name it holds so far: when the rest does not fit, it takes one more.
    let (mut at, mut of_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while of_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, of_name));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || *wanted == name[of_name] => {
                at += 1;
                of_name += 1;
            }
            _ => match &mut star {
                Some((place, held)) => {
                    *held += 1;
                    (at, of_name) = (*place + 1, *held);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_fit() {
        for (pattern, name, wanted) in [
            ("*.json", "a.json", true),
            ("*.json", "a.jsonl", false),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), wanted, "{pattern} {name}");
        }
    }
}
