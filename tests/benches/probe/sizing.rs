//! The CPU that a prompt of an exact length costs, beside full bisection with transformers.

use std::sync::Arc;

use cpu_time::ProcessTime;
use probe::workload::{Otherwise, PromptSizer, Tokenizer};

use super::{Line, peer};

/// From this length on, at most a tenth of the peer's CPU.
const FROM: u64 = 32_768;
const TARGET: f64 = 0.1;

pub(crate) fn measure(quick: bool) -> Vec<Line> {
    let lengths: &[u64] = if quick { &[4096, 32_768] } else { &[4096, 32_768, 131_072, 1_048_576] };
    let folder = match tests::real_tokenizer("qwen3") {
        Ok(folder) => folder,
        Err(reason) => {
            println!("sizing is left out: {reason}");
            return Vec::new();
        }
    };
    let mut words = vec!["size".to_owned(), folder.display().to_string()];
    words.extend(lengths.iter().map(u64::to_string));
    let output = peer(&words).stderr(std::process::Stdio::inherit()).output().expect("python3 starts");
    let Ok(theirs) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        println!("sizing is left out: the peer needs transformers and jinja2 (pip install transformers jinja2)");
        return Vec::new();
    };

    let tokenizer = Arc::new(Tokenizer::load(&folder).expect("it loads"));
    lengths
        .iter()
        .map(|&length| {
            let before = ProcessTime::now();
            // A sizer per length, as the peer has it: nothing is carried over.
            let sizer =
                PromptSizer::new(Arc::clone(&tokenizer), "a ", Otherwise::Refuse).expect("the atom adds tokens");
            let prompt = sizer.build(length).expect("the length can be made");
            let cpu_s = before.elapsed().as_secs_f64();
            assert_eq!(prompt.tokens, length, "a full count says so");
            assert_eq!(Some(prompt.atoms), theirs[length.to_string()]["atoms"].as_u64(), "the same prompt");
            Line {
                what: format!("sizing a prompt of {length} tokens, CPU"),
                ours: cpu_s,
                peer: theirs[length.to_string()]["cpu_s"].as_f64().expect("a number"),
                unit: "s",
                at_most: (length >= FROM).then_some(TARGET),
            }
        })
        .collect()
}
