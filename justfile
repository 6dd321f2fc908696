# The contents page: `just --list`. Every verb of the project has its line here.

set shell := ["bash", "-euo", "pipefail", "-c"]

target := env("CARGO_TARGET_DIR", justfile_directory() / "target")
exoscope := target / "debug" / "exoscope"
reference := target / "reference-wasm"
paths := ". tests/setup/paths.sh && PATH=\"$tools/bin:$PATH\""

[private]
default:
    @just --list --unsorted

# Measure a simulated cluster twice, the second one slower on purpose; compare; open the viewer (--no-open, --check)
[group('use it')]
demo *FLAGS: viewer probe
    @bash tests/setup/demo.sh "{{ exoscope }}" "{{ target }}/demo" {{ FLAGS }}

# Install the program `exoscope`, optimised, with its viewer, into cargo's bin folder
[group('use it')]
install: viewer
    cargo install --locked --path probe
    rm -rf "${CARGO_HOME:-$HOME/.cargo}/bin/viewer"
    cp -r web/dist "${CARGO_HOME:-$HOME/.cargo}/bin/viewer"

# Run all tests: set up what is missing, build, native tests, then the built viewer in a real Chromium
[group('work on it')]
test: (setup "test") viewer
    cargo build --workspace --locked
    EXOSCOPE_BIN="{{ exoscope }}" cargo test --workspace --locked
    just browser-test

# The built viewer in a real Chromium, with the golden suite and the statistics' reference checks in WebAssembly
[group('work on it')]
browser-test: reference-wasm
    {{ paths }} && cd tests/browser && EXOSCOPE_BIN="{{ exoscope }}" EXOSCOPE_CHROMIUM="$(chromium_path)" \
        EXOSCOPE_REFERENCE_WASM="{{ reference }}/reference.js" node --test --test-reporter=spec --test-concurrency=1

# Formatting, and lints of what is shipped; warnings are errors
[group('work on it')]
lint:
    cargo fmt --all --check
    cargo clippy --workspace --locked -- -D warnings

# Write the expected outputs again (goldens, schema); look at the difference before committing it
[group('work on it')]
golden:
    UPDATE_GOLDEN=1 cargo test --package tests --test golden --test schema

# How often verdicts are wrong, what they catch and what their intervals hold, by simulation, beside the method's own figures
[group('work on it')]
calibration TRIALS="4000":
    EXOSCOPE_TRIALS={{ TRIALS }} cargo test --workspace --locked --test calibration -- --nocapture --test-threads 1

# How exact and how cheap the probe is, beside a plain Python client in the same run (arrival, streams, energy, sizing, quick)
[group('work on it')]
bench-probe *SECTIONS:
    python3 -m venv "$(. tests/setup/paths.sh && echo "$cache/peers")"
    . tests/setup/paths.sh && "$cache/peers/bin/pip" install --quiet --requirement tests/peers/requirements.txt
    . tests/setup/paths.sh && EXOSCOPE_PEER_PYTHON="$cache/peers/bin/python" \
        cargo bench --workspace --bench probe --locked -- {{ SECTIONS }}

# Report and compare over 1k to 1M rows beside pandas and DuckDB, and in Chromium beside native (rows, tokens, wasm, quick)
[group('work on it')]
bench-analyzer *SECTIONS: (setup "test") viewer
    python3 -m venv "$(. tests/setup/paths.sh && echo "$cache/peers")"
    . tests/setup/paths.sh && "$cache/peers/bin/pip" install --quiet $(grep -E '^(duckdb|pandas)' tests/peers/requirements.txt)
    # Program and bench in one selection, so that polars is compiled once for both.
    cargo build --release --workspace --locked --bin exoscope --bench analyzer
    . tests/setup/paths.sh && EXOSCOPE_PEER_PYTHON="$cache/peers/bin/python" EXOSCOPE_CHROMIUM="$(chromium_path)" \
        EXOSCOPE_VIEWER="{{ justfile_directory() }}/web/dist" cargo bench --workspace --bench analyzer --locked -- {{ SECTIONS }}

# Look for bytes that bring an importer down (exo_rows, exo_log, vllm, …), then keep the smallest inputs of each way through it
[group('work on it')]
fuzz TARGET SECONDS="600":
    command -v cargo-fuzz > /dev/null || cargo install --locked cargo-fuzz
    mkdir -p analyzer/fuzz/corpus/{{ TARGET }} "{{ target }}/corpus"
    if [ -f analyzer/fuzz/corpus/{{ TARGET }}.tar.gz ]; then \
        mkdir -p "{{ target }}/corpus/{{ TARGET }}" && tar -xzf analyzer/fuzz/corpus/{{ TARGET }}.tar.gz -C "{{ target }}/corpus/{{ TARGET }}"; fi
    mkdir -p "{{ target }}/corpus/{{ TARGET }}" && cp analyzer/fuzz/corpus/{{ TARGET }}/* "{{ target }}/corpus/{{ TARGET }}/"
    cd analyzer && cargo +nightly fuzz run {{ TARGET }} "{{ target }}/corpus/{{ TARGET }}" -- -max_total_time={{ SECONDS }} -rss_limit_mb=3000
    cd analyzer && rm -rf "{{ target }}/corpus/kept" && mkdir "{{ target }}/corpus/kept" && \
        cargo +nightly fuzz run {{ TARGET }} "{{ target }}/corpus/kept" -- -merge=1 -max_len=4096 "{{ target }}/corpus/{{ TARGET }}"
    tar -czf analyzer/fuzz/corpus/{{ TARGET }}.tar.gz -C "{{ target }}/corpus/kept" .

# Type-check the code for macOS on another system
[group('work on it')]
check-macos:
    rustup target add aarch64-apple-darwin
    CC_aarch64_apple_darwin="{{ justfile_directory() }}/tests/setup/no-cc.sh" AR_aarch64_apple_darwin=true \
        cargo check --package probe --target aarch64-apple-darwin --locked

# Install the tools that are missing: "viewer" for the demo, "test" for everything
[group('parts')]
setup KIND="viewer":
    @bash tests/setup/tools.sh {{ KIND }}

# Build the program `exoscope` for development
[group('parts')]
probe:
    # The whole workspace, always: another selection gives polars other features and compiles it again.
    cargo build --workspace --locked

# Build the viewer into web/dist
[group('parts')]
viewer: (setup "viewer")
    {{ paths }} && cd web && trunk build --offline --locked

# The reference checks of the statistics as WebAssembly, linked from what the viewer's worker is linked from
[private]
reference-wasm:
    # The profile and flags of Trunk's build (web/index.html), so that nothing but the example is compiled.
    cargo build --package web --example reference --profile wasm-release --target wasm32-unknown-unknown --locked
    {{ paths }} && wasm-bindgen --target nodejs --no-typescript --out-dir "{{ reference }}" \
        "{{ target }}/wasm32-unknown-unknown/wasm-release/examples/reference.wasm"
