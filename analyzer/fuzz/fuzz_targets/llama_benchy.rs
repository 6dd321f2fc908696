//! Bytes near llama benchy → the importers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| analyzer_fuzz::hold("llama_benchy", bytes));
