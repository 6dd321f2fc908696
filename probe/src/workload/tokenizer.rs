//! A model's tokenizer together with its chat template: text in, token count out.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use analyzer::record::TokenizerIdentity;
use sha2::{Digest as _, Sha256};

use super::files::TokenizerFiles;
use super::hub;
use super::template::{LocalTime, Template};
pub use super::trouble::TokenizerError;
use super::vocabulary::Vocabulary;

/// A loaded tokenizer and the chat template beside it. Safe to share between threads.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    template: Template,
    folder: PathBuf,
    sha256: String,
    overhead: u64,
    encodes: AtomicU64,
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Tokenizer")
            .field("folder", &self.folder)
            .field("sha256", &self.sha256)
            .finish_non_exhaustive()
    }
}

impl Tokenizer {
    /// Loads the vocabulary, `tokenizer_config.json` and `chat_template.jinja` from a folder.
    ///
    /// Templates that print the date (`strftime_now`) see the local date of this call for as long as the value lives:
    /// a count must not change at midnight in the middle of a run. A template that cannot render an empty user message
    /// is an error here rather than at the first prompt. For a model whose id is known there is [`Self::load_for`].
    pub fn load(folder: &Path) -> Result<Self, TokenizerError> {
        Self::from_files(TokenizerFiles::read(folder)?, LocalTime::now())
    }

    /// Loads the tokenizer of a model whose id is known, which some encodings go by: see [`TokenizerFiles::for_model`].
    pub fn load_for(folder: &Path, model_id: &str) -> Result<Self, TokenizerError> {
        Self::from_files(TokenizerFiles::read(folder)?.for_model(model_id), LocalTime::now())
    }

    /// The tiny tokenizer that comes with the program, for the simulated cluster and the tests.
    pub fn built_in() -> Result<Self, TokenizerError> {
        Self::from_files(TokenizerFiles::built_in()?, LocalTime::now())
    }

    /// Makes a tokenizer of files that are already read, with the date that its template shall see.
    pub fn from_files(files: TokenizerFiles, date: LocalTime) -> Result<Self, TokenizerError> {
        let template = Template::of(&files, date)?;
        let vocabulary = Vocabulary::of(&files)?;
        let sha256 = hex_of_sha256(&files.vocabulary.bytes);
        let mut tokenizer =
            Self { vocabulary, template, folder: files.folder, sha256, overhead: 0, encodes: AtomicU64::new(0) };
        tokenizer.overhead = tokenizer.count("")?;
        Ok(tokenizer)
    }

    /// The prompt as the model sees it: one user message in the chat template, with the generation prompt added.
    pub fn render(&self, content: &str) -> Result<String, TokenizerError> {
        self.template.render(content)
    }

    /// The ids of a rendered message.
    pub fn ids(&self, content: &str) -> Result<Vec<u32>, TokenizerError> {
        self.encodes.fetch_add(1, Ordering::Relaxed);
        self.vocabulary.ids(self.render(content)?)
    }

    /// The number of tokens of a rendered message: the template's own and the content's.
    pub fn count(&self, content: &str) -> Result<u64, TokenizerError> {
        self.encodes.fetch_add(1, Ordering::Relaxed);
        self.vocabulary.count(self.render(content)?)
    }

    /// Tokens that the template adds to an empty message.
    pub fn overhead(&self) -> u64 {
        self.overhead
    }

    /// How many texts were encoded so far, loading included: what sizing costs, for tests and benchmarks.
    pub fn encodes(&self) -> u64 {
        self.encodes.load(Ordering::Relaxed)
    }

    /// What a result file says about this tokenizer.
    pub fn identity(&self, source: &str, atom: &str) -> TokenizerIdentity {
        // A snapshot's own name is its commit; the model's is two folders above.
        let folder = match revision_of(&self.folder) {
            Some(_) => self.folder.parent().and_then(Path::parent).unwrap_or(&self.folder),
            None => &self.folder,
        };
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        TokenizerIdentity {
            source: source.to_owned(),
            name: name.to_string_lossy().into_owned(),
            revision: revision_of(&self.folder),
            sha256: self.sha256.clone(),
            template_source: self.template.source().to_owned(),
            template_sha256: hex_of_sha256(self.template.text().as_bytes()),
            template_overhead_tokens: self.overhead,
            atom: atom.to_owned(),
        }
    }
}

/// The commit that a folder of the Hugging Face cache (`snapshots/<commit>`) is named for.
fn revision_of(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?;
    let of_the_cache = folder.parent()?.file_name()? == "snapshots";
    (of_the_cache && hub::is_commit(name)).then(|| name.to_owned())
}

fn hex_of_sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{LocalTime, Tokenizer, TokenizerFiles};

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tokenizers").join(name)
    }

    fn load(name: &str) -> Tokenizer {
        Tokenizer::load(&fixture(name)).unwrap()
    }

    fn counts(tokenizer: &Tokenizer) -> [u64; 5] {
        [0, 1, 2, 3, 100].map(|atoms| tokenizer.count(&"a ".repeat(atoms)).unwrap())
    }

    #[test]
    fn the_built_in_tokenizer_counts_its_template_and_one_token_per_atom() {
        let tokenizer = Tokenizer::built_in().unwrap();
        let expected = "<|begin|><|turn|>user\na a <|end|>\n<|turn|>assistant\n";
        assert_eq!(tokenizer.render("a a ").unwrap(), expected);
        // begin, turn, user, line break, end, line break, turn, assistant, line break
        assert_eq!(tokenizer.overhead(), 9);
        // One for each atom and one for the space at the end.
        assert_eq!(counts(&tokenizer), [9, 11, 12, 13, 110]);
    }

    /// Its post-processor would add a second begin token, its truncation would cut at 16, its padding fill up to 64.
    #[test]
    fn a_count_is_free_of_post_processor_truncation_and_padding() {
        let tokenizer = load("begins-twice");
        assert_eq!(counts(&tokenizer), counts(&load("tiny")));
        let begin = tokenizer.ids("").unwrap()[0];
        assert_eq!(tokenizer.ids("a ").unwrap().iter().filter(|id| **id == begin).count(), 1);
    }

    #[test]
    fn the_template_file_beats_the_configuration_and_may_trim() {
        let tokenizer = load("trims");
        assert_eq!(counts(&tokenizer), [9, 10, 11, 12, 109]);
        assert_eq!(tokenizer.identity("--tokenizer", "a ").template_source, "chat_template.jinja");
    }

    #[test]
    fn of_several_named_templates_the_default_one_is_taken_and_an_absent_begin_token_prints_nothing() {
        let tokenizer = load("named-templates");
        assert_eq!(tokenizer.render("x").unwrap(), "<|turn|>user\nx<|end|>\n<|turn|>assistant\n");
        assert_eq!(tokenizer.overhead(), 8);
    }

    #[test]
    fn a_special_token_in_the_content_is_one_token_as_in_python() {
        let tokenizer = load("tiny");
        assert_eq!(tokenizer.count("<|turn|>").unwrap(), tokenizer.overhead() + 1);
    }

    #[test]
    fn a_model_without_a_template_says_where_one_was_looked_for() {
        let error = Tokenizer::load(&fixture("no-template")).unwrap_err().to_string();
        assert!(
            error.contains("no-template has no chat template (looked for chat_template.jinja and for chat_template in"),
            "{error}"
        );
    }

    /// exo's server writes these models' messages by code of its own, whatever lies in the folder.
    #[test]
    fn deepseek_is_written_as_exo_writes_it_with_or_without_a_template() {
        for (id, template) in [
            ("mlx-community/DeepSeek-V3.2-4bit", None),
            ("deepseek-ai/DEEPSEEK-V4-Flash", None),
            ("mlx-community/deepseek-v3.2-8bit", Some("{{ raise_exception('not this one') }}")),
        ] {
            let mut files = TokenizerFiles::read(&fixture("deepseek")).unwrap().for_model(id);
            files.template = template.map(str::to_owned);
            let tokenizer = Tokenizer::from_files(files, LocalTime::now()).unwrap();
            assert_eq!(
                tokenizer.render("a {content}").unwrap(),
                "<｜begin▁of▁sentence｜><｜User｜>a {content}<｜Assistant｜><think>"
            );
            assert_eq!(tokenizer.overhead(), 4);
            assert_eq!(tokenizer.identity("", "a ").template_source, "fixed: deepseek");
        }
        let v3 = Tokenizer::load_for(&fixture("deepseek"), "mlx-community/DeepSeek-V3-0324-4bit");
        assert!(v3.unwrap_err().to_string().contains("deepseek has no chat template"));
    }

    #[test]
    fn ranks_are_loaded_where_there_is_no_tokenizer_json_and_only_those_of_kimi() {
        let kimi = load("kimi");
        assert_eq!(kimi.render("hello").unwrap(), "<|turn|>user<|middle|>hello<|end|><|turn|>assistant<|middle|>");
        let mut files = TokenizerFiles::read(&fixture("kimi")).unwrap();
        files.configuration = Some(serde_json::json!({"tokenizer_class": "QWenTokenizer", "chat_template": ""}));
        files.folder = "model".into();
        assert_eq!(
            Tokenizer::from_files(files, LocalTime::now()).unwrap_err().to_string(),
            "model has no tokenizer.json but tiktoken.model, a tiktoken rank file of the class QWenTokenizer, which this \
             build cannot read; convert it with: python -c \"from transformers import AutoTokenizer as T; d = 'model'; \
             T.from_pretrained(d, trust_remote_code=True).save_pretrained(d)\""
        );
    }

    #[test]
    fn named_templates_without_a_default_are_listed() {
        let mut files = TokenizerFiles::built_in().unwrap();
        let named = serde_json::json!([{"name": "rag", "template": ""}, {"name": "tool_use", "template": ""}]);
        files.configuration = Some(serde_json::json!({ "chat_template": named }));
        assert_eq!(
            Tokenizer::from_files(files, LocalTime::now()).unwrap_err().to_string(),
            "the chat templates in tiny are named rag, tool_use, and none is named default"
        );
    }

    #[test]
    fn a_broken_vocabulary_is_named_with_line_and_column() {
        for (content, expected) in [
            (
                "{\n \"model\": }",
                "tiny/tokenizer.json is not valid JSON: expected value at line 2 column 11; fetch it again",
            ),
            (
                "{\"model\":",
                "tiny/tokenizer.json is not valid JSON: EOF while parsing a value at line 1 column 9; fetch it again",
            ),
            ("{\"version\": \"1.0\"}", "tiny/tokenizer.json is not a tokenizer that this build understands: "),
        ] {
            let mut files = TokenizerFiles::built_in().unwrap();
            files.vocabulary.bytes = content.as_bytes().to_vec();
            let error = Tokenizer::from_files(files, LocalTime::now()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_identity_names_the_folder_and_never_its_path() {
        let identity = load("tiny").identity("exo models", "a ");
        assert_eq!((identity.name.as_str(), identity.source.as_str()), ("tiny", "exo models"));
        assert_eq!(identity.template_source, "tokenizer_config.json");
        assert_eq!(identity.template_overhead_tokens, 9);
        assert_eq!(identity.sha256.len(), 64);
        assert_ne!(identity.sha256, identity.template_sha256);
        assert_eq!(identity.revision, None);
    }

    #[test]
    fn the_identity_of_a_cached_snapshot_names_the_model_and_the_commit() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        for (folder, name, revision) in [
            (format!("/hub/models--org--Model/snapshots/{commit}"), "models--org--Model", Some(commit)),
            ("/hub/models--org--Model/snapshots/main".to_owned(), "main", None),
            (format!("/models/{commit}"), commit, None),
        ] {
            let mut files = TokenizerFiles::built_in().unwrap();
            files.folder = folder.into();
            let identity = Tokenizer::from_files(files, LocalTime::now()).unwrap().identity("", "a ");
            assert_eq!((identity.name.as_str(), identity.revision.as_deref()), (name, revision));
        }
    }
}
