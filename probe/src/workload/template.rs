//! A model's chat template, rendered as Python's transformers renders it.
//!
//! [`fixed`] is what exo writes by code instead, for the models that it does so for.
//!
//! [`python`] holds what Jinja in Python has and minijinja has not, [`json`] is Python's `json.dumps`, [`generation`]
//! rewrites the one tag that minijinja cannot learn.
//!
//! Known to differ, and found in no template that renders a message without tools: a loop over none has no rounds here
//! and is an error in Python; a float from 1e16 on prints all its digits here and an exponent in Python.

mod fixed;
mod generation;
mod json;
mod python;

use std::error::Error as _;
use std::path::PathBuf;

use jiff::ZonedDateTime;
use jiff::civil::DateTime;
use minijinja::Environment;
use minijinja::value::Value;

use super::files::{CONFIGURATION, TEMPLATE, TokenizerFiles};
use super::trouble::TokenizerError;

/// The moment that `strftime_now` sees in a template, fixed for a whole run.
#[derive(Debug, Clone)]
pub struct LocalTime(DateTime);

impl LocalTime {
    /// The local time now. Local because that is what transformers' `strftime_now` prints.
    pub fn now() -> Self {
        Self(ZonedDateTime::now().datetime())
    }

    /// A given moment, so that a test sees the same date every day.
    pub fn at(moment: DateTime) -> Self {
        Self(moment)
    }
}

/// How one user message is written for a model.
#[derive(Debug)]
pub(crate) enum Template {
    /// By the chat template among its files.
    Chat(Box<ChatTemplate>),
    /// By code, the same for every model of a family.
    Fixed(&'static fixed::Encoding),
}

impl Template {
    /// The fixed encoding of the model's family where exo has one, else the chat template.
    pub(crate) fn of(files: &TokenizerFiles, date: LocalTime) -> Result<Self, TokenizerError> {
        match files.model_id.as_deref().and_then(fixed::of) {
            Some(encoding) => Ok(Self::Fixed(encoding)),
            None => Ok(Self::Chat(Box::new(ChatTemplate::of(files, date)?))),
        }
    }

    /// One user message, with the generation prompt added.
    pub(crate) fn render(&self, content: &str) -> Result<String, TokenizerError> {
        match self {
            Self::Chat(template) => template.render(content),
            Self::Fixed(encoding) => Ok(encoding.render(content)),
        }
    }

    /// The template as it stands in its file; of a fixed encoding, the text with `{content}` for what the user says.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Chat(template) => template.text.clone(),
            Self::Fixed(encoding) => encoding.render("{content}"),
        }
    }

    /// The name of the file that it came from, or of the fixed encoding.
    pub(crate) fn source(&self) -> &'static str {
        match self {
            Self::Chat(template) => template.source,
            Self::Fixed(encoding) => encoding.name,
        }
    }
}

/// A compiled chat template with the special tokens it may print.
#[derive(Debug)]
pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    special_tokens: Vec<(String, String)>,
    text: String,
    source: &'static str,
    path: PathBuf,
}

/// The name under which the environment knows its one template; shown to nobody.
const NAME: &str = "chat";

impl ChatTemplate {
    /// Takes the template out of the files (`chat_template.jinja` before the configuration's string before the default
    /// one of the configuration's list) and compiles it.
    pub(crate) fn of(files: &TokenizerFiles, date: LocalTime) -> Result<Self, TokenizerError> {
        let (text, source) = text_of(files)?;
        let path = files.folder.join(source);
        let mut environment = python::environment(date.0).map_err(|error| at_line(&error, &path))?;
        environment
            .add_template_owned(NAME, generation::without_generation_tags(&text))
            .map_err(|error| at_line(&error, &path))?;
        Ok(Self { environment, special_tokens: files.special_tokens(), text, source, path })
    }

    /// One user message, with the generation prompt added, and without tools, documents or further variables.
    pub(crate) fn render(&self, content: &str) -> Result<String, TokenizerError> {
        let message = Value::from_pairs([("role", Value::from("user")), ("content", Value::from(content))]);
        let fixed = [
            ("messages", Value::from(vec![message])),
            // Defined but none, as in transformers: `tools is defined` is true and `tools` is false.
            ("tools", Value::from(())),
            ("documents", Value::from(())),
            ("add_generation_prompt", Value::from(true)),
        ];
        let special = self.special_tokens.iter().map(|(name, token)| (name.as_str(), Value::from(token.as_str())));
        let context = Value::from_pairs(special.chain(fixed));
        let template = self.environment.get_template(NAME).map_err(|error| at_line(&error, &self.path))?;
        template.render(context).map_err(|error| match refusal(&error) {
            Some(message) => TokenizerError::Refused { path: self.path.clone(), message },
            None => at_line(&error, &self.path),
        })
    }
}

fn text_of(files: &TokenizerFiles) -> Result<(String, &'static str), TokenizerError> {
    if let Some(text) = &files.template {
        return Ok((text.clone(), TEMPLATE));
    }
    let absent = || TokenizerError::NoTemplate { folder: files.folder.clone() };
    let configured = files.configuration.as_ref().and_then(|configuration| configuration.get("chat_template"));
    match configured.ok_or_else(absent)? {
        serde_json::Value::String(text) => Ok((text.clone(), CONFIGURATION)),
        serde_json::Value::Array(named) => {
            let name_of =
                |entry: &serde_json::Value| entry.get("name").and_then(|name| name.as_str()).map(str::to_owned);
            let default = named.iter().find(|entry| name_of(entry).as_deref() == Some("default"));
            let text = default.and_then(|entry| entry.get("template")).and_then(|text| text.as_str());
            let text = text.ok_or_else(|| TokenizerError::NoDefaultTemplate {
                folder: files.folder.clone(),
                names: named.iter().filter_map(name_of).collect::<Vec<_>>().join(", "),
            })?;
            Ok((text.to_owned(), CONFIGURATION))
        }
        _ => Err(absent()),
    }
}

fn refusal(error: &minijinja::Error) -> Option<String> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(python::Raised(message)) = cause.downcast_ref() {
            return Some(message.clone());
        }
        source = cause.source();
    }
    None
}

fn at_line(error: &minijinja::Error, path: &std::path::Path) -> TokenizerError {
    let reason =
        error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
    // An error without a line concerns the template as a whole, which begins in its first.
    TokenizerError::Template { path: path.to_owned(), line: error.line().unwrap_or(1), reason }
}

#[cfg(test)]
mod tests {
    use jiff::civil::DateTime;
    use serde_json::Value;

    use super::{ChatTemplate, LocalTime};
    use crate::workload::files::TokenizerFiles;
    use crate::workload::trouble::TokenizerError;

    fn moment() -> DateTime {
        "2026-06-02T09:05:07".parse().unwrap()
    }

    fn compile(template: &str) -> Result<ChatTemplate, TokenizerError> {
        let mut files = TokenizerFiles::built_in().unwrap();
        files.folder = "model".into();
        files.configuration = Some(serde_json::json!({"bos_token": "<|begin|>"}));
        files.template = Some(template.to_owned());
        ChatTemplate::of(&files, LocalTime::at(moment()))
    }

    /// `fixtures/tokenizers/golden.py` rendered the same templates with Jinja in Python.
    #[test]
    fn templates_render_as_in_python() {
        let golden = include_str!("../../../fixtures/tokenizers/golden_templates.json");
        let golden: Value = serde_json::from_str(golden).unwrap();
        assert_eq!(golden["made"]["now"].as_str(), Some(moment().to_string().as_str()));
        let cases = golden["cases"].as_array().unwrap();
        assert!(cases.len() > 50);
        let mut differing = Vec::new();
        for case in cases {
            let template = case["template"].as_str().unwrap();
            let rendered = compile(template).and_then(|compiled| compiled.render("say <this> & \"that\""));
            if rendered.as_ref().ok().map(String::as_str) != case["rendered"].as_str() {
                differing.push(format!("{template}\n  python: {}\n  here:   {rendered:?}", case["rendered"]));
            }
        }
        assert!(differing.is_empty(), "{}", differing.join("\n"));
    }

    #[test]
    fn a_broken_template_names_its_file_and_line() {
        let error = compile("fine\n{% if %}\n").unwrap_err().to_string();
        assert!(
            error.starts_with("the chat template in model/chat_template.jinja has an error in line 2: "),
            "{error}"
        );
        let error = compile("\n\n{{ messages[0].content.nothing() }}").unwrap().render("x").unwrap_err().to_string();
        assert!(
            error.starts_with("the chat template in model/chat_template.jinja has an error in line 3: "),
            "{error}"
        );
    }

    #[test]
    fn a_template_that_refuses_the_message_is_quoted() {
        let refusing = compile("{{ raise_exception('Conversation roles must alternate') }}").unwrap();
        assert_eq!(
            refusing.render("x").unwrap_err().to_string(),
            "the chat template in model/chat_template.jinja refuses a single user message: Conversation roles must \
             alternate"
        );
    }
}
