//! What the workspace's tests share: where fixtures and the built binary are.

pub mod real_tokenizers;
