//! Prompts of exactly N tokens, made with the model's own tokenizer and chat template.
//!
//! In the order of the data:
//!
//! 1. [`locate`] finds the folder that holds a model's tokenizer: given, exo's own models, or the Hugging Face cache.
//!    [`hub`] fetches it into that cache where it is in none of them.
//! 2. [`files`] reads what is in it, or says which file is missing or broken and what to do.
//! 3. [`template`] renders one user message with the model's chat template, as Python's transformers does.
//! 4. [`vocabulary`] turns a text into ids.
//! 5. [`tokenizer`] counts the tokens of a rendered message, by the two before.
//! 6. [`sizing`] finds how many atoms make a prompt of exactly N tokens.
//!
//! [`trouble`] is why a tokenizer cannot be used.
//!
//! Only [`hub`] talks to a network, and only before a measurement. The count is the client's; the server's own `prompt_tokens` is compared with it
//! after each request, because some servers render with code of their own.

pub mod files;
pub mod hub;
pub mod locate;
pub mod sizing;
pub mod template;
pub mod tokenizer;
mod trouble;
mod vocabulary;

pub use hub::{HubError, ObtainError, obtain};
pub use locate::{Found, LocateError, locate};
pub use sizing::{DEFAULT_ATOM, Otherwise, Prompt, PromptSizer, SizingError};
pub use tokenizer::{Tokenizer, TokenizerError};
