//! Texts that many rows repeat, each kept once.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::record::Run;

/// The texts of the rows so far.
#[derive(Default)]
pub(super) struct Shared(BTreeSet<Arc<str>>);

impl Shared {
    /// Lets a row share its texts with earlier ones.
    pub(super) fn share(&mut self, run: &mut Run) {
        for text in run.common_texts() {
            match self.0.get(text) {
                Some(known) => *text = Arc::clone(known),
                None => {
                    self.0.insert(Arc::clone(text));
                }
            }
        }
    }
}
