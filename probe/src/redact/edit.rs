//! A text in the making, and where each place of the old one went.

/// The new text.
#[derive(Debug, Default)]
pub(super) struct Edit {
    pub(super) text: String,
    old: usize,
    /// Ends of pieces: in the old text, in the new one.
    ends: Vec<(usize, usize)>,
}

impl Edit {
    /// Takes a piece over.
    pub(super) fn keep(&mut self, piece: &str) {
        self.replace(piece.len(), piece);
    }

    /// Puts another piece in place of so many bytes.
    pub(super) fn replace(&mut self, old: usize, new: &str) {
        self.old += old;
        self.text.push_str(new);
        self.ends.push((self.old, self.text.len()));
    }

    /// Where a place of the old text is now. Within a piece that changed its length: at its end.
    pub(super) fn moved(&self, place: usize) -> usize {
        let next = self.ends.partition_point(|&(old, _)| old < place);
        let Some(&(old, new)) = self.ends.get(next) else { return self.text.len() };
        let (before_old, before_new) = if next == 0 { (0, 0) } else { self.ends[next - 1] };
        if old - before_old == new - before_new { before_new + (place - before_old) } else { new }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_with_the_text() {
        let mut edit = Edit::default();
        edit.keep("ab");
        edit.replace(4, "x");
        edit.keep("cd");
        assert_eq!(edit.text, "abxcd");
        assert_eq!([0, 1, 2, 3, 6, 7, 8].map(|place| edit.moved(place)), [0, 1, 2, 3, 3, 4, 5]);
    }
}
