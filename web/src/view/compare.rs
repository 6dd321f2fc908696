//! Two files side by side.

use std::sync::Arc;

use analyzer::comparison::Comparison;
use analyzer::units::{ABSENT, percent};
use leptos::prelude::*;

use super::{App, parts};
use crate::state::Route;
use crate::view_model::compare::table;

pub(super) fn screen(app: App, base: u32, new: u32) -> impl IntoView {
    let both = Memo::new(move |_| app.analysis.report(base).is_some() && app.analysis.report(new).is_some());
    Effect::new(move |_| {
        if both.get() {
            app.analysis.compare(base, new);
        }
    });
    view! {
        <h1 class="visually-hidden">"Compare"</h1>
        <div class="tools">
            {side(app, "Base", "base", base, move |base| Route::Compare(base, new))}
            <button title="Swap base and new" aria-label="Swap base and new" on:click=move |_| app.go(Route::Compare(new, base))>"⇄"</button>
            {side(app, "New", "new", new, move |new| Route::Compare(base, new))}
        </div>
        {move || {
            let compared = app.analysis.compared.get().filter(|compared| (compared.base, compared.new) == (base, new));
            match compared.map(|compared| compared.outcome) {
                Some(Ok(comparison)) => whole(comparison).into_any(),
                Some(Err(reason)) => view! { <p class="refused" role="alert">{reason}</p> }.into_any(),
                None if both.get() => view! { <p class="status" role="status">"comparing …"</p> }.into_any(),
                None => view! {
                    <p class="status" role="status">"Both files must be loaded first. Drop them here, or choose them above."</p>
                }
                .into_any(),
            }
        }}
    }
}

fn side(
    app: App,
    name: &'static str,
    class: &'static str,
    chosen: u32,
    route: impl Fn(u32) -> Route + Copy + 'static,
) -> impl IntoView {
    let options = move || {
        let all = app.analysis.loaded();
        all.into_iter()
            .map(|(id, name)| view! { <option value=id.to_string() selected=id == chosen>{name}</option> })
            .collect_view()
    };
    view! {
        <label><span class=class>"▣ "</span> {name} " "
            <select on:change=move |event| {
                if let Ok(id) = event_target_value(&event).parse() {
                    app.go(route(id));
                }
            }>{options}</select>
        </label>
    }
}

fn whole(comparison: Arc<Comparison>) -> impl IntoView {
    let only_changed = RwSignal::new(false);
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
    let differs = (!comparison.residue.is_empty()).then(|| {
        view! { <h2>"Also differs"</h2><ul class="notices">{residue}</ul> }
    });
    let delta = format!(
        "A change below {} ({} for energy) does not matter here. The verdict asks for both: a change of that size, and a 95 % interval that excludes none.",
        percent(comparison.delta_percent),
        percent(comparison.delta_energy_percent),
    );
    view! {
        <p class="headline" data-headline="">
            {comparison.headline.clone()} " " {comparison.simulated.then(|| view! { <span class="tag">"simulated"</span> })}
        </p>
        {parts::notices(comparison.warnings.clone(), "warn")}
        <p class="quiet">{delta}</p>
        <div class="tools">
            <label><input type="checkbox" on:change=move |event| only_changed.set(event_target_checked(&event))/>" only what changed"</label>
        </div>
        {
            let comparison = comparison.clone();
            move || parts::table(table(&comparison, only_changed.get()))
        }
        {differs}
    }
}
