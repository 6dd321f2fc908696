//! Secrets within words that stay: in URLs, in headers, in command lines, and those that show by how they begin.

use super::harmless::{is_harmless, is_secret};

/// What stands where something was.
pub(super) const GONE: &str = "redacted";

/// How keys of well-known services begin.
const BEGINNINGS: [&str; 12] =
    ["sk-", "pk-", "hf_", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "AIza", "eyJ"];

/// A text without the secrets in it; none where it has none.
pub(super) fn scrubbed(text: &str) -> Option<String> {
    let mut gone = false;
    let mut new = String::with_capacity(text.len());
    let mut is_next = Next::Any;
    // Words with what stands between them: a secret is a word, or the part of a word behind its key.
    for word in text.split_inclusive(|letter: char| letter.is_whitespace() || "\"'`<>()[]{},;|".contains(letter)) {
        let bare = word.trim_end_matches(|letter: char| letter.is_whitespace() || "\"'`<>()[]{},;|".contains(letter));
        let behind = &word[bare.len()..];
        let (kept, next) = scrub(bare, is_next);
        gone |= kept != bare;
        new.push_str(&kept);
        new.push_str(behind);
        if !bare.is_empty() {
            is_next = next;
        }
    }
    gone.then_some(new)
}

/// What the word behind one is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Any,
    /// The value of a key that says so.
    Secret,
    /// Behind `Authorization:` or the like: a scheme, or the secret itself.
    Scheme,
}

fn scrub(word: &str, is: Next) -> (String, Next) {
    let is_scheme = ["bearer", "basic", "digest", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    match is {
        Next::Any => {}
        Next::Scheme if is_scheme => return (word.to_owned(), Next::Secret),
        _ if word.is_empty() || matches!(word, "=" | ":") => return (word.to_owned(), is),
        Next::Secret | Next::Scheme => return (GONE.to_owned(), Next::Any),
    }
    if word.eq_ignore_ascii_case("bearer") {
        return (word.to_owned(), Next::Secret);
    }
    if let Some(at) = word.find("://") {
        return (url(word, at), Next::Any);
    }
    if let Some(login) = login(word) {
        return (login, Next::Any);
    }
    if let Some((key, value)) = word.split_once(['=', ':']).filter(|(key, _)| is_secret(key.trim_start_matches('-'))) {
        if value.is_empty() {
            return (word.to_owned(), Next::Scheme);
        }
        return (format!("{}{GONE}", &word[..=key.len()]), Next::Any);
    }
    if word.starts_with("--") && is_secret(word.trim_start_matches('-')) {
        return (word.to_owned(), Next::Scheme);
    }
    let begins = BEGINNINGS.iter().any(|beginning| word.len() > beginning.len() + 10 && word.starts_with(beginning));
    if begins {
        return (GONE.to_owned(), Next::Any);
    }
    if let Some((path, _)) = word.split_once('?').filter(|(path, query)| path.starts_with('/') && query.contains('=')) {
        return (format!("{path}{}", query(&word[path.len()..])), Next::Any);
    }
    (word.to_owned(), Next::Any)
}

/// "user:password@host" as the host alone, and "user@10.0.0.5" without the user; None for what is neither. Without an address a
/// word with "@" may be a revision or a version.
fn login(word: &str) -> Option<String> {
    let (user, host) = word.rsplit_once('@').filter(|(user, host)| !user.is_empty() && !host.is_empty())?;
    let bare = host.rsplit_once(':').map_or(host, |(bare, port)| if port.parse::<u16>().is_ok() { bare } else { host });
    let is_address = bare.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    match user.contains(':') {
        true => Some(host.to_owned()),
        false => is_address.then(|| format!("{GONE}@{host}")),
    }
}

/// A URL without user, password and the values of its query.
fn url(word: &str, at: usize) -> String {
    let (scheme, rest) = word.split_at(at + 3);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(end);
    // Without a word in their place: a host is known by what stands before it.
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let (path, behind) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    format!("{scheme}{host}{path}{}", query(behind))
}

/// A query with the values that may be anything replaced: "?model_id=m&token=redacted".
pub(super) fn query(text: &str) -> String {
    let Some(pairs) = text.strip_prefix('?') else { return text.to_owned() };
    let kept = |pair: &str| match pair.split_once('=') {
        Some((key, value)) if !value.is_empty() && !is_known(key, value) => format!("{key}={GONE}"),
        None if !is_harmless(None, None, pair) => GONE.to_owned(),
        _ => pair.to_owned(),
    };
    format!("?{}", pairs.split('&').map(kept).collect::<Vec<_>>().join("&"))
}

/// Parameters of exo's interface, and any that is a short number.
fn is_known(key: &str, value: &str) -> bool {
    let is_count = value.len() <= 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    !is_secret(key) && (is_count || is_harmless(Some(key), None, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_their_keys_stay() {
        for (text, left) in [
            ("http://ann:pw@box/x?token=abc&model_id=lab/m", "http://box/x?token=redacted&model_id=lab/m"),
            ("/state?key=1&min_nodes=2&x=zebra", "/state?key=1&min_nodes=2&x=redacted"),
            ("curl -H \"Authorization: Bearer abc.def\" x", "curl -H \"Authorization: Bearer redacted\" x"),
            ("--api-key=s3cr3t --pp 64", "--api-key=redacted --pp 64"),
            ("--api-key s3cr3t", "--api-key redacted"),
            ("with hf_abcdefghijklmnop it", "with redacted it"),
            ("X-Api-Key: zz; rest", "X-Api-Key: redacted; rest"),
        ] {
            assert_eq!(scrubbed(text).as_deref(), Some(left));
            assert_eq!(scrubbed(left), None, "nothing is left to take: {left}");
        }
        for text in ["prompt tokens: 12", "--max-tokens 5", "the tokenizer: lab/m", "a token", "http://box:1/x"] {
            assert_eq!(scrubbed(text), None, "{text}");
        }
    }
}
