//! Two overnight loops of exo's own client on real machines, read from their console logs: one that steps down after some
//! hours, one that holds.

use analyzer::import;
use analyzer::metric::Metric;
use analyzer::summary::{MetricSummary, report};

/// A metric of a cell of a loop.
struct Series {
    name: String,
    summary: MetricSummary,
    /// The loop's iteration of each value, from 1.
    iterations: Vec<u32>,
}

/// The decode rate and the power of every cell of a loop; None where the sample is not here.
fn series(loop_of: &str) -> Option<Vec<Series>> {
    let path = tests::shared(&format!("samples/exo/loop_{loop_of}.log.gz"))?;
    let loaded = import::load(&path.display().to_string(), &std::fs::read(path).unwrap()).unwrap();
    let mut all = Vec::new();
    for cell in report(&loaded).unwrap().cells {
        let of_cell = loaded.file.runs.iter().filter(|run| {
            let cold = run.stats.as_ref().and_then(|stats| stats.prefix_cache_hit.as_deref()) == Some("none");
            run.pp_tokens == cell.key.pp_tokens && cold == (cell.key.cache == analyzer::summary::CacheState::Cold)
        });
        let iterations: Vec<u32> = of_cell.map(|run| run.repeat_index.unwrap() + 1).collect();
        for summary in cell.metrics {
            if matches!(summary.metric, Metric::GenerationTps | Metric::Power) {
                assert_eq!(summary.values.len(), iterations.len());
                let name = format!("{:?}, {:?}, {:?}", cell.key.pp_tokens, cell.key.cache, summary.metric);
                all.push(Series { name, summary, iterations: iterations.clone() });
            }
        }
    }
    assert_eq!(all.len(), 8, "two prompt lengths, cold and cached, two metrics");
    Some(all)
}

#[test]
fn the_loop_that_steps_down_is_found_out_within_ten_iterations() {
    let Some(all) = series("20260415_002648") else { return };
    for Series { name, summary, iterations } in all {
        assert!(iterations.len() > 70, "{name}: {}", iterations.len());
        let drift = summary.drift.unwrap();
        assert_eq!(drift.found, Some(true), "{name}: {drift:?}");
        assert!(drift.change_percent.unwrap() < 0.0);
        let steps = summary.steps;
        assert_eq!(steps.len(), 1, "{name}: {steps:?}");
        // The fall came in iteration 47, at 02:34; the loop began at 00:26.
        let iteration = iterations[steps[0].batch as usize];
        assert!(iteration.abs_diff(47) <= 10, "{name}: {iteration}");
        assert!(steps[0].change_percent.unwrap() < -10.0, "{name}: {steps:?}");
    }
}

#[test]
fn the_loop_that_holds_raises_nothing() {
    let Some(all) = series("20260416_165129") else { return };
    for Series { name, summary, iterations } in all {
        assert!(iterations.len() > 80, "{name}: {}", iterations.len());
        assert_eq!(summary.drift.as_ref().unwrap().found, Some(false), "{name}: {:?}", summary.drift);
        assert_eq!(summary.steps, [], "{name}");
    }
}
