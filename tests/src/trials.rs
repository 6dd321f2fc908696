//! The comparison tried on made-up runs whose truth is known: how often it is wrong, what it catches, and whether its
//! intervals hold what they say.

use analyzer::comparison::Options;
use analyzer::comparison::Verdict;
use analyzer::comparison::calibration::Calibration;
use analyzer::comparison::numbers::{Answer, Values, calibrate, compare};
use analyzer::metric::Metric;

/// How runs are made up. Deviations are of logarithms, in percent.
#[derive(Debug, Clone)]
pub struct Design {
    /// Cells of a run.
    pub cells: usize,
    /// Sessions per side.
    pub sessions: usize,
    /// Sessions of the new side, where it has others.
    pub new_sessions: Option<usize>,
    /// Repeats of each cell in each session.
    pub repeats: usize,
    /// Deviation of repeats within a session.
    pub within: f64,
    /// Deviation that sessions add.
    pub between: f64,
    /// Whether a session is slow in all its cells alike; else each cell has a fate of its own.
    pub shared: bool,
    /// What the comparison knows or assumes.
    pub options: Options,
    /// Sessions of a calibration that is made anew for each trial; 0 for none.
    pub calibrated_by: usize,
}

/// What came of it, as shares from 0 to 1 of all cells of all trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Of cells that did not change: called improved or regressed.
    pub false_verdicts: f64,
    /// Of cells that did not change: p below 5 %, before any threshold and adjustment.
    pub small_p: f64,
    /// Of cells that did not change: called the same.
    pub same: f64,
    /// Of cells that changed: called regressed.
    pub caught: f64,
    /// Of all cells: the interval holds the true change.
    pub covered: f64,
    /// Of trials: the interval of the geometric mean holds the true one.
    pub covered_geomean: f64,
    /// Of trials without a change: the geometric mean is called improved or regressed.
    pub false_geomean: f64,
}

/// Tries a design: so many pairs of runs, of which the first `changed` cells of the new one are `change_percent` slower.
#[must_use]
pub fn run(design: &Design, changed: usize, change_percent: f64, trials: usize, seed: u64) -> Outcome {
    let mut noise = Noise::new(seed);
    let effect = (change_percent / 100.0).ln_1p();
    let truth = |cell: usize| if cell < changed { effect } else { 0.0 };
    let whole_truth = effect * changed as f64 / design.cells as f64;
    let mut counts = [0_u64; 7];
    for _ in 0..trials {
        let base = side(design, &|_| 0.0, &mut noise);
        let sessions = design.new_sessions.unwrap_or(design.sessions);
        let new = side(&Design { sessions, ..design.clone() }, &truth, &mut noise);
        let mut options = design.options.clone();
        if design.calibrated_by > 0 {
            let runs = side(&Design { sessions: design.calibrated_by, ..design.clone() }, &|_| 0.0, &mut noise);
            let found = calibrate(Metric::GenerationTps, &runs);
            options.calibration = Some(Calibration::of_metrics(found.into_iter().collect()));
        }
        let cells: Vec<Values> = base.into_iter().zip(new).map(|(base, new)| Values { base, new }).collect();
        let (answers, whole) = compare(Metric::GenerationTps, &cells, &options);
        for (cell, answer) in answers.iter().enumerate() {
            let called = matches!(answer.verdict, Verdict::Improved | Verdict::Regressed);
            if cell < changed {
                counts[3] += u64::from(answer.verdict == Verdict::Regressed);
            } else {
                counts[0] += u64::from(called);
                counts[1] += u64::from(answer.p.is_some_and(|p| p < 0.05));
                counts[2] += u64::from(answer.verdict == Verdict::Same);
            }
            counts[4] += u64::from(holds(answer, truth(cell)));
        }
        if let Some(whole) = whole {
            counts[5] += u64::from(holds(&whole, whole_truth));
            counts[6] += u64::from(changed == 0 && matches!(whole.verdict, Verdict::Improved | Verdict::Regressed));
        }
    }
    let share = |count: u64, cells: usize| if cells == 0 { 0.0 } else { count as f64 / (trials * cells) as f64 };
    let unchanged = design.cells - changed;
    Outcome {
        false_verdicts: share(counts[0], unchanged),
        small_p: share(counts[1], unchanged),
        same: share(counts[2], unchanged),
        caught: share(counts[3], changed),
        covered: share(counts[4], design.cells),
        covered_geomean: share(counts[5], 1),
        false_geomean: share(counts[6], 1),
    }
}

fn holds(answer: &Answer, truth: f64) -> bool {
    answer.interval_percent.is_some_and(|[low, high]| (low..=high).contains(&(100.0 * truth.exp_m1())))
}

/// The sessions of each cell of a side.
fn side(design: &Design, effect: &dyn Fn(usize) -> f64, noise: &mut Noise) -> Vec<Vec<Vec<f64>>> {
    let (within, between) = (design.within / 100.0, design.between / 100.0);
    let mut cells = vec![Vec::new(); design.cells];
    for _ in 0..design.sessions {
        let common = noise.normal();
        for (cell, sessions) in cells.iter_mut().enumerate() {
            let of_session = if design.shared { common } else { noise.normal() };
            // Cells differ in speed, as lengths of prompts do.
            let centre = 3.0 + 0.3 * cell as f64 + effect(cell) + between * of_session;
            sessions.push((0..design.repeats).map(|_| (centre + within * noise.normal()).exp()).collect());
        }
    }
    cells
}

/// Normal deviates by Box and Muller from Steele, Lea and Flood's SplitMix64: the same numbers for the same seed, everywhere.
#[derive(Debug, Clone)]
pub struct Noise(u64);

impl Noise {
    /// A series of its own for each seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // In (0, 1]: the logarithm of 0 is none.
        (((z ^ (z >> 31)) >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    /// Mean 0, deviation 1.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
