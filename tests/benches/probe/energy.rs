//! The error of an energy against the simulator's own account, for windows of 3, 10 and 30 s and a sensor of one reading a
//! second; the peer is the formula of exo's client on the same readings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use analyzer::energy::{self, Channel, Phases, Split, Window};
use analyzer::record::{ResultFile, Sampling};
use probe::capture::clock::Clock;
use probe::capture::cluster::Cluster;
use probe::capture::interrupt::Interrupt;
use probe::capture::recorder::Recorder;
use probe::method::exo_bench::{self, Begin};
use probe::plan::{Asked, InstanceMeta, Plan, Selection, Sharding, Streaming};
use probe::simulate::{self, Running, Settings};

use super::Line;

/// At most a third of the official method's error.
const TARGET: f64 = 1.0 / 3.0;
/// Prompt tokens; the prefill takes a quarter of the window.
const PROMPT: u64 = 512;

pub(crate) fn measure(quick: bool) -> Vec<Line> {
    let (windows, trials): (&[f64], u64) = if quick { (&[3.0], 3) } else { (&[3.0, 10.0, 30.0], 8) };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    windows
        .iter()
        .map(|&seconds| {
            let trials = runtime.block_on(async {
                let mut tasks = tokio::task::JoinSet::new();
                for trial in 0..trials {
                    tasks.spawn(one(seconds, trial));
                }
                tasks.join_all().await
            });
            let mean = |of: fn(&Trial) -> f64| trials.iter().map(of).sum::<f64>() / trials.len() as f64 * 100.0;
            Line {
                what: format!("energy error, window of {seconds} s, mean of {}", trials.len()),
                ours: mean(|trial| trial.ours.abs()),
                peer: mean(|trial| trial.exo.abs()),
                unit: "% of truth",
                at_most: Some(TARGET),
            }
        })
        .collect()
}

/// Relative errors of one window.
struct Trial {
    ours: f64,
    exo: f64,
}

/// One window on a cluster of its own, whose sensor beats at a phase of its own.
async fn one(seconds: f64, trial: u64) -> Trial {
    tokio::time::sleep(Duration::from_millis(130 * trial)).await;
    let tokens: u32 = 60;
    let settings = Settings {
        nodes: 1,
        seed: trial + 1,
        load_seconds: 0.0,
        prefill_tps: PROMPT as f64 / (seconds / 4.0),
        decode_tps: f64::from(tokens) / (seconds * 0.75),
        ..Settings::default()
    };
    let running = Arc::new(simulate::start(settings).expect("a port"));
    let truth = Truth::watch(running.clone());
    let origin = Instant::now();
    let file = run(&running, u64::from(tokens)).await;
    let truth = truth.stop();

    let row = &file.runs[0];
    let timing = &row.exoscope.as_ref().expect("a row of ours").timing;
    let window = Window { from_s: timing.sent_s, to_s: timing.done_s };
    let at = |seconds: f64| truth.joules_at(origin + Duration::from_secs_f64(seconds));
    let true_joules = at(window.to_s) - at(window.from_s);
    let series = &file.metric_series[0];
    let channel = Channel::of(series);
    let phases = Phases::new(window, Split::At(timing.first_token_s.expect("a stream")));
    let ours = energy::read(&[(series.node_id.as_str(), Some(&channel))], phases).energy.expect("a reading").value;
    let exo = energy::exo_client_joules(&series.t_s, &series.columns.sys_power, window).unwrap_or(0.0);
    Trial { ours: ours / true_joules - 1.0, exo: exo / true_joules - 1.0 }
}

async fn run(running: &Running, tokens: u64) -> ResultFile {
    let plan = plan(running, tokens);
    let clock = Clock::start();
    let interrupt = Interrupt::default();
    let cluster = Cluster::new(plan.target.clone(), clock, interrupt.clone());
    let mut recorder = Recorder::new(None, Box::new(|_| ()), interrupt);
    let command = ["bench-probe".to_owned()];
    exo_bench::run(&plan, &Begin::New { command: &command }, &cluster, &mut recorder).await.expect("a run");
    let (fold, _, _) = recorder.close();
    fold.finish("").expect("a file")
}

fn plan(running: &Running, tokens: u64) -> Plan {
    Asked {
        host: running.address.ip().to_string(),
        port: running.address.port(),
        model: "simulated-8b".into(),
        pp: vec![PROMPT.to_string()],
        tg: vec![tokens.to_string()],
        concurrency: vec!["1".into()],
        repeat: 1,
        target_precision: None,
        max_repeats: None,
        sessions: 1,
        warmup: 0,
        sampling: Sampling::default(),
        idle_baseline_s: 0.0,
        all_combinations: false,
        streaming: Streaming::All,
        use_prefix_cache: false,
        selection: Selection {
            sharding: Sharding::Both,
            instance_meta: InstanceMeta::Both,
            min_nodes: 1,
            max_nodes: 1,
            skip_pipeline_jaccl: false,
            skip_tensor_ring: false,
        },
        settle_s: 10.0,
        idle_s: 120.0,
        ready_s: 60.0,
        stall_s: 0.0,
        // Idle for a while first, as a real machine is between two repeats.
        pauses: vec!["all=0".into(), "repeat=2".into()],
        metrics_interval_s: Some(1.0),
        dry_run: false,
        reuse_instance: false,
        delete_other_instances: false,
        keep_preview: false,
        tokenizer: Some(tests::fixture("tokenizers/tiny")),
        atom: None,
        force_download: false,
        delete_downloads: false,
    }
    .check()
    .expect("a plan")
}

/// The simulator's cumulative energy over time, read off every few milliseconds.
struct Truth {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Vec<(Instant, f64)>>,
}

struct Watched(Vec<(Instant, f64)>);

impl Truth {
    fn watch(running: Arc<Running>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut readings = Vec::new();
            while !told.load(Ordering::Relaxed) {
                readings.push((Instant::now(), running.energy().values().map(|node| node.joules).sum()));
                std::thread::sleep(Duration::from_millis(5));
            }
            readings
        });
        Self { stop, thread }
    }

    fn stop(self) -> Watched {
        self.stop.store(true, Ordering::Relaxed);
        Watched(self.thread.join().expect("it ends"))
    }
}

impl Watched {
    /// A straight line between two readings some milliseconds apart.
    fn joules_at(&self, at: Instant) -> f64 {
        let behind = self.0.partition_point(|(when, _)| *when < at).clamp(1, self.0.len() - 1);
        let ((t0, e0), (t1, e1)) = (self.0[behind - 1], self.0[behind]);
        let share = (at - t0).as_secs_f64() / (t1 - t0).as_secs_f64();
        e0 + (e1 - e0) * share
    }
}
