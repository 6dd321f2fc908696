//! One session: the whole plan once, placement after placement, each on an instance of its own.

use std::collections::BTreeSet;

use super::done::{BatchKey, Done};
use super::lifecycle;
use super::measure::{Bench, Prompts};
use super::offer::{self, Placement};
use super::planning::{self, Stock};
use super::trouble::BenchError;
use crate::capture::cluster::{Cluster, ClusterError};
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::models::Model;
use crate::plan::Plan;

/// A run under way.
pub struct Run<'a> {
    cluster: &'a Cluster,
    plan: &'a Plan,
    model: &'a Model,
    prompts: &'a Prompts,
    done: &'a Done,
    stock: Stock,
    /// Instances that this run made: one that is slow to go is nobody else's.
    own: BTreeSet<String>,
    counted_otherwise: BTreeSet<u64>,
    /// Placements that could not be measured.
    pub failed: usize,
    placed: usize,
}

impl<'a> Run<'a> {
    /// A run before its first session; what an earlier start measured is `done`.
    #[must_use]
    pub fn new(cluster: &'a Cluster, plan: &'a Plan, model: &'a Model, prompts: &'a Prompts, done: &'a Done) -> Self {
        Self {
            cluster,
            plan,
            model,
            prompts,
            done,
            stock: Stock::default(),
            own: BTreeSet::new(),
            counted_otherwise: BTreeSet::new(),
            failed: 0,
            placed: 0,
        }
    }

    /// Measures an instance that was there; it is left as it is.
    ///
    /// # Errors
    /// The run shall stop, or the cluster is gone.
    pub async fn reused(&mut self, recorder: &mut Recorder, placement: &Placement) -> Result<(), BenchError> {
        self.snapshot(recorder).await?;
        recorder.record(planned(self.plan, std::slice::from_ref(placement)));
        recorder.record(placement_started(placement, 1));
        self.bench(placement, 0).run(recorder).await?;
        recorder.record(Event::PlacementEnded);
        Ok(())
    }

    /// The whole plan once, on instances of its own.
    ///
    /// # Errors
    /// Whatever ends the run before its end.
    pub async fn session(&mut self, recorder: &mut Recorder, session: u32) -> Result<(), BenchError> {
        let plan = self.plan;
        // Asked again for each session: every offer has new ids, and an instance's id is used once.
        let placements = offer::settle(self.cluster, plan, self.model).await?;
        if session == 0 {
            recorder.record(planned(plan, &placements));
            placements.iter().filter_map(Placement::mislabelled).for_each(|words| recorder.notice(words));
            if let Some(first) = placements.first() {
                planning::prepare(self.cluster, recorder, plan, self.model, first, &mut self.stock).await?;
            }
            self.snapshot(recorder).await?;
        }
        for placement in &placements {
            if self.is_done(placement, session) {
                continue;
            }
            if self.placed > 0 {
                self.cluster.interrupt.pause(plan.pauses.after_placement_s).await?;
            }
            self.placed += 1;
            self.placement(recorder, placement, session).await?;
        }
        Ok(())
    }

    /// Whether an earlier start measured all of a placement.
    fn is_done(&self, placement: &Placement, session: u32) -> bool {
        self.plan.target_precision.is_none()
            && self.plan.pairs.iter().all(|&pair| {
                self.plan.concurrency.iter().all(|&concurrency| {
                    (0..self.plan.repeat).all(|repeat| {
                        let key = BatchKey::new(session, placement, pair, concurrency, repeat);
                        self.done.rates(&key).is_some()
                    })
                })
            })
    }

    /// Makes the instance, measures it, removes it.
    async fn placement(
        &mut self,
        recorder: &mut Recorder,
        placement: &Placement,
        session: u32,
    ) -> Result<(), BenchError> {
        let (cluster, plan) = (self.cluster, self.plan);
        let prepared = planning::prepare(cluster, recorder, plan, self.model, placement, &mut self.stock).await;
        if let Err(error @ (BenchError::Download { .. } | BenchError::Disk { .. })) = prepared {
            self.give_up(recorder, placement, &error);
            return Ok(());
        }
        prepared?;
        lifecycle::clear(cluster, recorder, plan, &self.own).await?;
        self.own.insert(placement.instance.id.clone());
        recorder.record(placement_started(placement, self.placed));
        let outcome = match lifecycle::create(cluster, placement).await {
            // Refused for certain: there is nothing to remove, and nothing to wait for.
            Err(error) if is_refusal(&error) => Err(error),
            created => {
                let outcome = match created {
                    Ok(()) => one_placement(&mut self.bench(placement, session), recorder).await,
                    Err(error) => Err(error),
                };
                // Also when it was not made for certain: a request that was cut off may have arrived.
                lifecycle::remove(cluster, recorder, &placement.instance).await;
                outcome
            }
        };
        recorder.record(Event::PlacementEnded);
        match outcome {
            Ok(()) => Ok(()),
            Err(error) if goes_on(&error) => {
                self.give_up(recorder, placement, &error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn give_up(&mut self, recorder: &mut Recorder, placement: &Placement, error: &BenchError) {
        self.failed += 1;
        let how_far = if matches!(error, BenchError::Gone { .. }) { "not measured to its end" } else { "not measured" };
        recorder.notice(format!("placement {} was {how_far}: {error}", placement.words()));
    }

    async fn snapshot(&self, recorder: &mut Recorder) -> Result<(), BenchError> {
        if let Some(snapshot) = planning::snapshot(self.cluster).await? {
            recorder.record(Event::Cluster { cluster: Box::new(snapshot) });
        }
        Ok(())
    }

    fn bench<'b>(&'b mut self, placement: &'b Placement, session: u32) -> Bench<'b> {
        Bench {
            cluster: self.cluster,
            plan: self.plan,
            model: self.model,
            prompts: self.prompts,
            placement,
            session,
            download_duration_s: self.stock.download_duration_s,
            done: self.done,
            counted_otherwise: &mut self.counted_otherwise,
        }
    }
}

/// Whether the cluster understood and said no. A status of 500 or above tells nothing about what was done before.
const fn is_refusal(error: &BenchError) -> bool {
    matches!(error, BenchError::Cluster(ClusterError::Refused { status: 400..500, .. }))
}

/// A placement that the cluster refuses or cannot load says nothing about the next one; a cluster that is gone does.
const fn goes_on(error: &BenchError) -> bool {
    matches!(
        error,
        BenchError::NotReady { .. } | BenchError::Gone { .. } | BenchError::Cluster(ClusterError::Refused { .. })
    )
}

async fn one_placement(bench: &mut Bench<'_>, recorder: &mut Recorder) -> Result<(), BenchError> {
    let (cluster, plan) = (bench.cluster, bench.plan);
    lifecycle::wait_ready(cluster, recorder, plan, &bench.placement.instance).await?;
    cluster.interrupt.pause(plan.pauses.after_ready_s).await?;
    bench.run(recorder).await
}

fn planned(plan: &Plan, placements: &[Placement]) -> Event {
    let count = placements.len() as u64 * u64::from(plan.sessions);
    Event::Planned {
        placements: placements.iter().map(Placement::words).collect(),
        requests: plan.requests_per_placement() * count,
        batches: plan.batches_per_placement() * count,
    }
}

fn placement_started(placement: &Placement, number: usize) -> Event {
    Event::PlacementStarted { placement: placement.words(), number, instance_id: placement.instance.id.clone() }
}
