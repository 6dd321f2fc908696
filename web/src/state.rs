//! What the reader chose, as plain data, kept in the address behind `#`.

/// What is looked at. Numbers are the page's own for files, in the order of loading, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route {
    /// The list of loaded files.
    #[default]
    Library,
    /// One file.
    Run(u32),
    /// Two files side by side: base, new.
    Compare(u32, u32),
}

impl Route {
    /// Reads what stands behind `#` in the address; the library for all that is not understood.
    #[must_use]
    pub fn read(hash: &str) -> Self {
        let hash = hash.trim_start_matches('#');
        match hash.split_once('=') {
            Some(("run", number)) => number.parse().map_or(Self::Library, Self::Run),
            Some(("compare", numbers)) => numbers
                .split_once(',')
                .and_then(|(base, new)| Some(Self::Compare(base.parse().ok()?, new.parse().ok()?)))
                .unwrap_or_default(),
            _ => Self::Library,
        }
    }

    /// What stands behind `#` in the address.
    #[must_use]
    pub fn hash(self) -> String {
        match self {
            Self::Library => "library".into(),
            Self::Run(file) => format!("run={file}"),
            Self::Compare(base, new) => format!("compare={base},{new}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_again_what_was_chosen() {
        for route in [Route::Library, Route::Run(3), Route::Compare(2, 1)] {
            assert_eq!(Route::read(&format!("#{}", route.hash())), route);
        }
        for nonsense in ["", "#", "#run=x", "#compare=1", "#compare=1,", "#else=1"] {
            assert_eq!(Route::read(nonsense), Route::Library, "{nonsense}");
        }
    }
}
