//! Two files side by side.

use std::sync::Arc;

use analyzer::comparison::Comparison;
use analyzer::units::ABSENT;
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use super::{App, parts};
use crate::state::{self, Choices, Route};
use crate::view_model::compare::{over_all, table};

pub(super) fn screen(app: App, base: u32, new: u32) -> impl IntoView {
    let both = Memo::new(move |_| app.analysis.report(base).zip(app.analysis.report(new)));
    Effect::new(move |_| {
        let choices = app.choices.get();
        if both.with(Option::is_some) {
            app.analysis.compare(base, new, choices.delta_percent, choices.delta_energy_percent);
        }
    });
    view! {
        <h1 class="visually-hidden">"Compare"</h1>
        <div class="tools">
            <label><span class="base">"▣ "</span> "Base " {parts::file_choice(app, base, move |base| Route::Compare(base, new))}</label>
            <button title="Swap base and new (x)" aria-label="Swap base and new" on:click=move |_| app.go(Route::Compare(new, base))>"⇄"</button>
            <label><span class="new">"▣ "</span> "New " {parts::file_choice(app, new, move |new| Route::Compare(base, new))}</label>
        </div>
        {move || {
            let compared = app.analysis.compared.get().filter(|compared| (compared.base, compared.new) == (base, new));
            match compared.map(|compared| compared.outcome) {
                Some(Ok(comparison)) => whole(app, comparison).into_any(),
                Some(Err(reason)) => view! { <p class="refused" role="alert">{reason}</p> }.into_any(),
                None if both.with(Option::is_some) => view! { <p class="status" role="status">"comparing …"</p> }.into_any(),
                None => view! {
                    <p class="status" role="status">"Both files must be loaded first. Drop them here, or choose them above."</p>
                }
                .into_any(),
            }
        }}
        {move || both.get().map(|(base, new)| parts::repeats(app, vec![base, new]))}
    }
}

fn whole(app: App, comparison: Arc<Comparison>) -> impl IntoView {
    let residue = comparison
        .residue
        .iter()
        .map(|difference| {
            let value = |value: &Option<String>| value.clone().unwrap_or_else(|| ABSENT.to_owned());
            view! {
                <li data-residue=difference.key.clone()>
                    {difference.name.clone()} ": " <span class="base">{value(&difference.base)}</span> " → "
                    <span class="new">{value(&difference.new)}</span>
                </li>
            }
        })
        .collect_view();
    let comparison_of_all = Arc::clone(&comparison);
    let differs = (!comparison.residue.is_empty()).then(|| {
        view! { <h2>"Also differs"</h2><ul class="residue">{residue}</ul> }
    });
    view! {
        <p class="headline" data-headline="">
            {comparison.headline.clone()} " " {comparison.simulated.then(|| view! { <span class="tag">"simulated"</span> })}
        </p>
        {parts::notices(comparison.warnings.clone(), "warn")}
        {differs}
        <div class="tools choices">
            {delta(app, "δ", "delta", comparison.delta_percent, |choices, delta| choices.delta_percent = delta)}
            {delta(app, "δ energy", "delta-energy", comparison.delta_energy_percent, |choices, delta| choices.delta_energy_percent = delta)}
            <label>
                <input
                    type="checkbox"
                    prop:checked=move || app.choices.get().only_changed
                    on:change=move |event| {
                        let only = event_target_checked(&event);
                        app.choose(|choices| choices.only_changed = only);
                    }
                />
                " only what changed"
            </label>
        </div>
        <p class="quiet">
            "δ is the smallest change that matters, a factor: 3 % are +3.0 % and back, which is −2.9 %. Improved and regressed ask for both: a change of that size, and a p below 0.05 after adjusting for all that is judged."
        </p>
        {
            let only = Memo::new(move |_| app.choices.get().only_changed);
            move || {
                let table = table(&comparison, only.get());
                if table.rows.is_empty() {
                    return view! { <p class="status" role="status">"No change was found. Rows that cannot tell, or were not compared, are shown without this filter."</p> }.into_any();
                }
                parts::table(table).into_any()
            }
        }
        {over_all(&comparison_of_all).map(|table| view! { <section data-geomean="">{parts::table(table)}</section> })}
    }
}

/// A field for a smallest change that matters. What is no size is put back to what is in use.
fn delta(
    app: App,
    name: &'static str,
    id: &'static str,
    used: f64,
    set: fn(&mut Choices, Option<f64>),
) -> impl IntoView {
    view! {
        <label title="the smallest change that matters, percent">{name} " "
            <input type="text" inputmode="decimal" class="short" id=id value=used.to_string() on:change=move |event| {
                match state::delta(&event_target_value(&event)) {
                    Some(percent) => app.choose(|choices| set(choices, Some(percent))),
                    None => event_target::<HtmlInputElement>(&event).set_value(&used.to_string()),
                }
            }/>
            " %"
        </label>
    }
}
