//! The error of an energy against the simulator's own account.

use super::Line;

pub(crate) fn measure(_quick: bool) -> Vec<Line> {
    Vec::new()
}
