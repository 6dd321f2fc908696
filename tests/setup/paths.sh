# Versions and places that the set-up, the recipes and CI share. Sourced, not run.
# shellcheck shell=bash disable=SC2034
RUST_MINIMUM=1.95.0
WASM_BINDGEN=0.2.130 # exactly the version of the crate in Cargo.lock
TRUNK=0.21.14        # 0.22 needs a newer Rust

cache=${EXOSCOPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/exoscope}
tools=$cache/tools

# The browser of the tests: the one that was named, else the first that is found.
chromium_path() {
    if [ -n "${EXOSCOPE_CHROMIUM:-}" ]; then printf '%s\n' "$EXOSCOPE_CHROMIUM"; return; fi
    local place
    for place in chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Chromium.app/Contents/MacOS/Chromium" \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        if command -v "$place" >/dev/null 2>&1; then command -v "$place"; return; fi
    done
}
