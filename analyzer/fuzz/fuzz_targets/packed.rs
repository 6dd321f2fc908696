//! Bytes near packed → the importers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| analyzer_fuzz::hold("packed", bytes));
