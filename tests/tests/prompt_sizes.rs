//! Prompts of exactly N tokens with the tokenizers and chat templates of four real models and of small ones of each kind,
//! and the same tokens as Python gives for the same texts (`fixtures/tokenizers/golden.py` wrote what that is).
#![allow(clippy::unwrap_used, clippy::panic, reason = "what helps a test fails it")]

use std::sync::{Arc, OnceLock};

use jiff::civil::DateTime;
use probe::workload::files::TokenizerFiles;
use probe::workload::template::LocalTime;
use probe::workload::{Otherwise, Prompt, PromptSizer, SizingError, Tokenizer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

const MODELS: [&str; 4] = ["qwen3", "llama3_2", "gemma3", "deepseek_v3"];
/// Small ones of ours, and the id of the model that each stands for.
const TINY: [(&str, &str); 6] = [
    ("tiny", ""),
    ("begins-twice", ""),
    ("trims", ""),
    ("named-templates", ""),
    ("kimi", "mlx-community/Kimi-K2-Instruct-4bit"),
    ("deepseek", "mlx-community/DeepSeek-V3.2-4bit"),
];

/// A table that Python wrote: its cases, and the moment that it was told it is.
fn golden(file: &str) -> (Vec<Value>, LocalTime) {
    let golden = std::fs::read(tests::fixture("tokenizers").join(file)).unwrap();
    let golden: Value = serde_json::from_slice(&golden).unwrap();
    let moment: DateTime = golden["made"]["now"].as_str().unwrap().parse().unwrap();
    (golden["cases"].as_array().unwrap().clone(), LocalTime::at(moment))
}

/// A model's tokenizer on the day of the tables. Loaded once: a vocabulary of 30 MB takes its time.
fn real(model: &str) -> Arc<Tokenizer> {
    static LOADED: [OnceLock<Arc<Tokenizer>>; 4] = [const { OnceLock::new() }; 4];
    let at = MODELS.iter().position(|known| *known == model).unwrap();
    let tokenizer = LOADED[at].get_or_init(|| {
        let folder = tests::real_tokenizer(model).unwrap_or_else(|reason| panic!("{reason}"));
        let (_, moment) = golden("golden_counts.json");
        Arc::new(Tokenizer::from_files(TokenizerFiles::read(&folder).unwrap(), moment).unwrap())
    });
    Arc::clone(tokenizer)
}

fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))[..16].to_owned()
}

fn digest_of_ids(ids: &[u32]) -> String {
    digest(&ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>())
}

/// Text, ids and count of every content of the table.
fn encodes_as_python(name: &str, tokenizer: &Tokenizer) {
    let (cases, _) = golden("golden_counts.json");
    assert!(cases.len() >= 47);
    for case in cases {
        let content = case["text"].as_str().unwrap().repeat(case["times"].as_u64().unwrap() as usize);
        let rendered = tokenizer.render(&content).unwrap();
        let ids = tokenizer.ids(&content).unwrap();
        let here = serde_json::json!([ids.len(), digest_of_ids(&ids), digest(rendered.as_bytes())]);
        assert_eq!(here, case["counts"][name], "{name}: {case}");
        assert_eq!(tokenizer.count(&content).unwrap(), ids.len() as u64);
    }
}

/// Every size of the table: exactly as many tokens, of exactly the atoms that halving in Python ends at; or the sentence
/// where Python, too, got more than asked for.
fn sizes_as_python(model: &str, tokenizer: Arc<Tokenizer>) {
    let sizer = PromptSizer::new(Arc::clone(&tokenizer), "a ", Otherwise::Refuse).unwrap();
    let (cases, _) = golden("golden_sizes.json");
    let mut exact = Vec::new();
    for case in cases.iter().filter(|case| case["model"] == model) {
        let [target, atoms, tokens] = ["target", "atoms", "tokens"].map(|key| case[key].as_u64().unwrap());
        match sizer.build(target) {
            Ok(prompt) => {
                let content = "a ".repeat(atoms as usize);
                assert_eq!(
                    prompt,
                    Prompt { content, atom: "a ".to_owned(), tokens: target, atoms },
                    "{model}, pp {target}"
                );
                assert_eq!(tokenizer.count(&prompt.content).unwrap(), target);
                assert_eq!(digest_of_ids(&tokenizer.ids(&prompt.content).unwrap()), case["ids"]);
                exact.push(target);
            }
            Err(error @ SizingError::Overshoot { .. }) => {
                assert!(tokens > target, "{model}, pp {target}: {error}");
                assert_eq!(
                    error.to_string(),
                    format!(
                        "the atom \"a \" cannot make exactly {target} tokens with this tokenizer: 1 atom gives {tokens}; \
                         try --pp {tokens} or --atom ' a'"
                    )
                );
                let other = PromptSizer::new(Arc::clone(&tokenizer), " a", Otherwise::Refuse).unwrap();
                assert_eq!(other.build(target).unwrap().tokens, target);
            }
            Err(error) => panic!("{model}, pp {target}: {error}"),
        }
    }
    assert!(exact.ends_with(&[64, 512, 4096, 32768]), "{model}: {exact:?}");

    let overhead = sizer.overhead();
    let below = sizer.build(overhead - 1).unwrap_err().to_string();
    let expected = format!("--pp {} is below the {overhead} tokens that the chat template adds", overhead - 1);
    assert!(below.starts_with(&expected), "{below}");
}

/// Tests for each model, so that they load beside each other.
macro_rules! models {
    ($($model:ident)*) => { $(
        mod $model {
            #[test]
            fn a_prompt_has_exactly_the_size_asked_for() {
                super::sizes_as_python(stringify!($model), super::real(stringify!($model)));
            }

            #[test]
            fn texts_become_the_same_tokens_as_in_python() {
                super::encodes_as_python(stringify!($model), &super::real(stringify!($model)));
            }
        }
    )* };
}

models!(qwen3 llama3_2 gemma3 deepseek_v3);

fn tiny(name: &str) -> Arc<Tokenizer> {
    let (_, model_id) = TINY.iter().find(|(known, _)| *known == name).unwrap();
    Arc::new(Tokenizer::load_for(&tests::fixture("tokenizers").join(name), model_id).unwrap())
}

#[test]
fn texts_become_the_same_tokens_as_in_python_with_the_tiny_tokenizers() {
    for (name, _) in TINY {
        encodes_as_python(name, &tiny(name));
    }
}

#[test]
fn a_prompt_has_exactly_the_size_asked_for_with_ranks_and_with_a_fixed_encoding() {
    for name in ["kimi", "deepseek"] {
        sizes_as_python(name, tiny(name));
    }
}

/// "a " costs one token more at its end here, so the overhead and one more is out of its reach.
#[test]
fn a_bench_takes_another_atom_where_the_default_one_overshoots_and_says_so() {
    let bench = tests::measured::Bench::new(probe::simulate::Settings {
        load_seconds: 0.0,
        ..probe::simulate::Settings::default()
    })
    .unwrap();
    let bench_with = |arguments: &str| {
        let all = format!("--model simulated-8b --pp 10 64 --tg 4 --all-combinations --max-nodes 1 {arguments}");
        let output = bench.command(&all).unwrap().output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, stderr) = bench_with("");
    assert_eq!(code, Some(0), "{stderr}");
    let notice = "the prompt of 10 tokens repeats \" a\", because \"a \" cannot make exactly as many with this tokenizer; it \
                  is not the beginning of the other prompts";
    let file = tests::measured::read_json(&bench.results()).unwrap();
    assert_eq!(file["exoscope"]["notices"], serde_json::json!([notice]));
    assert_eq!(file["runs"][0]["stats"]["prompt_tokens"], 10, "the server counts as many: {file}");

    std::fs::remove_file(bench.results()).unwrap();
    let (code, stderr) = bench_with("--atom \u{1f600}");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("the atom \"\u{1f600}\" cannot make exactly 10 tokens"), "{stderr}");
}

/// Templates that trim make nothing of blanks: exo's own procedure divides by zero here.
#[test]
fn an_atom_of_blanks_is_refused_where_the_template_trims() {
    for model in ["llama3_2", "gemma3"] {
        let error = PromptSizer::new(real(model), "\n", Otherwise::Refuse).unwrap_err().to_string();
        assert!(error.starts_with("the atom \"\\n\" adds no tokens"), "{error}");
    }
}

/// The count of a template that prints the date must not change at midnight in the middle of a run.
#[test]
fn a_template_sees_one_date_for_as_long_as_it_is_loaded() {
    assert!(real("llama3_2").render("x").unwrap().contains("Today Date: 02 Jun 2026\n"));
}
