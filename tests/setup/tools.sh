#!/usr/bin/env bash
# Sets up what is missing and says what it does; the second call only looks and is done at once.
#
#   tools.sh viewer    what building the viewer needs: the wasm target, Trunk, wasm-bindgen, Plotly
#   tools.sh test      that, and what the tests need: Chromium, Playwright's driver library, real tokenizers, DuckDB
#
# Tools go to a cache outside the clone, one folder per version, so that clones share them:
# $EXOSCOPE_CACHE, else $XDG_CACHE_HOME/exoscope, else ~/.cache/exoscope.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=tests/setup/paths.sh
. "$here/paths.sh"

fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
say() { printf 'setup: %s\n' "$*" >&2; }

need() { # command, how to get it
    command -v "$1" >/dev/null 2>&1 || fail "$1 is missing; $2"
}

need cargo "install Rust with rustup (package rustup, or rustup.rs), then open a new shell"
need rustup "the WebAssembly target comes through rustup; install Rust with it"
need cc "install a C compiler (Debian: apt-get install build-essential; macOS: xcode-select --install)"
need node "install Node.js 20 or newer"
need npm "install npm 10 or newer, which comes with Node.js"

rust=$(rustc --version | cut -d' ' -f2)
[ "$(printf '%s\n' "$RUST_MINIMUM" "${rust%%-*}" | sort -V | head -n 1)" = "$RUST_MINIMUM" ] ||
    fail "Rust $rust is older than $RUST_MINIMUM; run: rustup update stable"
node_major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$node_major" -ge 20 ] || fail "Node.js $(node --version) is older than 20; install a newer one"

# --- the WebAssembly target ---------------------------------------------------------------------------------------
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown/lib" ]; then
    say "adding the target wasm32-unknown-unknown (about 20 MB)"
    rustup target add wasm32-unknown-unknown >&2 ||
        fail "the target wasm32-unknown-unknown could not be added; run: rustup target add wasm32-unknown-unknown"
fi

# --- Trunk and wasm-bindgen ---------------------------------------------------------------------------------------
# Built without optimisation: they run for seconds, and building them is the longest part of a first set-up.
install_tool() { # binary, version, minutes, cargo install arguments…
    local binary=$1 version=$2 minutes=$3
    shift 3
    if [ "$("$tools/bin/$binary" --version 2>/dev/null | cut -d' ' -f2)" = "$version" ]; then return; fi
    say "building $binary $version from crates.io (about $minutes minutes on two cores; once per machine)"
    mkdir -p "$tools"
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_STRIP=debuginfo \
        CARGO_TARGET_DIR="$cache/tools-build" \
        cargo install --quiet --force --root "$tools" --version "$version" "$@" >&2 ||
        fail "$binary $version could not be built; the compiler's words are above"
}
# Not --locked: its lock file names a release of webpki-roots that the registry no longer offers.
install_tool wasm-bindgen "$WASM_BINDGEN" 2 wasm-bindgen-cli
install_tool trunk "$TRUNK" 3 --locked --no-default-features --features rustls trunk
rm -rf "$cache/tools-build"

# --- packages from npm --------------------------------------------------------------------------------------------
npm_install() { # folder
    local stamp=$1/node_modules/.exoscope-lock
    if cmp -s "$1/package-lock.json" "$stamp"; then return; fi
    say "installing npm packages of ${1#"$root/"}"
    (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) ||
        fail "npm ci failed in $1; npm's words are above"
    cp "$1/package-lock.json" "$stamp"
}
npm_install "$root/web"

[ "${1:-viewer}" = test ] || exit 0

npm_install "$root/tests/browser"

# --- Chromium -----------------------------------------------------------------------------------------------------
if [ -z "$(chromium_path)" ]; then
    if command -v apt-get >/dev/null 2>&1; then
        as_root=
        [ "$(id -u)" = 0 ] || as_root=sudo
        [ -z "$as_root" ] || need sudo "Chromium is installed with apt-get, as root: run apt-get install chromium"
        say "installing Chromium with apt-get (about 100 MB)"
        { $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y \
            --no-install-recommends chromium fonts-dejavu-core; } >&2 || fail "apt-get could not install chromium; its words are above"
    else
        fail "no Chromium or Chrome found; install one (macOS: brew install --cask chromium) or name it in EXOSCOPE_CHROMIUM"
    fi
    [ -n "$(chromium_path)" ] || fail "Chromium was installed but is not on PATH; name it in EXOSCOPE_CHROMIUM"
fi

# --- real tokenizers ----------------------------------------------------------------------------------------------
"$here/real-tokenizers" "$cache/tokenizers"

# --- DuckDB, which reads the exported Parquet files --------------------------------------------------------------
if ! "$cache/peers/bin/python" -c "import duckdb" >/dev/null 2>&1; then
    need python3 "install Python 3.10 or newer with its module venv"
    say "installing DuckDB for Python into $cache/peers (about 30 MB)"
    python3 -m venv "$cache/peers" >&2 || fail "python3 -m venv failed (Debian: apt-get install python3-venv)"
    "$cache/peers/bin/pip" install --quiet "$(grep '^duckdb' "$root/tests/peers/requirements.txt")" >&2 ||
        fail "pip could not install duckdb; its words are above"
fi
