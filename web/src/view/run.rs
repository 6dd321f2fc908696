//! One file: facts, a table per cell, the repeats, power over time, failures.

use std::sync::Arc;

use analyzer::metric::Metric;
use analyzer::summary::FileReport;
use leptos::prelude::*;

use super::{App, parts};
use crate::state::Route;
use crate::view_model::{picture, run};

pub(super) fn screen(app: App, file: u32) -> impl IntoView {
    move || {
        match app.analysis.report(file) {
        Some(report) => view! { {choice(app, file)} {whole(report)} }.into_any(),
        None => view! {
            <h1>"Run"</h1>
            <p class="status" role="status">"This file is not loaded (yet). Drop it here, or choose one in the library."</p>
        }
        .into_any(),
    }
    }
}

fn choice(app: App, file: u32) -> impl IntoView {
    let options = move || {
        let all = app.analysis.loaded();
        all.into_iter()
            .map(|(id, name)| view! { <option value=id.to_string() selected=id == file>{name}</option> })
            .collect_view()
    };
    view! {
        <div class="tools">
            <label>"File "
                <select on:change=move |event| {
                    if let Ok(id) = event_target_value(&event).parse() {
                        app.go(Route::Run(id));
                    }
                }>{options}</select>
            </label>
        </div>
    }
}

fn whole(report: Arc<FileReport>) -> impl IntoView {
    let facts = report
        .facts
        .iter()
        .map(|fact| view! { <dt>{fact.name.clone()}</dt><dd data-fact=fact.key.clone()>{fact.value.clone()}</dd> })
        .collect_view();
    let cells = report
        .cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            let console = run::console(cell);
            view! {
                {parts::table(run::cell_table(index, cell))}
                <details>
                    <summary>"As exo's console prints it, by exo's own definitions"</summary>
                    <pre data-console=index.to_string()>{console}</pre>
                </details>
            }
        })
        .collect_view();
    let failures: Vec<String> = report.failures.iter().map(|failure| failure.words()).collect();
    let failed = (!failures.is_empty()).then(|| {
        view! { <h2>{format!("Failures ({}): counted and listed, in no average", failures.len())}</h2> {parts::notices(failures, "warn")} }
    });
    let power = report.timeline.as_ref().map(|timeline| {
        let power = picture::power(timeline);
        view! {
            <h2>"Power over time"</h2>
            {parts::picture("power", Signal::derive(move || power.clone()))}
        }
    });
    let none = report.cells.is_empty().then(|| view! { <p>"No measured request succeeded."</p> });
    let incomplete = report
        .incomplete
        .clone()
        .map(|words| view! { <p class="refused" role="status">{format!("⚠ Incomplete: {words}")}</p> });
    view! {
        <h1>{report.name.clone()} " " {report.simulated.then(|| view! { <span class="tag">"simulated"</span> })}</h1>
        {incomplete}
        {parts::notices(report.notices.clone(), "")}
        {none}
        <h2>"Numbers per cell"</h2>
        <p class="quiet">"A cell holds the requests that may be averaged together. Point at a number for its unrounded value."</p>
        {cells}
        {failed}
        {repeats(report.clone())}
        {power}
        <h2>"Facts"</h2>
        <dl class="facts"><dt>"Format"</dt><dd>{report.format.clone()}</dd>{facts}</dl>
        {definitions(&report)}
    }
}

/// The repeats of one metric at a time.
fn repeats(report: Arc<FileReport>) -> impl IntoView {
    let metrics = picture::metrics(&report);
    let preferred = metrics.iter().copied().find(|metric| *metric == Metric::GenerationTps);
    preferred.or_else(|| metrics.first().copied()).map(|first| {
        let chosen = RwSignal::new(first);
        let drawn = Signal::derive({
            let report = report.clone();
            move || picture::repeats(&report, chosen.get())
        });
        let options = metrics
            .iter()
            .enumerate()
            .map(|(place, metric)| {
                view! { <option value=place.to_string() selected=*metric == first>{metric.definition().name}</option> }
            })
            .collect_view();
        view! {
            <h2>"Repeats"</h2>
            <div class="tools">
                <label>"Metric "
                    <select on:change=move |event| {
                        let place = event_target_value(&event).parse::<usize>().ok();
                        if let Some(metric) = place.and_then(|place| metrics.get(place)) {
                            chosen.set(*metric);
                        }
                    }>{options}</select>
                </label>
            </div>
            {parts::picture("repeats", drawn)}
        }
    })
}

/// Every number on screen knows its definition.
fn definitions(report: &FileReport) -> impl IntoView + use<> {
    let items = picture::metrics(report)
        .into_iter()
        .map(|metric| {
            let definition = metric.definition();
            view! { <dt>{definition.name} " (" {definition.unit} ")"</dt><dd>{definition.formula} " — " {definition.source}</dd> }
        })
        .collect_view();
    view! { <h2>"Definitions"</h2><dl class="facts">{items}</dl> }
}
