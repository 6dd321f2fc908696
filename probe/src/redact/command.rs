//! A recorded command line: its flags stay, and the values of those that are known to name no one.

use super::secrets::{GONE, scrubbed};

/// Verbs of this program.
const VERBS: [&str; 3] = ["bench", "exoscope", "exo_bench"];

/// Flags whose value is a text of the user's or a path; those that are not of this program are such, too.
const FREE: [&str; 8] = ["--api-key", "--header", "--suite", "--resume", "--json-out", "--record", "--tokenizer", "-o"];

/// Flags of this program whose values are models, numbers, hosts (which are names, and replaced as such) and words out of a
/// list.
const KNOWN: [&str; 34] = [
    "--host",
    "--port",
    "--model",
    "--pp",
    "--tg",
    "--concurrency",
    "--repeat",
    "--sessions",
    "--warmup",
    "--sharding",
    "--instance-meta",
    "--min-nodes",
    "--max-nodes",
    "--progress",
    "--pause",
    "--timeout",
    "--ready-timeout",
    "--settle-timeout",
    "--stall-timeout",
    "--target-precision",
    "--max-repeats",
    "--idle-baseline",
    "--metrics-interval",
    "--method-temperature",
    "--method-top-p",
    "--method-top-k",
    "--method-min-p",
    "--method-seed",
    "--danger-delete-downloads",
    "--download-timeout",
    "--load-timeout",
    "--placement-timeout",
    "--format",
    "--seed",
];

/// The words of one command, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Command {
    begun: bool,
    /// Whether the values of the last flag stay.
    known: bool,
}

impl Command {
    /// One string of a command, which may be all of its words.
    pub(super) fn rewritten(&mut self, text: &str) -> String {
        let words: Vec<String> = text.split(' ').map(|word| self.word(word)).collect();
        let joined = words.join(" ");
        scrubbed(&joined).unwrap_or(joined)
    }

    fn word(&mut self, word: &str) -> String {
        if word.is_empty() || word == GONE {
            return word.to_owned();
        }
        if !std::mem::replace(&mut self.begun, true) {
            // The program: where it lies is nobody's business.
            return word.rsplit(['/', '\\']).next().unwrap_or(word).to_owned();
        }
        let is_number = |word: &str| word.parse::<f64>().is_ok();
        if word.starts_with('-') && !is_number(word) {
            let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
            let is_flag = flag.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            if !is_flag {
                return GONE.to_owned();
            }
            self.known = KNOWN.contains(&flag) && !FREE.contains(&flag);
            return match value {
                Some(value) if !self.known && !value.is_empty() => format!("{flag}={GONE}"),
                _ => word.to_owned(),
            };
        }
        if self.known || VERBS.contains(&word) || (is_number(word) && word.len() < 8) {
            word.to_owned()
        } else {
            GONE.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_name_no_one_goes() {
        let mut command = Command::default();
        let words = [
            "/Users/ann/bin/exoscope",
            "bench",
            "--host",
            "box",
            "--pp",
            "64",
            "128",
            "--api-key=s3",
            "--stream",
            "--header",
            "Authorization:",
            "Bearer",
            "s3",
            "--json-out=/home/ann/x.json",
            "--model",
            "lab/m",
        ];
        let kept: Vec<String> = words.iter().map(|word| command.rewritten(word)).collect();
        let line = "exoscope bench --host box --pp 64 128 --api-key=redacted --stream --header redacted redacted redacted \
                    --json-out=redacted --model lab/m";
        assert_eq!(kept.join(" "), line);
        assert_eq!(Command::default().rewritten(line), line, "twice is once");
    }
}
