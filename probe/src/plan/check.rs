//! From what was asked to a plan that can be measured, or the sentence that says why it cannot.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

use analyzer::record::{Pauses, Sampling, TargetPrecision};

use super::lists;
use super::{Address, Asked, Deadlines, Pair, Pairing, Plan, PlanError};

impl Asked {
    /// Checks everything that can be known before a server is asked.
    ///
    /// # Errors
    /// The first thing that cannot work, in a sentence.
    pub fn check(self) -> Result<Plan, PlanError> {
        if self.host.is_empty() {
            return Err(PlanError::NoHost);
        }
        if self.model.trim().is_empty() {
            return Err(PlanError::NoModel);
        }
        if self.port == 0 {
            return Err(PlanError::Number {
                flag: "--port",
                value: "0".into(),
                reason: "no server answers there; exo listens on 52415 unless told otherwise",
            });
        }
        if self.host.contains(['/', ' ', '[', ']']) {
            return Err(PlanError::Host { host: self.host });
        }
        if self.atom.as_ref().is_some_and(String::is_empty) {
            return Err(PlanError::EmptyAtom);
        }
        let pp = positive("--pp", lists::read("--pp", &self.pp)?, "a prompt has at least one token")?;
        // exo reads 0 as "no limit" and generates 32168 tokens with the end of sequence banned.
        let tg = positive(
            "--tg",
            lists::read("--tg", &self.tg)?,
            "at least one token must be generated; 2 or more give a rate",
        )?;
        let concurrency = positive(
            "--concurrency",
            lists::read("--concurrency", &self.concurrency)?,
            "at least one request is sent at a time",
        )?
        .into_iter()
        .map(|number| u32::try_from(number).ok().filter(|&number| number <= MOST_AT_ONCE))
        .collect::<Option<Vec<u32>>>()
        .ok_or(PlanError::Number {
            flag: "--concurrency",
            value: self.concurrency.join(" "),
            reason: "more than 1024 requests at once are not supported",
        })?;
        let repeat = u32::try_from(self.repeat).ok().filter(|&repeat| repeat > 0).ok_or(PlanError::Number {
            flag: "--repeat",
            value: self.repeat.to_string(),
            reason: "each group is measured at least once, and at most 4294967295 times",
        })?;
        let sessions = u32::try_from(self.sessions)
            .ok()
            .filter(|sessions| (1..=MOST_SESSIONS).contains(sessions))
            .ok_or_else(|| PlanError::Number {
                flag: "--sessions",
                value: self.sessions.to_string(),
                reason: "the plan is measured at least once, and at most 1000 times",
            })?;
        if sessions > 1 && self.reuse_instance {
            return Err(PlanError::Together {
                one: "--sessions",
                other: "--reuse-instance",
                reason: "a session is a new instance, and the one that is there is to be left alone",
            });
        }
        if self.idle_baseline_s > 0.0 && self.metrics_interval_s.is_none() {
            return Err(PlanError::Together {
                one: "--idle-baseline",
                other: "--no-system-metrics",
                reason: "the baseline is power, which is not read then",
            });
        }
        let target_precision = target(self.target_precision, self.max_repeats, repeat)?;
        let sampling = sampling(self.sampling)?;
        let pairing = Pairing::of(&pp, &tg, self.all_combinations);
        let pairs = pairing.pairs(&pp, &tg);
        if let Some(Pair { pp, tg }) = twice(&pairs) {
            return Err(PlanError::Twice { what: format!("--pp {pp} with --tg {tg}") });
        }
        if let Some(requests) = twice(&concurrency) {
            return Err(PlanError::Twice { what: format!("--concurrency {requests}") });
        }
        let selection = self.selection;
        if selection.min_nodes == 0 || selection.max_nodes < selection.min_nodes {
            return Err(PlanError::Number {
                flag: "--min-nodes",
                value: format!("{} with --max-nodes {}", selection.min_nodes, selection.max_nodes),
                reason: "--min-nodes must be 1 or more and not above --max-nodes",
            });
        }
        let metrics_interval = match self.metrics_interval_s {
            Some(given) => {
                let interval = seconds("--metrics-interval", given)?;
                if interval < SHORTEST_INTERVAL {
                    return Err(PlanError::Number {
                        flag: "--metrics-interval",
                        value: given.to_string(),
                        reason: "polls need time between them: give 0.01 s or more; exo's sensors tell something new each second",
                    });
                }
                Some(interval)
            }
            None => None,
        };
        let warnings = warnings(&pp, &tg, self.use_prefix_cache);
        Ok(Plan {
            target: Address { host: self.host, port: self.port },
            model: self.model,
            pp,
            tg,
            pairing,
            pairs,
            concurrency,
            repeat,
            target_precision,
            sessions,
            warmup: self.warmup,
            sampling,
            idle_baseline: Some(seconds("--idle-baseline", self.idle_baseline_s)?).filter(|time| !time.is_zero()),
            streaming: self.streaming,
            use_prefix_cache: self.use_prefix_cache,
            selection,
            deadlines: Deadlines {
                settle: seconds("--settle-timeout", self.settle_s)?,
                idle: above_zero("--timeout", self.idle_s, "an answer needs some time")?,
                ready: above_zero("--ready-timeout", self.ready_s, "an instance needs some time to load")?,
                stall: Some(seconds("--stall-timeout", self.stall_s)?).filter(|time| !time.is_zero()),
            },
            pauses: read_pauses(&self.pauses)?,
            metrics_interval,
            dry_run: self.dry_run,
            reuse_instance: self.reuse_instance,
            delete_other_instances: self.delete_other_instances,
            keep_preview: self.keep_preview,
            tokenizer: self.tokenizer,
            atom: self.atom,
            force_download: self.force_download,
            delete_downloads: self.delete_downloads,
            warnings,
        })
    }
}

/// Each request holds one connection and a file descriptor; the usual limit is 1024 on Linux and 256 on macOS.
const MOST_AT_ONCE: u32 = 1024;

/// A hundred polls a second are more than any sensor tells.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// A plan of a thousand sessions is a slip of the finger.
const MOST_SESSIONS: u32 = 1000;

/// Repeats without an interval cannot be stopped by one: two values give one that is 12.7 times their deviation wide.
const FEWEST_FOR_AN_INTERVAL: u32 = 3;

fn target(percent: Option<f64>, max_repeats: Option<i64>, repeat: u32) -> Result<Option<TargetPrecision>, PlanError> {
    let Some(percent) = percent else {
        return match max_repeats {
            Some(_) => Err(PlanError::Together {
                one: "--max-repeats",
                other: "a plan without --target-precision",
                reason: "it bounds the repeats of --target-precision, which is not given",
            }),
            None => Ok(None),
        };
    };
    if !(percent > 0.0 && percent < 100.0) {
        return Err(PlanError::Number {
            flag: "--target-precision",
            value: percent.to_string(),
            reason: "give the half-width of the 95 % interval in percent of the mean, above 0 and below 100, like 2",
        });
    }
    let most = match max_repeats {
        Some(given) => u32::try_from(given).ok().filter(|&most| most >= repeat.max(FEWEST_FOR_AN_INTERVAL)).ok_or(
            PlanError::Number {
                flag: "--max-repeats",
                value: given.to_string(),
                reason: "an interval needs 3 repeats, and --repeat are made in any case",
            },
        )?,
        None => repeat.max(FEWEST_FOR_AN_INTERVAL).saturating_mul(10),
    };
    Ok(Some(TargetPrecision { percent, max_repeats: most }))
}

fn sampling(asked: Sampling) -> Result<Option<Sampling>, PlanError> {
    let share = |flag, value: Option<f64>| match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(PlanError::Number { flag, value: value.to_string(), reason: "is a share, from 0 to 1" })
        }
        _ => Ok(()),
    };
    share("--method-top-p", asked.top_p)?;
    share("--method-min-p", asked.min_p)?;
    match asked.temperature {
        Some(value) if !(value.is_finite() && value >= 0.0) => Err(PlanError::Number {
            flag: "--method-temperature",
            value: value.to_string(),
            reason: "no such temperature; 0 takes the likeliest token, 1 leaves the model's own spread",
        }),
        _ => Ok(Some(asked).filter(|asked| *asked != Sampling::default())),
    }
}

fn positive(flag: &'static str, numbers: Vec<i64>, reason: &'static str) -> Result<Vec<u64>, PlanError> {
    numbers
        .into_iter()
        .map(|number| match u64::try_from(number) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(PlanError::Number { flag, value: number.to_string(), reason }),
        })
        .collect()
}

/// A year: nobody waits longer, and instants further away cannot be told.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

fn seconds(flag: &'static str, value: f64) -> Result<Duration, PlanError> {
    let time = Duration::try_from_secs_f64(value).ok().filter(|time| *time <= LONGEST);
    time.ok_or_else(|| PlanError::Number {
        flag,
        value: value.to_string(),
        reason: "is no time that can be waited for; give seconds, from 0 to a year (31536000)",
    })
}

fn above_zero(flag: &'static str, value: f64, reason: &'static str) -> Result<Duration, PlanError> {
    let duration = seconds(flag, value)?;
    if duration.is_zero() { Err(PlanError::Number { flag, value: value.to_string(), reason }) } else { Ok(duration) }
}

fn twice<T: Copy + Eq + Hash>(things: &[T]) -> Option<T> {
    let mut seen = HashSet::new();
    things.iter().copied().find(|&thing| !seen.insert(thing))
}

/// exo's pauses, changed by what was given, left to right: `all=0 repeat=1` keeps one pause only.
fn read_pauses(given: &[String]) -> Result<Pauses, PlanError> {
    let mut pauses = Pauses::default();
    for setting in given {
        let wrong = || PlanError::Pause { given: setting.clone() };
        let (name, value) = setting.split_once('=').ok_or_else(wrong)?;
        let value: f64 = value.trim().parse().map_err(|_| wrong())?;
        let value = seconds("--pause", value)?.as_secs_f64();
        match name.trim() {
            "cleanup" => pauses.after_cleanup_s = value,
            "ready" => pauses.after_ready_s = value,
            "repeat" => pauses.before_repeat_s = value,
            "group" => pauses.after_group_s = value,
            "placement" => pauses.after_placement_s = value,
            "all" => {
                pauses = Pauses {
                    after_cleanup_s: value,
                    after_ready_s: value,
                    before_repeat_s: value,
                    after_group_s: value,
                    after_placement_s: value,
                };
            }
            _ => return Err(wrong()),
        }
    }
    Ok(pauses)
}

fn warnings(pp: &[u64], tg: &[u64], use_prefix_cache: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if tg.contains(&1) {
        warnings.push(
            "--tg 1: one token has no generation rate, the server reports 0 for it; those groups measure prefill only"
                .into(),
        );
    }
    if use_prefix_cache {
        warnings.push(
            "--use-prefix-cache: prefill rates are no measurements of whole prompts; a partial hit counts the rest of the \
             prompt alone, and an exact hit repeats the figure of the request that filled the cache"
                .into(),
        );
        if !pp.is_sorted() {
            warnings.push(
                "--use-prefix-cache with --pp not in ascending order: a shorter prompt after a longer one is found in the \
                 cache but for its last tokens, so that its prefill measures hardly anything"
                    .into(),
            );
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{InstanceMeta, Selection, Sharding, Streaming};

    fn asked(pp: &str, tg: &str) -> Asked {
        Asked {
            host: "localhost".into(),
            port: 52415,
            model: "m".into(),
            pp: vec![pp.into()],
            tg: vec![tg.into()],
            concurrency: vec!["1".into()],
            repeat: 1,
            target_precision: None,
            max_repeats: None,
            sessions: 1,
            warmup: 0,
            sampling: Sampling::default(),
            idle_baseline_s: 0.0,
            all_combinations: false,
            streaming: Streaming::Off,
            use_prefix_cache: false,
            selection: Selection {
                sharding: Sharding::Both,
                instance_meta: InstanceMeta::Both,
                min_nodes: 1,
                max_nodes: 4,
                skip_pipeline_jaccl: false,
                skip_tensor_ring: false,
            },
            settle_s: 60.0,
            idle_s: 7200.0,
            ready_s: 24000.0,
            stall_s: 600.0,
            pauses: vec![],
            metrics_interval_s: Some(1.0),
            dry_run: false,
            reuse_instance: false,
            delete_other_instances: false,
            keep_preview: true,
            tokenizer: None,
            atom: None,
            force_download: false,
            delete_downloads: false,
        }
    }

    fn sentence(asked: Asked) -> String {
        asked.check().unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_its_flag_and_value() {
        assert!(sentence(asked("64", "0")).starts_with("--tg 0: at least one token"));
        assert!(sentence(asked("-64", "8")).starts_with("--pp -64:"));
        assert!(sentence(Asked { repeat: 0, ..asked("64", "8") }).starts_with("--repeat 0:"));
        assert!(
            sentence(Asked { concurrency: vec!["2,0".into()], ..asked("64", "8") }).starts_with("--concurrency 0:")
        );
        assert!(sentence(Asked { idle_s: f64::NAN, ..asked("64", "8") }).starts_with("--timeout NaN"));
        assert!(
            sentence(Asked { metrics_interval_s: Some(0.0), ..asked("64", "8") }).starts_with("--metrics-interval 0")
        );
        assert!(sentence(Asked { host: "http://x".into(), ..asked("64", "8") }).starts_with("--host http://x"));
        assert!(sentence(Asked { host: String::new(), ..asked("64", "8") }).starts_with("--host is empty"));
        assert!(sentence(Asked { model: " ".into(), ..asked("64", "8") }).starts_with("--model is empty"));
        assert!(sentence(Asked { port: 0, ..asked("64", "8") }).starts_with("--port 0:"));
        assert!(sentence(Asked { sessions: 0, ..asked("64", "8") }).starts_with("--sessions 0:"));
        let reused = Asked { sessions: 2, reuse_instance: true, ..asked("64", "8") };
        assert!(sentence(reused).contains("do not go together"));
        let hot = Sampling { temperature: Some(-1.0), ..Sampling::default() };
        assert!(sentence(Asked { sampling: hot, ..asked("64", "8") }).starts_with("--method-temperature -1:"));
        assert!(sentence(asked("64", "9999999999999999999")).contains("9999999999999999999"));
    }

    #[test]
    fn the_same_group_twice_is_refused_but_the_same_length_in_two_pairs_is_not() {
        assert!(sentence(asked("64,64", "8")).contains("--pp 64 with --tg 8 is listed twice"));
        assert_eq!(asked("64,64", "8,16").check().unwrap().pairs.len(), 2);
    }

    #[test]
    fn a_precision_needs_repeats_to_be_known() {
        let precise = |percent, max_repeats| Asked { target_precision: percent, max_repeats, ..asked("64", "8") };
        let target = |asked: Asked| asked.check().unwrap().target_precision.map(|target| target.max_repeats);
        assert_eq!(target(precise(Some(2.0), None)), Some(30));
        assert_eq!(target(precise(Some(2.0), Some(5))), Some(5));
        assert_eq!(target(precise(None, None)), None);
        assert!(sentence(precise(Some(0.0), None)).starts_with("--target-precision 0:"));
        assert!(sentence(precise(Some(2.0), Some(2))).starts_with("--max-repeats 2:"));
        assert!(sentence(precise(None, Some(5))).contains("--target-precision, which is not given"));
    }

    #[test]
    fn pauses_are_read_from_left_to_right() {
        let plan = Asked { pauses: vec!["all=0".into(), "repeat=0.5".into()], ..asked("64", "8") }.check().unwrap();
        assert_eq!((plan.pauses.before_repeat_s, plan.pauses.after_group_s), (0.5, 0.0));
        assert!(sentence(Asked { pauses: vec!["naps=1".into()], ..asked("64", "8") }).contains("naps=1"));
        let sentence_of = |pause: &str| sentence(Asked { pauses: vec![pause.into()], ..asked("64", "8") });
        assert!(sentence_of("repeat=-1").starts_with("--pause -1: is no time that can be waited for"));
        assert!(sentence_of("all=1e300").contains("to a year"));
        assert!(
            sentence(Asked { ready_s: 1e19, ..asked("64", "8") }).starts_with("--ready-timeout 10000000000000000000:")
        );
        assert!(sentence(Asked { metrics_interval_s: Some(1e-9), ..asked("64", "8") }).contains("0.01 s or more"));
    }

    #[test]
    fn what_weakens_the_numbers_is_said_before_they_exist() {
        assert!(asked("64", "8").check().unwrap().warnings.is_empty());
        assert_eq!(asked("64", "1").check().unwrap().warnings.len(), 1);
        assert_eq!(Asked { use_prefix_cache: true, ..asked("128,64", "8") }.check().unwrap().warnings.len(), 2);
    }

    #[test]
    fn requests_are_counted_as_they_will_be_sent() {
        let plan = Asked { concurrency: vec!["1,2".into()], repeat: 3, ..asked("64,128", "8,16") }.check().unwrap();
        assert_eq!((plan.requests_per_placement(), plan.batches_per_placement()), (2 * 3 * 3, 2 * 2 * 3));
    }
}
