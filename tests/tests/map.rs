//! ARCHITECTURE.md is the map: every module and every dependency stands in it, and nothing that is gone.

use std::collections::BTreeSet;
use std::path::Path;

/// The source files of a crate, as the map spells them: `record/file.rs`.
fn modules(krate: &str) -> BTreeSet<String> {
    fn walk(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{prefix}{name}/"), found);
            } else if Path::new(&name).extension().is_some_and(|extension| extension == "rs") {
                found.insert(format!("{prefix}{name}"));
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(&tests::root().join(krate).join("src"), "", &mut found);
    found
}

/// The text of ARCHITECTURE.md from a heading to the next of the same level.
fn section(text: &str, heading: &str) -> String {
    let start = format!("## {heading}\n");
    let from = text.find(&start).unwrap_or_else(|| panic!("ARCHITECTURE.md has no section {heading:?}")) + start.len();
    let rest = &text[from..];
    rest[..rest.find("\n## ").unwrap_or(rest.len())].to_owned()
}

/// The first cell of every table row, without its back quotes.
fn rows(section: &str) -> BTreeSet<String> {
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(first, _)| first.to_owned())
        .collect()
}

#[test]
fn every_module_stands_in_the_map_of_its_crate_and_no_other() {
    let text = std::fs::read_to_string(tests::root().join("ARCHITECTURE.md")).unwrap();
    for krate in ["analyzer", "probe", "web"] {
        let mapped = rows(&section(&text, krate));
        let there = modules(krate);
        assert!(there.contains("lib.rs"), "{krate} was walked");
        let missing: Vec<_> = there.difference(&mapped).collect();
        let gone: Vec<_> = mapped.difference(&there).collect();
        assert!(missing.is_empty(), "ARCHITECTURE.md, section {krate}, does not name {missing:?}");
        assert!(gone.is_empty(), "ARCHITECTURE.md, section {krate}, names {gone:?}, which are not there");
    }
}

#[test]
fn every_module_says_what_it_is() {
    for krate in ["analyzer", "probe", "web"] {
        for module in modules(krate) {
            let text = std::fs::read_to_string(tests::root().join(krate).join("src").join(&module)).unwrap();
            assert!(
                text.starts_with("//! "),
                "{krate}/src/{module} does not open with a sentence that says what it is"
            );
        }
    }
}

#[test]
fn every_dependency_stands_in_the_map_with_its_reason() {
    let text = std::fs::read_to_string(tests::root().join("ARCHITECTURE.md")).unwrap();
    let mapped = rows(&section(&text, "Dependencies"));
    let manifest = std::fs::read_to_string(tests::root().join("Cargo.toml")).unwrap();
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap();
    let table = &table[..table.find("\n[").unwrap()];
    let ours = ["analyzer", "probe"];
    let used: BTreeSet<String> = table
        .lines()
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name.trim().to_owned()))
        .filter(|name| !name.starts_with('#') && !ours.contains(&name.as_str()))
        .collect();
    assert!(used.contains("polars"), "the table was read");
    let missing: Vec<_> = used.difference(&mapped).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md, section Dependencies, does not name {missing:?}");
    for krate in ["analyzer", "probe", "web", "tests"] {
        let manifest = std::fs::read_to_string(tests::root().join(krate).join("Cargo.toml")).unwrap();
        for line in manifest.lines().filter(|line| line.contains("version = \"")) {
            panic!("{krate}/Cargo.toml spells a version of its own: {line}");
        }
    }
}
