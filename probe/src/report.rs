//! (to be written)

pub mod document;
pub mod render;
