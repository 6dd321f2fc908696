//! Which placements the cluster offers, and which of them are measured, in exo's order.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::trouble::BenchError;
use crate::capture::cluster::Cluster;
use crate::endpoint::exo::models::{self, Model};
use crate::endpoint::exo::placement::{self, Instance, Preview};
use crate::endpoint::exo::query_value;
use crate::plan::{InstanceMeta, Plan, Selection, Sharding};

/// A placement that will be measured: exo's labels, and the instance that stands behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// "Pipeline", "Tensor", or "reused".
    pub sharding: String,
    /// "MlxRing", "MlxJaccl", or "reused".
    pub instance_meta: String,
    /// Nodes, as exo's rows count them: 0 where an instance is reused.
    pub nodes: u32,
    /// The instance.
    pub instance: Instance,
}

impl Placement {
    /// The labels, as exo's client prints them.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} / {} / nodes={}", self.sharding, self.instance_meta, self.nodes)
    }
}

impl Placement {
    /// What was really offered where the labels say something else; none where they are right. On one node exo builds a
    /// pipeline over a ring whatever was asked for, and keeps the labels of the question.
    #[must_use]
    pub fn mislabelled(&self) -> Option<String> {
        let actual = self.instance.actual()?;
        let shard = actual.shard.as_deref().and_then(|tag| tag.strip_suffix("ShardMetadata"));
        let meta = actual.instance.strip_suffix("Instance");
        let wrong =
            shard.is_some_and(|shard| shard != self.sharding) || meta.is_some_and(|meta| meta != self.instance_meta);
        (wrong && self.sharding != "reused").then(|| {
            format!(
                "the placement labelled {} is really {} / {} / nodes={}, as its instance says",
                self.words(),
                shard.unwrap_or("?"),
                meta.unwrap_or("?"),
                actual.nodes.len()
            )
        })
    }
}

/// Finds the model that the user named; where the plan says so, the cluster is asked to learn one that it does not know.
///
/// # Errors
/// The cluster does not answer, knows no such model, or cannot learn it.
pub async fn resolve(cluster: &Cluster, plan: &Plan) -> Result<Model, BenchError> {
    let known = models::read(&cluster.get("/models").await?)?;
    if let Some(model) = models::find(&known, &plan.model) {
        return Ok(model.clone());
    }
    if plan.force_download && plan.model.contains('/') && !plan.dry_run {
        cluster.post("/models/add", &json!({"model_id": plan.model})).await?;
        // The answer is the model; asking the list again shows that the cluster really knows it now.
        let known = models::read(&cluster.get("/models").await?)?;
        if let Some(model) = models::find(&known, &plan.model) {
            return Ok(model.clone());
        }
    }
    let near = models::near(&known, &plan.model);
    Err(BenchError::UnknownModel {
        address: cluster.address.to_string(),
        model: plan.model.clone(),
        near: match near.as_slice() {
            [] if known.len() <= 12 => {
                let names: Vec<&str> = known.iter().map(|model| model.name.as_str()).collect();
                format!("; it knows {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
            }
            [] => format!("; GET /models lists the {} that it knows", known.len()),
            near => format!("; did you mean {}?", near.join(", ")),
        } + if plan.model.contains('/') && !plan.force_download {
            " (--force-download lets it learn the id)"
        } else {
            ""
        },
    })
}

/// Asks for placements until one fits, backing off 1, 2, 4 … s, up to 60 s apart, as exo's client does.
///
/// # Errors
/// None fits within the plan's time to settle.
pub async fn settle(cluster: &Cluster, plan: &Plan, model: &Model) -> Result<Vec<Placement>, BenchError> {
    let target = format!("/instance/previews?model_id={}", query_value(&model.id));
    let deadline = Instant::now() + plan.deadlines.settle;
    let mut wait = Duration::from_secs(1);
    loop {
        let previews = placement::read(&cluster.get(&target).await?)?;
        let chosen = choose(&previews, &plan.selection);
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(BenchError::NoPlacement {
                model: model.id.clone(),
                wanted: wanted(&plan.selection),
                said: said(&previews),
            });
        }
        cluster.interrupt.pause(wait.min(left).as_secs_f64()).await?;
        wait = (wait * 2).min(Duration::from_secs(60));
    }
}

/// The placements that are wanted: rings before jaccl, tensor before pipeline, most nodes first; exo's client sorts the
/// labels downwards.
fn choose(previews: &[Preview], selection: &Selection) -> Vec<Placement> {
    let mut chosen: Vec<Placement> = previews
        .iter()
        .filter_map(|preview| {
            let instance = preview.offer.as_ref().ok()?;
            selection.wants(&preview.sharding, &preview.instance_meta, instance.nodes()).then(|| Placement {
                sharding: preview.sharding.clone(),
                instance_meta: preview.instance_meta.clone(),
                nodes: instance.nodes(),
                instance: instance.clone(),
            })
        })
        .collect();
    chosen.sort_by(|one, other| {
        (&other.instance_meta, &other.sharding, other.nodes).cmp(&(&one.instance_meta, &one.sharding, one.nodes))
    });
    chosen
}

fn wanted(selection: &Selection) -> String {
    let sharding = match selection.sharding {
        Sharding::Pipeline => "pipeline",
        Sharding::Tensor => "tensor",
        Sharding::Both => "both",
    };
    let meta = match selection.instance_meta {
        InstanceMeta::Ring => "ring",
        InstanceMeta::Jaccl => "jaccl",
        InstanceMeta::Both => "both",
    };
    format!(
        "--sharding {sharding} --instance-meta {meta} --min-nodes {} --max-nodes {}",
        selection.min_nodes, selection.max_nodes
    )
}

/// What the cluster offers instead, and why it cannot build the others, each reason once.
fn said(previews: &[Preview]) -> String {
    let mut offers: Vec<String> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for preview in previews {
        let (list, words) = match &preview.offer {
            Ok(instance) => {
                (&mut offers, format!("{}/{} on {}", preview.sharding, preview.instance_meta, instance.nodes()))
            }
            Err(reason) => (&mut reasons, format!("{}/{}: {reason}", preview.sharding, preview.instance_meta)),
        };
        if !list.contains(&words) {
            list.push(words);
        }
    }
    match (offers.is_empty(), reasons.is_empty()) {
        (true, true) => {
            "; the cluster offers none at all: has it found its nodes yet? --settle-timeout waits longer".into()
        }
        (true, false) => format!("; the cluster says: {}", reasons.join("; ")),
        (false, true) => format!("; it offers {}", offers.join(", ")),
        (false, false) => format!("; it offers {}, and says: {}", offers.join(", "), reasons.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn preview(sharding: &str, meta: &str, nodes: usize) -> serde_json::Value {
        let ids: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
        let runners: serde_json::Map<_, _> = ids.iter().map(|id| (id.clone(), json!(format!("r{id}")))).collect();
        let shards: serde_json::Map<_, _> =
            ids.iter().map(|id| (format!("r{id}"), json!({"PipelineShardMetadata": {"deviceRank": 0}}))).collect();
        json!({"sharding": sharding, "instance_meta": meta, "error": null, "instance": {"MlxRingInstance": {
            "instanceId": format!("{sharding}{meta}{nodes}"),
            "shardAssignments": {"modelId": "m", "runnerToShard": shards, "nodeToRunner": runners}}}})
    }

    #[test]
    fn placements_are_measured_in_exos_order() {
        let previews = json!({"previews": [
            preview("Pipeline", "MlxRing", 1), preview("Pipeline", "MlxJaccl", 2), preview("Tensor", "MlxRing", 2),
            preview("Pipeline", "MlxRing", 2), preview("Tensor", "MlxRing", 1),
            {"sharding": "Tensor", "instance_meta": "MlxJaccl", "instance": null, "error": "no RDMA"},
        ]});
        let previews = placement::read(&previews).unwrap();
        let all = Selection {
            sharding: Sharding::Both,
            instance_meta: InstanceMeta::Both,
            min_nodes: 1,
            max_nodes: 4,
            skip_pipeline_jaccl: false,
            skip_tensor_ring: false,
        };
        let words: Vec<String> = choose(&previews, &all).iter().map(Placement::words).collect();
        assert_eq!(
            words,
            [
                "Tensor / MlxRing / nodes=2",
                "Pipeline / MlxRing / nodes=2",
                "Pipeline / MlxRing / nodes=1",
                "Pipeline / MlxJaccl / nodes=2",
            ]
        );
        assert!(said(&previews).contains("Tensor/MlxJaccl: no RDMA"));
    }
}
