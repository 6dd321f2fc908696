//! Bytes near power → the importers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| analyzer_fuzz::lay_over(bytes));
