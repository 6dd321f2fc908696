//! What the page and the worker say to each other: JSON, with the bytes of a file beside it.

use analyzer::comparison::Comparison;
use analyzer::summary::FileReport;
use serde::{Deserialize, Serialize};

/// The page asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    /// Read the bytes that come with this and summarise them.
    Load {
        /// The page's number for the file.
        id: u32,
        /// The file's name.
        name: String,
    },
    /// Set two loaded files side by side.
    Compare {
        /// The base.
        base: u32,
        /// The new one.
        new: u32,
        /// The smallest change of rates and times that matters, percent; the analyzer's own where it is absent.
        #[serde(default)]
        delta_percent: Option<f64>,
        /// The same for energy.
        #[serde(default)]
        delta_energy_percent: Option<f64>,
    },
    /// Let go of a file.
    Forget {
        /// Its number.
        id: u32,
    },
}

/// The worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Ready for questions.
    Ready,
    /// The worker does not run; said by its loader, in JavaScript.
    Broken {
        /// The browser's words.
        reason: String,
    },
    /// A file was read.
    Loaded {
        /// Its number.
        id: u32,
        /// Its summary.
        report: Box<FileReport>,
    },
    /// A file cannot be read.
    Refused {
        /// Its number.
        id: u32,
        /// Why, in a sentence.
        reason: String,
    },
    /// Two files side by side.
    Compared {
        /// The base's number.
        base: u32,
        /// The new one's number.
        new: u32,
        /// The comparison.
        comparison: Box<Comparison>,
    },
    /// Two files cannot be set side by side.
    NotCompared {
        /// The base's number.
        base: u32,
        /// The new one's number.
        new: u32,
        /// Why, in a sentence.
        reason: String,
    },
}
