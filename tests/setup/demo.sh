#!/usr/bin/env bash
# The main job from end to end on this machine: a simulated cluster is measured, then a slower one, the two result files
# are compared and shown. Called by `just demo`.
#
#   demo.sh EXOSCOPE FOLDER [--no-open] [--check]
#
#   --no-open   serve the viewer and print its address, open no browser
#   --check     ask the viewer for its page once, then end: for scripts
set -euo pipefail
exoscope=$1 folder=$2
shift 2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

view=()
for flag in "$@"; do
    case $flag in
        --no-open | --check) view+=("$flag") ;;
        *) printf 'demo: %s is not an option; there are --no-open and --check\n' "$flag" >&2; exit 2 ;;
    esac
done

mkdir -p "$folder"
cluster=
stop_cluster() {
    [ -n "$cluster" ] || return 0
    kill "$cluster" 2>/dev/null || true
    wait "$cluster" 2>/dev/null || true
    cluster=
}
trap stop_cluster EXIT

measure() { # speed, file
    local line=$folder/listening
    : >"$line"
    "$exoscope" simulate --port 0 --nodes 2 --seed 7 --speed "$1" >"$line" &
    cluster=$!
    until grep -q 'http://' "$line"; do
        kill -0 "$cluster" 2>/dev/null || { printf 'demo: the simulated cluster ended; its words are above\n' >&2; exit 1; }
        sleep 0.05
    done
    local port
    port=$(sed -n 's|.*http://[^:]*:\([0-9]*\).*|\1|p' "$line")
    "$exoscope" bench --port "$port" --model simulated-8b --tokenizer "$root/fixtures/tokenizers/tiny" \
        --pp 512,4096 --tg 64 --concurrency 1,4 --repeat 3 --warmup 1 --all-combinations --max-nodes 2 --min-nodes 2 \
        --skip-pipeline-jaccl --sharding pipeline --instance-meta ring \
        --metrics-interval 0.5 --pause all=0.2 --json-out "$folder/$2"
    stop_cluster
}

printf '\n== 1 of 4: measuring a simulated cluster\n\n' >&2
measure 1.0 before.json
printf '\n== 2 of 4: measuring the same cluster, made 25 %% slower on purpose\n\n' >&2
measure 0.75 after.json
printf '\n== 3 of 4: comparing the two\n\n' >&2
# It regressed, on purpose: no reason to end here.
"$exoscope" compare "$folder/before.json" "$folder/after.json" --fail-on never
printf '\n== 4 of 4: the viewer with both files (Ctrl-C ends it)\n\n' >&2
"$exoscope" view "$folder/before.json" "$folder/after.json" "${view[@]}"
