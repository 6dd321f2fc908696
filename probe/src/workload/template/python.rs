//! The environment of Jinja in Python, as transformers sets it up, in minijinja.

use jiff::civil::DateTime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, ErrorKind};

use super::json;

/// What a template said when it called `raise_exception`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Raised(pub(super) String);

/// An environment without templates.
pub(super) fn environment(moment: DateTime) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(false);
    environment.set_syntax(syntax.build()?);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", json::to_json);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, "raised by the template").with_source(Raised(message)))
    });
    environment.add_function("strftime_now", move |format: &str| -> Result<String, Error> {
        jiff::fmt::strtime::format(format, moment).map_err(|error| {
            Error::new(ErrorKind::InvalidOperation, format!("strftime_now cannot print {format:?}: {error}"))
        })
    });
    // For minijinja none is iterable, for Python it is not: templates ask `tools is iterable and tools | length > 0`.
    environment
        .add_test("iterable", |value: Value| !value.is_none() && (value.is_undefined() || value.try_iter().is_ok()));
    Ok(environment)
}
