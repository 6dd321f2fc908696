//! Bytes near exo log → the importers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| analyzer_fuzz::hold("exo_log", bytes));
