//! What the figures of other tools mean: whose clock, how many at once, asked or obtained, published or reckoned.

use analyzer::explanation::explain;
use analyzer::import::{Loaded, load, overlay};
use analyzer::merging::{Differences, merge};
use analyzer::metric::Metric;
use analyzer::record::ResultFile;
use analyzer::summary::{CellReport, FileReport, MetricSummary, report};
use serde_json::{Value, json};

fn read(document: &Value) -> Loaded {
    load("file.json", document.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn fixture(name: &str) -> Value {
    tests::measured::read_json(&tests::fixture(&format!("imports/{name}"))).unwrap_or_else(|error| panic!("{error}"))
}

fn of(cell: &CellReport, metric: Metric) -> &MetricSummary {
    cell.metrics.iter().find(|summary| summary.metric == metric).unwrap_or_else(|| panic!("no {metric:?}"))
}

fn fact(report: &FileReport, key: &str) -> String {
    report.facts.iter().find(|fact| fact.key == key).unwrap_or_else(|| panic!("no {key}")).value.clone()
}

fn says(lines: &[String], words: &str) -> bool {
    lines.iter().any(|line| line.contains(words))
}

/// A run of vLLM with its requests: two of four at once, one of which failed.
fn detailed() -> Value {
    json!({
        "date": "20260816-160853", "duration": 10.0, "model_id": "m", "max_concurrency": 4, "completed": 3, "failed": 1,
        "total_input_tokens": 5120, "total_output_tokens": 12, "request_throughput": 0.3, "output_throughput": 1.2,
        "input_lens": [512, 512, 512, 300], "output_lens": [4, 4, 4, 0], "ttfts": [0.25, 0.3, 0.35, 0.0],
        "itls": [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], []], "start_times": [500.0, 500.0, 503.0, 503.0],
        "errors": ["", "", "", "Service Unavailable"],
    })
}

#[test]
fn requests_of_one_run_are_one_measurement() {
    let benchy = report(&read(&fixture("llama_benchy.json"))).unwrap();
    let two = benchy.cells.iter().find(|cell| cell.key.concurrency == Some(2)).unwrap();
    assert_eq!((two.requests, two.batches), (4, 2), "two runs of two requests");
    assert_eq!(of(two, Metric::GenerationTps).mean_interval.as_ref().unwrap().units, 2);
    let vllm = report(&read(&detailed())).unwrap();
    assert_eq!((vllm.cells[0].requests, vllm.cells[0].batches), (3, 1));
    let rate = of(&vllm.cells[0], Metric::GenerationTps);
    assert_eq!((rate.n, rate.mean_interval.is_none()), (3, true));
    assert!(says(&vllm.cells[0].notices, "ran side by side in 1 run"), "{:?}", vllm.cells[0].notices);
    // One after the other they are independent.
    let mut alone = detailed();
    alone["max_concurrency"] = 1.into();
    assert_eq!(report(&read(&alone)).unwrap().cells[0].batches, 3);
    let guide = report(&read(&fixture("guidellm.json"))).unwrap();
    assert_eq!((guide.cells[0].requests, guide.cells[0].batches), (3, 1));
}

#[test]
fn nothing_is_said_to_be_missing_where_nothing_failed() {
    for name in ["llama_benchy", "vllm_bench_serve", "vllm_sweep", "vllm_detailed", "aiperf", "guidellm"] {
        let report = report(&read(&fixture(&format!("{name}.json")))).unwrap();
        for cell in &report.cells {
            let warnings = cell.metrics.iter().flat_map(|metric| &metric.warnings);
            let told: Vec<String> = cell.notices.iter().chain(warnings).cloned().collect();
            assert!(!says(&told, "gave no row") && !says(&told, "fewer valid requests"), "{name}: {told:?}");
        }
    }
    let serve = report(&read(&fixture("vllm_bench_serve.json"))).unwrap();
    assert_eq!(serve.cells[0].requests, 10, "one figure over ten");
}

#[test]
fn a_failed_request_keeps_its_own_length_and_settings() {
    let file = read(&detailed()).file;
    assert_eq!((file.runs.len(), file.failures[0].pp_tokens, file.failures[0].tg), (3, Some(300), None));
    assert_eq!(file.failures[0].message, "Service Unavailable");
    let agentic = report(&read(&fixture("asiai_agentic_v4.json"))).unwrap();
    let warm = agentic.cells.iter().find(|cell| cell.failed == 1).unwrap();
    assert_eq!(warm.key.model_id.as_deref(), Some("m-27b"));
    assert_eq!(warm.key.settings["phase"], "warm", "the phase that failed");
    assert_eq!(warm.requests, 1);
    let mut guide = fixture("guidellm.json");
    guide["benchmarks"][0]["requests"]["errored"][0]["prompt_tokens"] = 77.into();
    assert_eq!(read(&guide).file.failures[0].pp_tokens, Some(77));
}

#[test]
fn lengths_are_asked_for_only_where_the_file_says_so() {
    let mut aiperf = fixture("aiperf.json");
    let loaded = read(&aiperf);
    assert_eq!(loaded.file.runs[0].tg, None, "128 were obtained");
    assert!(says(&loaded.notices, "answers were 40 % shorter than asked for"), "{:?}", loaded.notices);
    aiperf["osl_mismatch_diff_pct"]["avg"] = 12.0.into();
    aiperf["input_config"]["input"] = json!({"prompt": {"output_tokens": {"mean": 114}}});
    let loaded = read(&aiperf);
    assert!(says(&loaded.notices, "answers were 12 % longer than asked for"), "{:?}", loaded.notices);
    assert_eq!(loaded.file.runs[0].tg, Some(114));
    let mut guide = fixture("guidellm.json");
    assert_eq!(read(&guide).file.runs[0].tg, None);
    guide["benchmarks"][0]["args"]["data"] = json!(["prompt_tokens=512,output_tokens=200"]);
    assert_eq!(read(&guide).file.runs[0].tg, Some(200));
    for name in ["vllm_bench_serve.json", "inference_perf.json", "guidellm_aggregates.json"] {
        let run = &read(&fixture(name)).file.runs[0];
        assert_eq!((run.tg, run.stats.as_ref().unwrap().generation_tokens), (None, Some(128)), "{name}");
    }
}

#[test]
fn the_servers_time_is_not_the_clients() {
    let ollama = |raw: Value| {
        json!({"schema_version": 2, "timestamp": 1_790_000_000, "benchmark": {"model": "demo:4b", "engines": {
            "mlxlm": {"engine_version": "0.31", "model_format": "MLX", "median_ttft_ms": 90.0, "median_ttft_client_ms": 90.0,
                "raw_runs": [{"run_index": 0, "tok_per_sec": 60.0, "ttft_ms": 90.0, "tokens_generated": 480}]},
            "ollama": {"engine_version": "0.33", "model_quantization": "Q4_K_M", "median_ttft_ms": 80.0, "runs_count": 3,
                "median_tok_s": 50.0, "median_ttft_client_ms": 100.0, "avg_power_watts": 15.6, "avg_soc_watts": 31.2,
                "avg_energy_per_token_j": 0.6123, "vram_bytes": 3_221_225_472_u64, "raw_runs": raw}}}})
    };
    let loaded =
        read(&ollama(json!([{"run_index": 0, "tok_per_sec": 50.0, "ttft_ms": 80.0, "tokens_generated": 480}])));
    let ttft = |file: &ResultFile| -> Vec<Option<f64>> {
        file.runs.iter().map(|run| run.figures.as_ref().unwrap().ttft_s).collect()
    };
    assert_eq!(ttft(&loaded.file), [Some(0.09), None], "80 ms are the server's");
    assert_eq!(loaded.file.runs[1].figures.as_ref().unwrap().published["ttft_ms"], 80.0);
    assert!(says(&loaded.notices, "ttft_ms of ollama is the server's own time"), "{:?}", loaded.notices);
    let told = report(&loaded).unwrap();
    assert!(fact(&told, "source.ollama: median_ttft_client_ms").starts_with("100 ms (median, by the client's clock"));
    assert_eq!(fact(&told, "source.engines"), "mlxlm 0.31, MLX; ollama 0.33, Q4_K_M");
    // Published power is shown as what it is.
    assert!(fact(&told, "source.ollama: avg_soc_watts").starts_with("31.2 W (SoC rails"));
    assert!(fact(&told, "source.ollama: avg_power_watts").starts_with("15.6 W (GPU rail"));
    assert!(fact(&told, "source.ollama: vram_bytes").contains("which is no peak"));
    let energy = fact(&told, "energy");
    assert!(energy.contains("published avg_energy_per_token_j, avg_power_watts, avg_soc_watts"), "{energy}");
    assert!(told.cells.iter().flat_map(|cell| &cell.metrics).all(|summary| !summary.metric.is_energy()));
    // Without the runs the client's median stands for the time to first token, and a run that has it, too.
    assert_eq!(ttft(&read(&ollama(json!([]))).file), [Some(0.09), Some(0.1)]);
    let own = json!([{"tok_per_sec": 50.0, "ttft_ms": 80.0, "ttft_client_ms": 101.0}]);
    assert_eq!(ttft(&read(&ollama(own)).file), [Some(0.09), Some(0.101)]);
}

#[test]
fn what_was_reckoned_here_is_not_called_published() {
    for (name, how) in [
        ("vllm_bench_serve.json", "1 / mean_tpot, by the client's clock"),
        ("inference_perf.json", "1 / mean time_per_output_token, by the client's clock"),
        ("guidellm.json", "1 / inter_token_latency, by the client's clock"),
    ] {
        let loaded = read(&fixture(name));
        let told = report(&loaded).unwrap();
        let warnings = &of(&told.cells[0], Metric::GenerationTps).warnings;
        assert!(says(warnings, how) && !says(warnings, "published as one figure"), "{name}: {warnings:?}");
        let explained = explain(Metric::GenerationTps, &loaded).unwrap();
        assert!(explained.formula.contains("in this file: reckoned here"), "{}", explained.formula);
        assert!(explained.example.unwrap().working.contains(how), "{name}");
    }
    let serve = read(&fixture("vllm_bench_serve.json"));
    let ttft = of(&report(&serve).unwrap().cells[0], Metric::Ttft).clone();
    let words = "the mean of 10 requests as the file publishes it; its median is 225.0 ms, its p99 500.0 ms";
    assert!(says(&ttft.warnings, words), "{:?}", ttft.warnings);
    assert!(says(&ttft.warnings, "published with a standard deviation of ± 50"), "{:?}", ttft.warnings);
}

#[test]
fn what_cannot_be_true_is_told_and_not_just_dropped() {
    let mut serve = fixture("vllm_bench_serve.json");
    serve["mean_ttft_ms"] = (-5.0).into();
    serve["mean_tpot_ms"] = 0.0.into();
    let loaded = read(&serve);
    assert!(says(&loaded.notices, "has a latency below 0"), "{:?}", loaded.notices);
    assert!(says(&loaded.notices, "has a time or a rate of 0"), "{:?}", loaded.notices);
    let told = report(&loaded).unwrap();
    let shown: Vec<Metric> = told.cells[0].metrics.iter().map(|summary| summary.metric).collect();
    assert!(!shown.contains(&Metric::Ttft) && !shown.contains(&Metric::GenerationTps), "{shown:?}");
    let mut asiai = fixture("asiai_export_v2.json");
    let runs = asiai["benchmark"]["engines"]["mlxlm"]["raw_runs"].as_array_mut().unwrap();
    runs[0]["tok_per_sec"] = (-50.0).into();
    assert!(says(&read(&asiai).notices, "has a decode rate below 0"));
    for engine in ["mlxlm", "ollama"] {
        for run in asiai["benchmark"]["engines"][engine]["raw_runs"].as_array_mut().unwrap() {
            for key in ["tok_per_sec", "ttft_ms", "tokens_generated", "total_duration_ms"] {
                run[key] = 0.into();
            }
        }
    }
    let loaded = read(&asiai);
    assert_eq!((loaded.file.runs.len(), loaded.file.failures.len()), (0, 5), "nothing was produced");
    assert!(says(&loaded.notices, "5 of 5 rows hold no figure above 0"), "{:?}", loaded.notices);
}

/// A reading of 100 W each second, which a steady load gives.
fn meter(from: &str, seconds: u32) -> String {
    let lines = (0..seconds).map(|second| format!("{from}:{:02}:{:02}Z,100\n", second / 60, second % 60));
    std::iter::once("time,watts\n".to_owned()).chain(lines).collect()
}

fn with_power(mut loaded: Loaded, readings: &str) -> (CellReport, Vec<String>) {
    let (overlay, notices) = overlay::overlay(&loaded.file, "meter.csv", readings.as_bytes()).unwrap();
    loaded.file.overlays.push(overlay);
    (report(&loaded).unwrap().cells[0].clone(), notices)
}

#[test]
fn a_steady_meter_tells_the_energy_of_any_run_whose_time_is_known() {
    let near = |found: f64, joules: f64| (found - joules).abs() < 1e-6 * joules;
    // Its date is its end: 16:08:53; the requests run from the start for 3.25 + … 6.35 s.
    let (cell, notices) = with_power(read(&detailed()), &meter("2026-08-16T16", 900));
    assert!(near(of(&cell, Metric::EnergyOverlay).median, 635.0), "{:?}", of(&cell, Metric::EnergyOverlay).median);
    assert!(says(&notices, "a time without a zone was taken as UTC"), "{notices:?}");
    assert!(says(&notices, "its date, which is the second of its end"), "{notices:?}");
    let mut serve = fixture("vllm_bench_serve.json");
    serve["date"] = "20260816-160853".into();
    let (cell, _) = with_power(read(&serve), &meter("2026-08-16T16", 900));
    let energy = of(&cell, Metric::EnergyOverlay);
    assert!(near(energy.median, 2000.0) && says(&energy.warnings, "the energy of 10 requests together"), "{energy:?}");
    // llama-bench: the second of its start, and its repeats one after the other.
    let bench = json!([{"model_type": "m", "n_prompt": 0, "n_gen": 100, "n_depth": 0, "test_time": "2026-02-01T00:00:00Z",
        "avg_ts": 10.0, "avg_ns": 10_000_000_000_u64, "samples_ns": [10_000_000_000_u64, 20_000_000_000_u64],
        "samples_ts": [10.0, 5.0]}]);
    let loaded = read(&bench);
    let sent: Vec<f64> = loaded.file.runs.iter().map(|run| run.figures.as_ref().unwrap().sent_s.unwrap()).collect();
    assert_eq!(sent, [0.1, 10.1], "a token to warm up");
    let (cell, notices) = with_power(loaded, &meter("2026-02-01T00", 60));
    assert_eq!(of(&cell, Metric::EnergyOverlay).n, 2);
    assert!(near(of(&cell, Metric::EnergyOverlay).max, 2000.0));
    assert!(says(&notices, "the second of test_time") && !says(&notices, "zone"), "{notices:?}");
    // GuideLLM stamps each request.
    let mut guide = fixture("guidellm.json");
    for (place, request) in
        guide["benchmarks"][0]["requests"]["successful"].as_array_mut().unwrap().iter_mut().enumerate()
    {
        request["request_start_time"] = (1_770_000_000.0 + place as f64).into();
        request["request_end_time"] = (1_770_000_010.0 + place as f64).into();
    }
    let (cell, _) = with_power(read(&guide), &meter("2026-02-02T02", 3599));
    assert!(near(of(&cell, Metric::EnergyOverlay).median, 1200.0));
}

#[test]
fn where_readings_tell_no_energy_the_reason_stands_there() {
    let (cell, _) = with_power(read(&detailed()), "time,watts\n2026-08-16T16:08:40Z,100\n2026-08-16T16:08:59Z,100\n");
    let absent = cell.absent.iter().find(|absent| absent.metric == Metric::EnergyOverlay).unwrap();
    assert!(absent.why.contains("window too short: 0 power samples inside 6.3 s, 5 are needed"), "{}", absent.why);
    let (cell, _) = with_power(read(&detailed()), &meter("2026-08-16T16", 526));
    let absent = cell.absent.iter().find(|absent| absent.metric == Metric::EnergyOverlay).unwrap();
    assert!(absent.why.contains("begin after the requests did, or end before"), "{}", absent.why);
}

#[test]
fn a_merged_file_keeps_each_original_and_each_notice() {
    let log = |name: &str| {
        load(name, &std::fs::read(tests::fixture("imports/exo_loop.log")).unwrap())
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let mut second = log("second.log");
    second.file.runs.pop();
    // Another run: the same rows twice would be refused.
    for run in &mut second.file.runs {
        let stats = run.stats.as_mut().unwrap();
        stats.generation_tps = stats.generation_tps.map(|rate| rate * 1.0123);
    }
    let whole = merge(vec![log("first.log"), second], Differences::Accept).unwrap();
    let originals = whole.merged.iter().filter_map(|part| part.source.as_ref()?.original.as_ref());
    assert_eq!((originals.count(), whole.merged.len()), (2, 2));
    let written = analyzer::record::to_json(&whole).unwrap();
    let again = load("both.json", written.as_bytes()).unwrap();
    for name in ["first.log", "second.log"] {
        assert!(says(&again.notices, &format!("{name}: 1 of 5 iterations of the loop failed")), "{:?}", again.notices);
    }
    assert_eq!(again.file.runs.len(), 5);
    // What differs is told, too, where there is no account of ours to tell it in.
    let other = |model: &str| {
        let mut file = fixture("vllm_bench_serve.json");
        file["model_id"] = model.into();
        read(&file)
    };
    let whole = merge(vec![other("a"), other("b")], Differences::Accept).unwrap();
    assert!(says(&whole.source.unwrap().notices, "differ in the model (a, b)"));
    // And so does a converted one.
    let converted = analyzer::record::to_json(&log("loop.log").file).unwrap();
    assert!(says(&load("c.json", converted.as_bytes()).unwrap().notices, "1 of 5 iterations"));
}

#[test]
fn tables_and_samples_of_documentation_get_the_right_sentence() {
    let markdown = std::fs::read(tests::fixture("imports/llama_batched_bench.md")).unwrap();
    let table = load("b.md", &markdown).unwrap_or_else(|error| panic!("{error}"));
    let json = load("b.jsonl", &std::fs::read(tests::fixture("imports/llama_batched_bench.jsonl")).unwrap()).unwrap();
    let rates = |loaded: &Loaded, run: usize| loaded.file.runs[run].stats.as_ref().unwrap().generation_tps;
    assert_eq!((rates(&table, 0), rates(&table, 1)), (rates(&json, 0), rates(&json, 2)));
    let documented = "{\n  \"timestamp\": \"2025-02-24T20:38:15Z\", // now\n  \"sys_power\": 5.8, // Watts\n}\n";
    let error = load("m.jsonc", documented.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("pipe what macmon itself writes"), "{error}");
    let error = load("r.json", b"{\n  \"runs\": [], // none\n}\n").unwrap_err().to_string();
    assert!(error.contains("JSON has no comments"), "{error}");
    let twice = load("t.json", br#"{"runs": [{"elapsed_s": 1.0, "elapsed_s": 2.0}]}"#).unwrap();
    assert!(says(&twice.notices, "(once in all)"), "{:?}", twice.notices);
    let pasted = load("p.md", &std::fs::read(tests::fixture("imports/llama_bench.md")).unwrap()).unwrap();
    let told = report(&pasted).unwrap();
    let rate = told.cells.iter().find_map(|cell| cell.metrics.iter().find(|m| m.metric == Metric::PrefillTps)).unwrap();
    assert!(says(&rate.warnings, "published with a standard deviation of ± 2.000 tok/s"), "{:?}", rate.warnings);
    assert!(!says(&rate.warnings, "single shot"), "a mean is none");
}

#[test]
fn what_stands_where_a_number_should_is_told() {
    let bytes = |name: &str| std::fs::read_to_string(tests::fixture(&format!("imports/{name}"))).unwrap();
    let of = |text: &str| analyzer::import::load("f", text.as_bytes()).unwrap().notices;
    let is_left_out = |notices: &[String], name: &str, what: &str| {
        let wanted = format!("{name} is no number that it can be, once (as {what:?}), and is left out there");
        assert!(notices.contains(&wanted), "{wanted}: {notices:?}");
    };
    let log = bytes("exo_run.log");
    assert!(!says(&of(&log), "is no number"), "{:?}", of(&log));
    is_left_out(&of(&log.replacen("gen_tps=16.00", "gen_tps=inf", 1)), "gen_tps", "inf");
    is_left_out(&of(&log.replacen("prompt_tps=40.25", "prompt_tps=nan", 1)), "prompt_tps", "nan");
    is_left_out(&of(&log.replacen("gen_tps=16.00", "gen_tps=16,5", 1)), "gen_tps", "16,5");
    is_left_out(&of(&log.replacen("peak_memory=22.00MB", "peak_memory=-1GB", 1)), "peak_memory", "-1GB");
    is_left_out(&of(&log.replacen("gen_tokens=8 ", "gen_tokens=-8 ", 1)), "gen_tokens", "-8");
    is_left_out(&of(&log.replacen("wall_s=5.80", "wall_s=inf", 1)), "wall_s", "inf");
    let csv = bytes("llama_bench.csv");
    assert!(!says(&of(&csv), "is no number"), "{:?}", of(&csv));
    is_left_out(&of(&csv.replacen("\"802.0\"", "\"802,0\"", 1)), "avg_ts", "802,0");
    let mlx = bytes("mlx_lm_benchmark.txt");
    assert!(!says(&of(&mlx), "is no number"), "{:?}", of(&mlx));
    is_left_out(&of(&mlx.replacen(" generation_tps=", " generation_tps=inf ", 1)), "generation_tps", "inf");
    let mut vllm = fixture("vllm_bench_serve.json");
    assert!(!says(&read(&vllm).notices, "is no number"));
    vllm["failed"] = (-3).into();
    is_left_out(&read(&vllm).notices, "failed", "-3");
    let test = json!({"n_prompt": -1, "n_gen": 128, "avg_ts": 50.0, "samples_ts": [50.1, 49.9]});
    is_left_out(&read(&json!([test])).notices, "n_prompt", "-1");
}

#[test]
fn a_mean_that_its_samples_contradict_is_told() {
    let test =
        |mean: f64| read(&json!([{"n_prompt": 512, "n_gen": 0, "avg_ts": mean, "samples_ts": [800.0, 810.0]}])).notices;
    assert!(!says(&test(809.0), "off that of its samples"));
    assert!(
        says(&test(900.0), "1 of 1 test with a mean that is more than 1 % off that of its samples"),
        "{:?}",
        test(900.0)
    );
}

#[test]
fn a_count_of_failures_that_lies_fills_no_memory() {
    let log =
        std::fs::read_to_string(tests::root().join("analyzer/fuzz/corpus/exo_log/errors_without_end.log")).unwrap();
    let found = load("lying.log", log.as_bytes()).unwrap();
    assert!(found.file.failures.len() <= 10_100, "{}", found.file.failures.len());
    assert!(found.notices.iter().any(|notice| notice.contains("of which 10000 are listed")), "{:?}", found.notices);
    let mut counted = fixture("inference_perf.json");
    counted["failures"]["count"] = 60_000.into();
    let found = read(&counted);
    assert!(
        found.notices.iter().any(|notice| notice == "60000 requests are counted as failed, of which 10000 are listed")
    );
}

#[test]
fn rows_of_other_tools_have_no_console_of_exos() {
    for name in ["aiperf.json", "vllm_sweep.json", "llama_batched_bench.jsonl", "llama_bench.json", "exo_run.log"] {
        let bytes = std::fs::read(tests::fixture(&format!("imports/{name}"))).unwrap();
        let report = report(&load(name, &bytes).unwrap()).unwrap();
        assert!(report.cells.iter().all(|cell| cell.exo_console.is_none()), "{name}");
    }
    let nothing = report(&read(&fixture("vllm_all_failed.json"))).unwrap();
    assert!(nothing.cells[0].requests == 0 && nothing.cells[0].exo_console.is_none());
    let own = std::fs::read(tests::fixture("results/f3e.json")).unwrap();
    assert!(report(&load("f3e.json", &own).unwrap()).unwrap().cells.iter().all(|cell| cell.exo_console.is_some()));
}

#[test]
fn a_file_of_failures_alone_tells_what_was_asked_for() {
    let (failed, good) = (read(&fixture("vllm_all_failed.json")), read(&fixture("vllm_bench_serve.json")));
    assert!(failed.file.runs.is_empty());
    let (failed, good) = (report(&failed).unwrap(), report(&good).unwrap());
    for (key, value) in
        [("model", "lab/m"), ("engine", "vllm"), ("source.backend", "vllm"), ("source.request_rate", "inf")]
    {
        assert_eq!((fact(&failed, key).as_str(), fact(&good, key).as_str()), (value, value), "{key}");
    }
    let mut own: Value =
        tests::measured::read_json(&tests::fixture("results/exoscope_failures.json")).unwrap_or_else(|e| panic!("{e}"));
    let labels = fact(&report(&read(&own)).unwrap(), "model");
    own["runs"] = json!([]);
    assert_eq!(fact(&report(&read(&own)).unwrap(), "model"), labels);
    assert!(fact(&report(&read(&own)).unwrap(), "placements").contains(" / "));
}

#[test]
fn an_unknown_cache_is_not_said_to_have_had_no_hits() {
    let log = "=== iter 1 (cold) @ 20260415_002948 ===\n--- pp=64 tg=8 concurrency=1\ntok=64\n\
               prompt_tps=400.0 gen_tps=50.0    prompt_tokens=64 gen_tokens=8    peak_memory=1.00GB\n";
    let both = format!("{log}{}", log.replace("iter 1 (cold)", "iter 2 (cached)"));
    let of = |text: &str| {
        let report = report(&load("loop.log", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))).unwrap();
        let states: Vec<&str> = report.cells.iter().map(|cell| cell.key.cache.word()).collect();
        (fact(&report, "prompt_cache"), states.join(" "))
    };
    assert_eq!(of(log), ("hits: none".to_owned(), "cold".to_owned()));
    assert_eq!(of(&both), ("hits: none; unknown for the other requests".to_owned(), "cold –".to_owned()));
}

#[test]
fn a_whole_run_is_no_request_whose_instants_disagree_with_its_time() {
    let mut aiperf = fixture("aiperf.json");
    aiperf["end_time"] = "2026-06-01T10:01:40".into();
    let loaded = read(&aiperf);
    assert_eq!(loaded.file.runs[0].figures.as_ref().unwrap().done_s, Some(100.0));
    assert!(!says(&loaded.notices, "as far apart"), "{:?}", loaded.notices);
    // A request's own still are doubted.
    let mut guide = fixture("guidellm.json");
    let request = &mut guide["benchmarks"][0]["requests"]["successful"][0];
    request["request_start_time"] = 1_770_000_000.0.into();
    request["request_end_time"] = 1_770_009_000.0.into();
    let loaded = read(&guide);
    assert!(says(&loaded.notices, "as far apart"), "{:?}", loaded.notices);
}

#[test]
fn a_mean_over_many_requests_is_not_shown_as_their_median() {
    use analyzer::summary::Statistic;
    let first = |name: &str| {
        let bytes = std::fs::read(tests::fixture(&format!("imports/{name}"))).unwrap();
        report(&load(name, &bytes).unwrap()).unwrap().cells.remove(0)
    };
    // Mean, median and p99 as they stand in the files.
    for (name, metric, [mean, median, p99]) in [
        ("vllm_bench_serve.json", Metric::Ttft, [0.25, 0.225, 0.5]),
        ("vllm_bench_serve_seconds.json", Metric::Tpot, [0.05, 0.045, 0.1]),
        ("aiperf.json", Metric::Elapsed, [6.6, 5.94, 13.2]),
        ("aiperf.json", Metric::Itl, [0.05, 0.045, 0.1]),
        ("aiperf.json", Metric::GenerationTps, [20.0, 18.0, 40.0]),
        ("inference_perf.json", Metric::Ttft, [0.25, 0.225, 0.5]),
    ] {
        let cell = first(name);
        let found = of(&cell, metric);
        let figure = found.published.as_ref().unwrap_or_else(|| panic!("{name}: {found:?}"));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * b.abs().max(1.0);
        assert_eq!(figure.is, Statistic::Mean);
        assert!(close(found.mean, mean) && close(found.median, median), "{name}: {found:?}");
        assert!(close(figure.p99.unwrap(), p99) && close(figure.median.unwrap(), median), "{name}: {figure:?}");
        assert!(close(found.values[0], mean), "a comparison goes by the mean");
        assert!(says(&found.warnings, "as the file publishes it; its median is "), "{:?}", found.warnings);
    }
    let guide = first("guidellm_aggregates.json");
    assert_eq!((of(&guide, Metric::Elapsed).median, of(&guide, Metric::Elapsed).mean), (6.5, 6.6));
    let untold = of(&guide, Metric::Ttft);
    assert!(says(&untold.warnings, "the mean of 3 requests as the file publishes it; it publishes no median"));
    // The table tells means, and not over how many repeats.
    let table = first("llama_bench.md");
    let rate = table.metrics.iter().find(|summary| summary.published.is_some()).unwrap();
    assert!(
        says(
            &rate.warnings,
            "the mean of repeats as the file publishes it, without their number; it publishes no median"
        ),
        "{:?}",
        rate.warnings
    );
    // asiai publishes the median of this one and no mean.
    let asiai = first("asiai_export_aggregates.json");
    assert_eq!(of(&asiai, Metric::Ttft).published.as_ref().unwrap().is, Statistic::Median);
    // Requests that stand in the file have their own.
    assert!(first("guidellm.json").metrics.iter().all(|summary| summary.published.is_none()));
}

#[test]
fn numbers_of_another_tool_stand_under_its_definition_and_not_under_exos() {
    use analyzer::summary::definition;
    let shown = |name: &str, metric: Metric| {
        let bytes = std::fs::read(tests::fixture(&format!("imports/{name}"))).unwrap();
        let loaded = load(name, &bytes).unwrap();
        let report = report(&loaded).unwrap();
        let words = definition(metric, &report.cells);
        let summary = report.cells.iter().flat_map(|cell| &cell.metrics).find(|summary| summary.metric == metric);
        assert_eq!(summary.unwrap_or_else(|| panic!("{name}: no {metric:?}")).formula(), words, "{name}: one of each");
        assert!(explain(metric, &loaded).unwrap().formula.ends_with(&words), "explained as it is reported");
        words
    };
    let bench = shown("llama_bench.json", Metric::PrefillTps);
    assert!(bench.starts_with("prompt tokens / time of the test, inside the engine"), "{bench}");
    let elapsed = shown("llama_bench.json", Metric::Elapsed);
    assert_eq!(elapsed, "time of the test inside the engine (as llama-bench JSON has it)");
    let memory = shown("mlx_lm_benchmark.txt", Metric::PeakMemory);
    assert!(memory.contains("10⁹ bytes") && !memory.contains("7.37"), "{memory}");
    let ttft = shown("vllm_bench_serve.json", Metric::Ttft);
    assert_eq!(
        ttft,
        "first chunk of the answer − sending, by the client's clock (as a result of vLLM's bench serve has it)"
    );
    let rate = shown("vllm_bench_serve.json", Metric::GenerationTps);
    assert_eq!(rate, "reckoned here from what the file tells: 1 / mean_tpot, by the client's clock");
    let untold = shown("guidellm.json", Metric::Ttft);
    assert_eq!(untold, "as a result of GuideLLM tells it, by a clock and a definition of its own");
    let log = shown("exo_run.log", Metric::PeakMemory);
    assert!(log.starts_with(Metric::PeakMemory.definition().formula) && log.ends_with("as exo's console prints it"));
    // exo's own rows and ours keep the catalogue's.
    let own = std::fs::read(tests::fixture("results/f3e.json")).unwrap();
    let own = report(&load("f3e.json", &own).unwrap()).unwrap();
    let catalogue = Metric::PrefillTps.definition();
    assert_eq!(definition(Metric::PrefillTps, &own.cells), format!("{} ({})", catalogue.formula, catalogue.source));
}

#[test]
fn what_is_said_of_one_row_is_said_in_the_singular() {
    let row = |build: &str, rate: f64| {
        json!({"model_type": "m", "n_prompt": 64, "n_gen": 0, "avg_ts": rate, "avg_ns": 1e9 * rate.min(1.0),
            "samples_ts": [rate], "samples_ns": [1e9 * rate.min(1.0)], "build_commit": build})
    };
    let notices = |rows: &[Value]| read(&Value::Array(rows.to_vec())).notices;
    let (one, other) = (row("a", 6e6), row("b", 6e6));
    let told = notices(std::slice::from_ref(&one));
    assert!(says(&told, "1 of 1 row prefills faster than 5 million tokens a second"), "{told:?}");
    let told = notices(&[one.clone(), other]);
    assert!(says(&told, "2 of 2 rows prefill faster than"), "{told:?}");
    let told = notices(&[one, row("c", 0.0)]);
    assert!(says(&told, "1 of 2 rows holds no figure above 0"), "{told:?}");
    let own = std::fs::read(tests::fixture("results/f3e.json")).unwrap();
    let mut own: Value = serde_json::from_slice(&own).unwrap();
    own["runs"][0]["elapsed_s"] = json!(-1.0);
    let rows = own["runs"].as_array().unwrap().len();
    let told = read(&own).notices;
    assert!(rows > 1 && says(&told, &format!("1 of {rows} rows has a negative elapsed time")), "{told:?}");
}

#[test]
fn a_start_in_seconds_since_1970_is_shown_as_an_instant() {
    // date -u -d @1770000000, and @1790000000 below
    for (name, start) in [
        ("asiai_export_v2.json", "2026-02-02T02:40:00Z"),
        ("guidellm.json", "2026-02-02T02:40:00Z"),
        ("guidellm_aggregates.json", "2026-02-02T02:40:00Z"),
        // What is a time already stays as the file has it.
        ("aiperf.json", "2026-06-01T10:00:00"),
    ] {
        let loaded = read(&fixture(name));
        assert_eq!(fact(&report(&loaded).unwrap(), "started"), start, "{name}");
        // So does what was converted before, and every later reader has the instant.
        let mut converted = loaded.clone();
        converted.file.source.as_mut().unwrap().started_at = Some("1790000000".to_owned());
        assert_eq!(fact(&report(&converted).unwrap(), "started"), "2026-09-21T14:13:20Z");
        assert_eq!(loaded.file.source.unwrap().started_at.as_deref(), Some(start), "{name}");
    }
}

#[test]
fn a_published_mean_is_judged_by_its_published_deviation() {
    use analyzer::comparison::{Options, Verdict, compare};
    use analyzer::metric::Metric;

    // The two runs of a sweep: 217 ± 309 ms and 39 ± 10 ms over 8 requests each. Welch's t of these is 1.63, p 0.15.
    let run = |name: &str, mean: f64, deviation: f64| {
        let bytes = std::fs::read(tests::fixture("imports/vllm_bench_serve.json")).unwrap();
        let mut result: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        result["completed"] = 8.into();
        result["num_prompts"] = 8.into();
        (result["mean_ttft_ms"], result["std_ttft_ms"]) = (mean.into(), deviation.into());
        analyzer::import::load(name, result.to_string().as_bytes()).unwrap()
    };
    let options = Options { metrics: vec![Metric::Ttft], ..Options::default() };
    let row = |base: &analyzer::import::Loaded, new: &analyzer::import::Loaded| {
        compare(base, new, &options).unwrap().cells[0].metrics[0].clone()
    };
    let (slow, quick) = (run("a", 217.3, 309.1), run("b", 39.3, 10.4));
    let wide = row(&slow, &quick);
    assert_eq!(wide.verdict, Some(Verdict::Undecided), "{wide:?}");
    assert!(wide.warnings.iter().any(|said| said == "no repeats: the deviations that were published stand for them"));
    assert!((row(&quick, &slow).p.unwrap() - wide.p.unwrap()).abs() < 1e-12);
    // Where the means are known well, they are judged.
    assert_eq!(row(&run("a", 217.3, 20.0), &quick).verdict, Some(Verdict::Improved));
}
