//! Bytes near exo others → the importers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| analyzer_fuzz::hold("exo_others", bytes));
