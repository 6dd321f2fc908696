//! The README's commands are executed, so that they cannot lie.

use std::collections::BTreeSet;
use std::process::Command;

/// The fenced blocks of the README in a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.match_indices(&fence)
        .map(|(at, _)| {
            let rest = &text[at + fence.len()..];
            rest[..rest.find("```").expect("a fence is closed")].to_owned()
        })
        .collect()
}

fn readme() -> String {
    std::fs::read_to_string(tests::root().join("README.md")).unwrap()
}

#[test]
fn the_shell_blocks_of_the_readme_run_from_top_to_bottom() {
    let program = tests::exoscope().unwrap();
    let mut script = blocks(&readme(), "sh").join("\n");
    // The README's ports may be taken where the test runs, by another test of the same README for one.
    for port in 52_490..52_500 {
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        script = script.replace(&port.to_string(), &free.to_string());
    }
    assert!(script.contains("exoscope bench"), "the README shows a bench");
    // The shell makes the file that is waited for while it is waited for: its absence is no news.
    assert!(!script.contains("until grep -q "), "a wait that complains: grep needs -s");
    let folder = tempfile::tempdir().unwrap();
    // The block is written for a clone; what it writes shall not land in ours.
    std::os::unix::fs::symlink(tests::root().join("fixtures"), folder.path().join("fixtures")).unwrap();
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_path_buf())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    // A server that does not come up is waited for by the blocks for ever.
    let watched =
        format!("trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n(sleep 300; kill $$) >/dev/null 2>&1 &\n{script}");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &watched])
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "status {}\nstdout:\n{out}\nstderr:\n{err}", output.status);
    assert!(folder.path().join("before.json").exists() && folder.path().join("before.md").exists());
    assert!(out.contains("▼ regressed"), "the slowed cluster is found out:\n{out}");
    assert!(out.contains("http://127.0.0.1:"), "view --check says where the viewer answered:\n{out}");
    assert!(out.contains("simulated"), "the report says where its numbers come from:\n{out}");
    assert!(!err.contains("grep:"), "nothing looks like a failure that is none:\n{err}");
}

#[test]
fn the_readme_names_only_recipes_that_exist() {
    let justfile = std::fs::read_to_string(tests::root().join("justfile")).unwrap();
    let recipes: BTreeSet<&str> = justfile
        .lines()
        .filter(|line| {
            line.starts_with(|first: char| first.is_ascii_lowercase()) && line.contains(':') && !line.contains(":=")
        })
        .filter_map(|line| line.split([' ', ':']).next())
        .collect();
    assert!(recipes.contains("demo") && recipes.contains("test"), "{recipes:?}");
    for page in ["README.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(tests::root().join(page)).unwrap();
        for (at, _) in text.match_indices("just ").filter(|(at, _)| text[..*at].ends_with(['`', '$', ' '])) {
            let word: String = text[at + 5..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            let quoted = text[..at].ends_with('`') || text[..at].ends_with("$ ");
            assert!(
                !quoted || word.is_empty() || word.starts_with('-') || recipes.contains(word.as_str()),
                "{page} names `just {word}`"
            );
        }
    }
}

#[test]
fn the_exit_codes_of_the_readme_are_those_of_the_help() {
    let output = Command::new(tests::exoscope().unwrap()).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let codes = |line: &str| {
        line.trim().split([' ', '|']).find(|word| !word.is_empty()).and_then(|code| code.parse::<u8>().ok())
    };
    let table = help.split("Exit codes:").nth(1).expect("the help has a table of exit codes");
    let of_help: BTreeSet<u8> = table.lines().filter_map(codes).collect();
    let of_readme: BTreeSet<u8> = readme().lines().filter(|line| line.starts_with("| ")).filter_map(codes).collect();
    assert_eq!(of_help, of_readme);
}
