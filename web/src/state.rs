//! What the reader chose, as plain data, kept in the address behind `#`: `compare=1,2&delta=5&only=changed`.

use analyzer::metric::Metric;

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

/// How it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Choices {
    /// The smallest change of rates and times that matters, percent; the analyzer's own where it is absent.
    pub delta_percent: Option<f64>,
    /// The same for energy.
    pub delta_energy_percent: Option<f64>,
    /// Show only what changed.
    pub only_changed: bool,
    /// The metric of the chart of repeats.
    pub metric: Option<Metric>,
}

/// Reads what stands behind `#` in the address. What is not understood is as if it were not there.
#[must_use]
pub fn read(hash: &str) -> (Route, Choices) {
    let mut route = Route::default();
    let mut choices = Choices::default();
    for part in hash.trim_start_matches('#').split('&') {
        match part.split_once('=') {
            Some(("run", number)) => route = number.parse().map_or(Route::Library, Route::Run),
            Some(("compare", numbers)) => {
                let pair =
                    numbers.split_once(',').and_then(|(base, new)| Some((base.parse().ok()?, new.parse().ok()?)));
                route = pair.map_or(Route::Library, |(base, new)| Route::Compare(base, new));
            }
            Some(("delta", percent)) => choices.delta_percent = delta(percent),
            Some(("energy", percent)) => choices.delta_energy_percent = delta(percent),
            Some(("only", "changed")) => choices.only_changed = true,
            Some(("metric", id)) => choices.metric = serde_json::from_value(id.into()).ok(),
            _ => {}
        }
    }
    (route, choices)
}

/// What stands behind `#` in the address.
#[must_use]
pub fn hash(route: Route, choices: Choices) -> String {
    let mut parts = vec![match route {
        Route::Library => "library".to_owned(),
        Route::Run(file) => format!("run={file}"),
        Route::Compare(base, new) => format!("compare={base},{new}"),
    }];
    parts.extend(choices.delta_percent.map(|percent| format!("delta={percent}")));
    parts.extend(choices.delta_energy_percent.map(|percent| format!("energy={percent}")));
    parts.extend(choices.only_changed.then(|| "only=changed".to_owned()));
    parts.extend(choices.metric.map(|metric| format!("metric={}", crate::view_model::run::metric_id(metric))));
    parts.join("&")
}

/// A smallest change as a reader types it, percent: what the analyzer takes, else none.
#[must_use]
pub fn delta(text: &str) -> Option<f64> {
    text.trim().replace(',', ".").parse().ok().filter(|percent| *percent > 0.0 && *percent <= 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_again_what_was_chosen() {
        let some = Choices {
            delta_percent: Some(2.5),
            delta_energy_percent: Some(10.0),
            only_changed: true,
            metric: Some(Metric::PrefillTps),
        };
        for route in [Route::Library, Route::Run(3), Route::Compare(2, 1)] {
            for choices in [Choices::default(), some] {
                assert_eq!(read(&format!("#{}", hash(route, choices))), (route, choices));
            }
        }
        assert_eq!(hash(Route::Compare(2, 1), Choices::default()), "compare=2,1", "the usual is not spelt out");
    }

    #[test]
    fn what_is_not_understood_is_as_if_it_were_not_there() {
        for nonsense in ["", "#", "#run=x", "#compare=1", "#compare=1,", "#else=1", "#delta=0", "#delta=x&metric=speed"]
        {
            assert_eq!(read(nonsense), (Route::Library, Choices::default()), "{nonsense}");
        }
    }

    #[test]
    fn a_delta_is_a_size() {
        assert_eq!(
            (delta(" 2,5 "), delta("3"), delta("0"), delta("-1"), delta("NaN")),
            (Some(2.5), Some(3.0), None, None, None)
        );
    }
}
