//! The prompts of a plan: the tokenizer is found, or fetched, and every length is made before the cluster is touched.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use analyzer::record::TokenizerIdentity;

use super::measure::Prompts;
use super::trouble::BenchError;
use crate::capture::cluster::Cluster;
use crate::endpoint::exo::models::Model;
use crate::plan::Plan;
use crate::workload::{Otherwise, PromptSizer, Tokenizer, obtain};

/// What the tokenizer gave.
pub struct Prepared {
    /// Which tokenizer it was.
    pub identity: TokenizerIdentity,
    /// The prompts by their number of tokens.
    pub prompts: Prompts,
    /// What a reader must know of the prompts.
    pub notices: Vec<String>,
}

/// The prompts, made on a thread of their own: a hub may take its time, and Ctrl-C shall be heard meanwhile.
///
/// # Errors
/// No tokenizer can be had, or a length cannot be made with it.
pub async fn prepared(plan: &Plan, model: &Model, cluster: &Cluster) -> Result<Prepared, BenchError> {
    let (plan, model_id, interrupt) = (plan.clone(), model.id.clone(), cluster.interrupt.clone());
    let making = tokio::task::spawn_blocking(move || prompts(&plan, &model_id, &|| interrupt.why().is_none()));
    match cluster.interrupt.unless(making).await? {
        Ok(made) => made,
        Err(stopped) => Err(BenchError::Defect(stopped.to_string())),
    }
}

/// Every prompt of the plan, made before the cluster is touched: what cannot be made is said then.
fn prompts(plan: &Plan, model_id: &str, go_on: &dyn Fn() -> bool) -> Result<Prepared, BenchError> {
    let found = obtain(model_id, plan.tokenizer.as_deref(), &|name| std::env::var_os(name), go_on)?;
    let tokenizer = Arc::new(Tokenizer::load_for(&found.folder, model_id)?);
    let identity = tokenizer.identity(&found.source, plan.first_atom());
    // An atom that somebody chose is not exchanged for another one.
    let otherwise = if plan.atom.is_none() { Otherwise::TryOthers } else { Otherwise::Refuse };
    let sizer = PromptSizer::new(tokenizer, plan.first_atom(), otherwise)?;
    let (mut prompts, mut notices) = (Prompts::new(), Vec::new());
    for pair in &plan.pairs {
        if let Entry::Vacant(place) = prompts.entry(pair.pp) {
            let prompt = sizer.build(pair.pp)?;
            if prompt.atom != plan.first_atom() {
                notices.push(format!(
                    "the prompt of {} tokens repeats {:?}, because {:?} cannot make exactly as many with this tokenizer; \
                     it is not the beginning of the other prompts",
                    prompt.tokens,
                    prompt.atom,
                    plan.first_atom()
                ));
            }
            place.insert(Arc::new(prompt));
        }
    }
    Ok(Prepared { identity, prompts, notices })
}
