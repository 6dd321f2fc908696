//! Where a verb writes: never over a file that it reads.

use std::path::{Path, PathBuf};

use super::document::STANDARD;

/// What would be written is what is read.
#[derive(Debug, thiserror::Error)]
#[error("{flag} {output} is {input}, which is read here and would be lost; name another file")]
pub struct Overwrites {
    /// The flag that names the output: "--output".
    flag: &'static str,
    output: String,
    input: String,
}

/// Makes sure that no file that is read would be replaced, by whatever name: a link, another spelling, standard input.
///
/// `flag` is for the words. No output and "-" are standard output, which replaces nothing; nor does a device or a pipe.
///
/// # Errors
/// [`Overwrites`] names the two.
pub fn spare<I, P>(flag: &'static str, output: Option<&Path>, inputs: I) -> Result<(), Overwrites>
where
    I: IntoIterator<Item = P>,
    P: AsRef<Path>,
{
    let Some(output) = output.filter(|path| *path != Path::new(STANDARD)) else { return Ok(()) };
    let Some(place) = Place::of(output) else { return Ok(()) };
    for input in inputs {
        let input = input.as_ref();
        let is_standard = input == Path::new(STANDARD);
        // A shell's `< file` is that file, too; where the system has no such path, it cannot be told.
        let path = if is_standard { Path::new("/dev/stdin") } else { input };
        if Place::of(path).is_some_and(|input| input == place) {
            let input = if is_standard { "standard input".to_owned() } else { input.display().to_string() };
            return Err(Overwrites { flag, output: output.display().to_string(), input });
        }
    }
    Ok(())
}

/// Whether two names are of one place, also where nothing stands there yet.
#[must_use]
pub fn is_same(one: &Path, other: &Path) -> bool {
    Place::of(one).is_some_and(|one| Some(one) == Place::of(other))
}

/// Which file a path leads to.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// One that is there: its device and its number on it, which all its names share.
    #[cfg(unix)]
    Found(u64, u64),
    /// Where one will be, or is, on systems without such numbers.
    Named(PathBuf),
}

impl Place {
    /// None for what is no ordinary file: writing to it replaces nothing.
    fn of(path: &Path) -> Option<Self> {
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => None,
            #[cfg(unix)]
            Ok(found) => {
                use std::os::unix::fs::MetadataExt as _;
                Some(Self::Found(found.dev(), found.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => Some(Self::Named(std::fs::canonicalize(path).ok()?)),
            Err(_) => {
                // Its folder may be named in several ways, too.
                let full = std::path::absolute(path).ok()?;
                let folder = full.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
                Some(Self::Named(match (folder, full.file_name()) {
                    (Some(folder), Some(name)) => folder.join(name),
                    _ => full,
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_itself_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.json"), "{}").unwrap();
        std::fs::write(at("b.json"), "{}").unwrap();
        std::os::unix::fs::symlink(at("a.json"), at("link")).unwrap();
        std::fs::hard_link(at("a.json"), at("hard")).unwrap();
        for name in ["a.json", "link", "hard", "./a.json"] {
            let error = spare("--output", Some(&at(name)), [at("b.json"), at("a.json")]).unwrap_err().to_string();
            assert!(error.contains("a.json, which is read here"), "{error}");
        }
        assert!(spare("--output", Some(&at("c.json")), [at("a.json")]).is_ok());
        assert!(spare("--output", Some(&at("b.json")), [at("a.json")]).is_ok());
        assert!(spare("--output", Some(Path::new("/dev/null")), ["/dev/null"]).is_ok());
        assert!(spare("--output", None, [at("a.json")]).is_ok());
        assert!(is_same(&at("new"), &folder.path().join(".").join("new")) && !is_same(&at("new"), &at("newer")));
    }
}
