//! How many things of each kind there were, so that a fault strikes when it shall.

use super::{AnswerFault, DownloadFault, Fault, InstanceFault};

/// Counts of what faults are counted by.
#[derive(Debug, Default)]
pub(in crate::simulate) struct Tally {
    answers: u64,
    instances: u64,
    downloads: u64,
    deletions: u64,
    polls: u64,
}

impl Tally {
    /// A bench request comes; the first fault of the list that strikes it.
    pub(in crate::simulate) fn answer(&mut self, faults: &[Fault]) -> Option<AnswerFault> {
        self.answers += 1;
        faults.iter().find_map(|fault| match *fault {
            Fault::Answer(fault, when) if when.strikes(self.answers) => Some(fault),
            _ => None,
        })
    }

    /// An instance is posted.
    pub(in crate::simulate) fn instance(&mut self, faults: &[Fault]) -> Option<InstanceFault> {
        self.instances += 1;
        faults.iter().find_map(|fault| match *fault {
            Fault::Instance(fault, when) if when.strikes(self.instances) => Some(fault),
            _ => None,
        })
    }

    /// A download is started.
    pub(in crate::simulate) fn download(&mut self, faults: &[Fault]) -> Option<DownloadFault> {
        self.downloads += 1;
        faults.iter().find_map(|fault| match *fault {
            Fault::Download(fault, when) if when.strikes(self.downloads) => Some(fault),
            _ => None,
        })
    }

    /// An instance shall be deleted; whether that is refused.
    pub(in crate::simulate) fn deletion_is_refused(&mut self, faults: &[Fault]) -> bool {
        self.deletions += 1;
        faults.iter().any(|fault| matches!(*fault, Fault::DeleteRefused(first) if self.deletions <= first))
    }

    /// A runner is asked after; whether that fails.
    pub(in crate::simulate) fn poll_fails(&mut self, faults: &[Fault]) -> bool {
        self.polls += 1;
        faults.iter().any(|fault| matches!(*fault, Fault::PollFails(first) if self.polls <= first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::fault::When;

    #[test]
    fn the_first_fault_that_strikes_counts_and_each_kind_is_counted_by_itself() {
        let faults = [
            Fault::Answer(AnswerFault::Hang, When::Between(2, 2)),
            Fault::Answer(AnswerFault::Reset, When::Always),
            Fault::DeleteRefused(1),
        ];
        let mut tally = Tally::default();
        assert!(tally.deletion_is_refused(&faults) && !tally.deletion_is_refused(&faults));
        let struck = [(); 3].map(|()| tally.answer(&faults));
        assert_eq!(struck, [AnswerFault::Reset, AnswerFault::Hang, AnswerFault::Reset].map(Some));
        assert_eq!(tally.instance(&faults), None);
    }
}
