//! A tiktoken rank file, split and encoded as Kimi's own tokenizer does it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tiktoken_rs::CoreBPE;

use crate::workload::files::TokenizerFiles;
use crate::workload::trouble::TokenizerError;

/// How Kimi cuts a text into pieces before merging (`pat_str` in its `tokenization_kimi.py`, the same from K2 to K2.7).
/// The rank file does not carry it, and another one would give other counts without an error.
const PIECES: [&str; 8] = [
    r"[\p{Han}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
];

/// Ids after the ranks that Kimi keeps for special tokens, named in the configuration or not: 256 and two.
const SPECIAL_TOKENS: u32 = 258;

/// The class in the configuration whose pieces are [`PIECES`].
const KIMI: &str = "TikTokenTokenizer";

/// An encoder of ranks.
pub(super) struct Ranks(CoreBPE);

impl Ranks {
    /// Reads the rank file and the special tokens that the configuration names.
    ///
    /// A rank file of another tokenizer's class is refused: Qwen's first models have one too, and cut texts otherwise.
    pub(super) fn of(files: &TokenizerFiles, path: &Path) -> Result<Self, TokenizerError> {
        let configuration = files.configuration.as_ref();
        let class = configuration.and_then(|known| known.get("tokenizer_class")).and_then(Value::as_str);
        if let Some(class) = class.filter(|class| *class != KIMI) {
            return Err(TokenizerError::OtherFormat {
                folder: files.folder.clone(),
                file: files.vocabulary.name.clone(),
                format: format!("a tiktoken rank file of the class {class}"),
            });
        }
        let unusable = |reason: String| TokenizerError::Vocabulary { path: path.to_owned(), reason };
        let ranks = ranks(&files.vocabulary.bytes).map_err(unusable)?;
        let named = configuration.and_then(|known| known.get("added_tokens_decoder"));
        let special = special_tokens(ranks.len(), named).map_err(unusable)?;
        let engine = CoreBPE::new(ranks.into_iter().collect(), special.into_iter().collect(), &PIECES.join("|"));
        engine.map(Self).map_err(|reason| unusable(reason.to_string()))
    }

    /// The ids of a text, all special tokens allowed, as exo's bench encodes.
    ///
    /// Kimi's own code would cut a text at 400,000 characters and a run of one kind at 25,000; exo's does not.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, String> {
        let special: HashSet<&str> = self.0.special_tokens();
        self.0.encode(text, &special).map(|(ids, _)| ids).map_err(|reason| reason.message)
    }
}

/// `base64(token) rank`, one a line. Whatever the encoder would stop the program over is found here.
fn ranks(bytes: &[u8]) -> Result<BTreeMap<Vec<u8>, u32>, String> {
    let mut ranks = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let (token, rank) =
            entry(line).ok_or_else(|| format!("line {number} is not a token in base64 and its rank"))?;
        if !seen.insert(rank) || ranks.insert(token, rank).is_some() {
            return Err(format!("line {number} repeats a token or a rank"));
        }
    }
    match (0..=u8::MAX).find(|byte| !ranks.contains_key([*byte].as_slice())) {
        Some(byte) => Err(format!("it has no token for the byte {byte:#04x}; the file is cut off, fetch it again")),
        None => Ok(ranks),
    }
}

fn entry(line: &[u8]) -> Option<(Vec<u8>, u32)> {
    let (token, rank) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    Some((STANDARD.decode(token).ok()?, rank.trim().parse().ok()?))
}

/// The special tokens by text: what the configuration names, and a name of its own for each other reserved id.
fn special_tokens(ranks: usize, named: Option<&Value>) -> Result<BTreeMap<String, u32>, String> {
    let first = u32::try_from(ranks).map_err(|_| format!("it has {ranks} ranks, more than ids"))?;
    let name = |id: u32| {
        let content = named.and_then(|named| named.get(id.to_string())).and_then(|token| token.get("content"));
        // An empty one would be found everywhere, without an end.
        let content = content.and_then(Value::as_str).filter(|content| !content.is_empty());
        content.map_or_else(|| format!("<|reserved_token_{id}|>"), str::to_owned)
    };
    Ok((first..first.saturating_add(SPECIAL_TOKENS)).map(|id| (name(id), id)).collect())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use serde_json::json;

    use super::{STANDARD, ranks, special_tokens};

    fn bytes_and(more: &str) -> Vec<u8> {
        let line = |byte: u8| format!("{} {byte}\n", STANDARD.encode([byte]));
        ((0..=u8::MAX).map(line).collect::<String>() + more).into_bytes()
    }

    #[test]
    fn a_line_is_a_token_in_base64_and_its_rank() {
        let read = ranks(&bytes_and("IGE= 256\n\n")).unwrap();
        assert_eq!((read.len(), read[b" a".as_slice()]), (257, 256));
    }

    #[test]
    fn what_is_no_rank_file_is_told_by_line() {
        let refused = |more: &str| ranks(&bytes_and(more)).unwrap_err();
        for line in ["IGE=", "IGE= x", "*** 256", "version https://git-lfs.github.com/spec/v1"] {
            assert_eq!(refused(line), "line 257 is not a token in base64 and its rank");
        }
        for line in ["IGE= 255", "AA== 256"] {
            assert_eq!(refused(line), "line 257 repeats a token or a rank");
        }
        assert_eq!(
            ranks(b"AA== 0\nAQ== 1\n").unwrap_err(),
            "it has no token for the byte 0x02; the file is cut off, fetch it again"
        );
    }

    #[test]
    fn reserved_ids_have_the_name_of_the_configuration_or_their_own() {
        let named = json!({"300": {"content": "[BOS]"}, "9999": {"content": "out of range"}});
        let special = special_tokens(299, Some(&named)).unwrap();
        assert_eq!(special.len(), 258);
        assert_eq!(
            (special["[BOS]"], special["<|reserved_token_299|>"], special["<|reserved_token_556|>"]),
            (300, 299, 556)
        );
    }
}
