//! The reference checks of the analyzer's statistics, for WebAssembly: `tests/browser/reference.test.mjs` runs them.
//!
//! An example of this package, so that it is linked from the very analyzer that the worker is linked from.

#[path = "../../analyzer/tests/reference/main.rs"]
mod reference;

use wasm_bindgen::prelude::wasm_bindgen;

/// Names of all checks.
#[wasm_bindgen]
#[must_use]
pub fn checks() -> Vec<String> {
    console_error_panic_hook::set_once();
    reference::ALL.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Runs a check; one that fails traps, after its words went to the console.
#[wasm_bindgen]
pub fn check(name: &str) {
    let found = reference::ALL.iter().find(|(known, _)| *known == name);
    let (_, run) = found.unwrap_or_else(|| panic!("no check is called {name}"));
    run();
}

fn main() {}
