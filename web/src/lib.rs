//! The viewer: result files in the browser, with no server.
//!
//! 1. [`load`] takes files that are dropped, pasted, picked or preloaded, as bytes.
//! 2. [`analysis`] hands them to the worker, which holds polars and the files, and takes its answers.
//! 3. [`protocol`] is what the page and the worker say to each other.
//! 4. [`state`] is what the reader chose, as plain data, kept in the address.
//! 5. [`view_model`] turns summaries into rows, words and pictures: pure, tested natively.
//! 6. [`chart`] draws pictures with Plotly, which the page loads beside itself.
//! 7. [`view`] is what is seen.
//!
//! Nothing is reckoned here: every number comes from `analyzer`, in the worker.

#[cfg(target_arch = "wasm32")]
pub mod analysis;
#[cfg(target_arch = "wasm32")]
pub mod chart;
#[cfg(target_arch = "wasm32")]
pub mod load;
pub mod protocol;
pub mod state;
#[cfg(target_arch = "wasm32")]
pub mod view;
pub mod view_model;
