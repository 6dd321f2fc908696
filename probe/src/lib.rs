//! Measures LLM inference on an exo cluster or a local engine and writes one result file.
//!
//! The way of a measurement, which is also the list of modules:
//!
//! 1. [`cli`] reads the command line. Words for people, no logic.
//! 2. [`plan`] turns arguments into a validated plan and says before the run what cannot work.
//! 3. [`method`] is the methodology: which steps in which order.
//! 4. [`workload`] makes prompts of exactly N tokens with the model's own tokenizer and chat template.
//! 5. [`endpoint`] builds a request and reads an answer, sans I/O.
//! 6. [`capture`] sends it and stamps what arrives: clock, barrier, exchange, transport, sampler, journal.
//! 7. [`report`] turns events into progress, closing tables and rendered reports, through `analyzer`.
//!
//! Beside the road: [`archive`] is a folder of result files over time, [`export`] writes files for other tools, [`simulate`] is a cluster for the demo and the tests, [`replay`] serves recorded traffic, [`redact`]
//! takes names out of files, [`viewer`] serves the built web app, [`environment`] knows the host.

pub mod archive;
pub mod capture;
pub mod cli;
pub mod endpoint;
pub mod environment;
pub mod export;
pub mod method;
pub mod plan;
pub mod redact;
pub mod replay;
pub mod report;
pub mod simulate;
pub mod viewer;
pub mod workload;
