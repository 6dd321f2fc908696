//! Runs → JUnit's XML: a suite per file, a test case per request, so that any CI lists which ones failed and why.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::report::is_wild;

use analyzer::import::Loaded;
use analyzer::record::{Failure, ResultFile, Run};
use analyzer::units::ABSENT;

/// The suites of all files.
pub(super) fn draw(files: &[Loaded]) -> String {
    let suites: String = files.iter().map(suite).collect();
    let tests: usize = files.iter().map(|loaded| tests(&loaded.file)).sum();
    let failures: usize = files.iter().map(|loaded| failed(&loaded.file)).sum();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"exoscope\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n{suites}</testsuites>\n"
    )
}

fn suite(loaded: &Loaded) -> String {
    let file = &loaded.file;
    let mut cases = String::new();
    let mut names = Names::default();
    for run in &file.runs {
        cases.push_str(&passed(run, &mut names));
    }
    for failure in &file.failures {
        cases.push_str(&case_of(failure, &mut names));
    }
    if let Some(reason) = incomplete(file) {
        cases.push_str(&failing("the run", "every planned request was measured", "incomplete", reason, reason));
    }
    let stamp = file.exoscope.as_ref().map(|provenance| format!(" timestamp=\"{}\"", escape(&provenance.started_at)));
    format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\"{}>\n{cases}  </testsuite>\n",
        escape(&loaded.name),
        tests(file),
        failed(file),
        stamp.unwrap_or_default(),
    )
}

/// The names that a suite has so far. A reader keeps one result per name, and files that were put one behind the other
/// repeat them.
#[derive(Default)]
struct Names(BTreeMap<(String, String), usize>);

impl Names {
    /// The name, with a number behind it where it stood before.
    fn unique(&mut self, class: &str, name: String) -> String {
        let times = self.0.entry((class.to_owned(), name.clone())).or_default();
        *times += 1;
        if *times == 1 { name } else { format!("{name} ({times})") }
    }
}

fn incomplete(file: &ResultFile) -> Option<&str> {
    Some(file.exoscope.as_ref()?.incomplete.as_ref()?.reason.as_str())
}

fn failed(file: &ResultFile) -> usize {
    file.failures.len() + usize::from(incomplete(file).is_some())
}

fn tests(file: &ResultFile) -> usize {
    file.runs.len() + failed(file)
}

fn passed(run: &Run, names: &mut Names) -> String {
    let class = class([&run.model_id, &run.placement_sharding, &run.placement_instance_meta]);
    let detail = run.exoscope.as_ref();
    let name = name(
        &number(run.pp_tokens),
        &number(run.tg),
        number(run.concurrency.map(u64::from).or_else(|| run.figures.is_none().then_some(1))),
        &format!("repeat {}", number(run.repeat_index.map(u64::from))),
        detail.map(|detail| detail.request_index).or(run.concurrent_index),
        detail.map(|detail| detail.session),
    );
    let name = names.unique(&class, name);
    let time = run.elapsed_s.filter(|seconds| *seconds >= 0.0).map(|seconds| format!(" time=\"{seconds}\""));
    format!("    <testcase classname=\"{class}\" name=\"{name}\"{}/>\n", time.unwrap_or_default())
}

fn case_of(failure: &Failure, names: &mut Names) -> String {
    let class = class([&failure.model_id, &failure.placement_sharding, &failure.placement_instance_meta]);
    let when = if failure.warmup { "warm-up".to_owned() } else { format!("repeat {}", failure.repeat_index) };
    let name = name(
        &number(failure.pp_tokens),
        &number(failure.tg),
        number(failure.concurrency.map(u64::from)),
        &when,
        Some(failure.request_index),
        Some(failure.session),
    );
    let name = names.unique(&class, name);
    let kind = serde_json::to_value(failure.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned));
    let status = failure.status.map(|status| format!("status {status}: ")).unwrap_or_default();
    let message = format!("{status}{}", failure.message);
    failing_raw(&class, &name, &kind.unwrap_or_else(|| "failed".to_owned()), &message, &message)
}

fn failing(class: &str, name: &str, kind: &str, message: &str, body: &str) -> String {
    failing_raw(&escape(class), &escape(name), kind, message, body)
}

/// Class and name are escaped already.
fn failing_raw(class: &str, name: &str, kind: &str, message: &str, body: &str) -> String {
    let (kind, message, body) = (escape(kind), escape(message), escape(body));
    format!(
        "    <testcase classname=\"{class}\" name=\"{name}\">\n      \
         <failure type=\"{kind}\" message=\"{message}\">{body}</failure>\n    </testcase>\n"
    )
}

fn class<T: Deref<Target = str>>(names: [&Option<T>; 3]) -> String {
    let [model, sharding, instance] = names.map(|name| name.as_deref().unwrap_or(ABSENT));
    escape(&format!("{model} {sharding} / {instance}"))
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

fn name(pp: &str, tg: &str, concurrency: String, when: &str, request: Option<u32>, session: Option<u32>) -> String {
    let request = request.map(|request| format!(", request {request}")).unwrap_or_default();
    let session = session.map(|session| format!(", session {session}")).unwrap_or_default();
    escape(&format!("pp {pp} tg {tg} c {concurrency}, {when}{request}{session}"))
}

/// Text that XML would read as its own, and the characters that XML 1.0 has no way to write.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            letter if is_wild(letter) && letter != '\t' => escaped.push('\u{FFFD}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
