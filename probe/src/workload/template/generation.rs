//! Rewrites `{% generation %}`, a tag of transformers that minijinja cannot be taught.
//!
//! It marks what the assistant wrote, for training, and prints its body unchanged: so it becomes `{% if true %}`. Only
//! real tags are touched, not the same words in a comment, a string or a raw block.

/// The template with each generation block turned into an `if` that is always true.
pub(super) fn without_generation_tags(template: &str) -> String {
    let mut rewritten = String::with_capacity(template.len());
    let mut rest = template;
    let mut raw = false;
    while let Some(start) = rest.find('{') {
        let (text, tail) = rest.split_at(start);
        rewritten.push_str(text);
        let length = match tail.as_bytes().get(1) {
            Some(b'#') if !raw => tail.find("#}").map(|end| end + 2),
            Some(b'{') if !raw => end_of(tail, "}}"),
            // What stands in a raw block is text: a lone apostrophe there opens no string.
            Some(b'%') if raw => tail.find("%}").map(|end| end + 2),
            Some(b'%') => end_of(tail, "%}"),
            _ => Some(1),
        };
        // A tag that never ends is the compiler's to report.
        let (tag, tail) = tail.split_at(length.unwrap_or(tail.len()));
        let inner = tag.strip_prefix("{%").and_then(|inner| inner.strip_suffix("%}"));
        let name = inner.map(|inner| inner.trim_matches(|mark: char| mark.is_whitespace() || "-+".contains(mark)));
        match name {
            Some("endraw") => raw = false,
            Some("raw") => raw = true,
            _ => {}
        }
        match name {
            Some("generation") if !raw => rewritten.push_str(&tag.replace("generation", "if true")),
            Some("endgeneration") if !raw => rewritten.push_str(&tag.replace("endgeneration", "endif")),
            _ => rewritten.push_str(tag),
        }
        rest = tail;
    }
    rewritten.push_str(rest);
    rewritten
}

/// The end of a tag that begins at 0: its closing mark outside of a string, or `None`.
fn end_of(tag: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in tag.char_indices().skip(2) {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if character == '\\' => escaped = true,
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if character == '\'' || character == '"' => quote = Some(character),
            None if tag[at..].starts_with(close) => return Some(at + close.len()),
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::without_generation_tags;

    #[test]
    fn a_generation_block_keeps_its_body_and_its_whitespace_marks() {
        assert_eq!(without_generation_tags("{%- generation -%} x {%endgeneration+%}"), "{%- if true -%} x {%endif+%}");
    }

    #[test]
    fn a_raw_block_ends_at_its_tag_whatever_it_holds() {
        let template = "{% raw %}{% it's %}{% endraw %}{% generation %}{% endgeneration %}";
        let expected = "{% raw %}{% it's %}{% endraw %}{% if true %}{% endif %}";
        assert_eq!(without_generation_tags(template), expected);
    }

    #[test]
    fn the_word_in_a_comment_a_string_an_expression_or_a_raw_block_is_left_alone() {
        for template in [
            "{# {% generation %} #}",
            "{{ '{% generation %}' }}",
            "{% set x = '%} {% generation %}' %}",
            "{% raw %}{% generation %}{% endraw %}",
            "{{ generation }} generation { % generation % }",
            "{% if generation %}",
            "{% generation",
            "{{ \"\\\"{% generation %}\" }}",
        ] {
            assert_eq!(without_generation_tags(template), template);
        }
    }
}
