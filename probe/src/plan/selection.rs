//! Which of the offered placements are measured.

/// How the model is split over nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Sharding {
    /// Layers after layers.
    Pipeline,
    /// Each layer over all nodes.
    Tensor,
    /// Either.
    Both,
}

/// How nodes talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum InstanceMeta {
    /// TCP in a ring.
    Ring,
    /// RDMA over Thunderbolt.
    Jaccl,
    /// Either.
    Both,
}

/// The placements that are wanted. Labels are what was asked of the server, not always what it built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// How the model is split.
    pub sharding: Sharding,
    /// How nodes talk.
    pub instance_meta: InstanceMeta,
    /// Fewest nodes, 1 or more.
    pub min_nodes: u32,
    /// Most nodes.
    pub max_nodes: u32,
    /// Leave out pipelines over jaccl; counts only where both selectors are `both`, as in exo's client.
    pub skip_pipeline_jaccl: bool,
    /// Leave out tensor sharding over the ring; counts only where both selectors are `both`.
    pub skip_tensor_ring: bool,
}

impl Selection {
    /// Whether a placement with these labels on so many nodes is wanted.
    ///
    /// One node needs neither tensor sharding nor jaccl: exo then builds the very same pipeline over a ring under
    /// another label, so those are left out unless they were asked for by name.
    #[must_use]
    pub fn wants(&self, sharding: &str, instance_meta: &str, nodes: u32) -> bool {
        let (sharding, meta) = (sharding.to_lowercase(), instance_meta.to_lowercase());
        let (tensor, jaccl) = (sharding.contains("tensor"), meta.contains("jaccl"));
        let any_sharding = self.sharding == Sharding::Both;
        let any_meta = self.instance_meta == InstanceMeta::Both;
        let sharding_fits = match self.sharding {
            Sharding::Both => true,
            Sharding::Pipeline => sharding.contains("pipeline"),
            Sharding::Tensor => tensor,
        };
        let meta_fits = match self.instance_meta {
            InstanceMeta::Both => true,
            InstanceMeta::Ring => meta.contains("ring"),
            InstanceMeta::Jaccl => jaccl,
        };
        let relabelled = nodes == 1 && ((any_sharding && tensor) || (any_meta && jaccl));
        let skipped = any_sharding
            && any_meta
            && ((self.skip_pipeline_jaccl && sharding.contains("pipeline") && jaccl)
                || (self.skip_tensor_ring && tensor && meta.contains("ring")));
        sharding_fits && meta_fits && !relabelled && !skipped && (self.min_nodes..=self.max_nodes).contains(&nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Selection = Selection {
        sharding: Sharding::Both,
        instance_meta: InstanceMeta::Both,
        min_nodes: 1,
        max_nodes: 4,
        skip_pipeline_jaccl: false,
        skip_tensor_ring: false,
    };

    #[test]
    fn one_node_is_measured_once_unless_asked_by_name() {
        assert!(ALL.wants("Pipeline", "MlxRing", 1));
        assert!(!ALL.wants("Tensor", "MlxRing", 1));
        assert!(!ALL.wants("Pipeline", "MlxJaccl", 1));
        assert!(Selection { sharding: Sharding::Tensor, ..ALL }.wants("Tensor", "MlxRing", 1));
        assert!(ALL.wants("Tensor", "MlxJaccl", 2));
    }

    #[test]
    fn skipping_counts_only_where_everything_is_wanted() {
        let skipping = Selection { skip_pipeline_jaccl: true, skip_tensor_ring: true, ..ALL };
        assert!(!skipping.wants("Pipeline", "MlxJaccl", 2));
        assert!(!skipping.wants("Tensor", "MlxRing", 2));
        assert!(skipping.wants("Tensor", "MlxJaccl", 2));
        assert!(Selection { sharding: Sharding::Tensor, ..skipping }.wants("Tensor", "MlxRing", 2));
    }

    #[test]
    fn the_number_of_nodes_is_bounded_on_both_sides() {
        let two = Selection { min_nodes: 2, max_nodes: 2, ..ALL };
        assert!(!two.wants("Pipeline", "MlxRing", 1));
        assert!(two.wants("Pipeline", "MlxRing", 2));
        assert!(!two.wants("Pipeline", "MlxRing", 3));
    }
}
