//! One file: facts, a table per cell, the repeats, power over time, failures.

use std::sync::Arc;

use analyzer::summary::FileReport;
use leptos::prelude::*;

use super::{App, parts};
use crate::state::Route;
use crate::view_model::picture::power::power;
use crate::view_model::picture::repeats::metrics;
use crate::view_model::run;

pub(super) fn screen(app: App, file: u32) -> impl IntoView {
    move || {
        match app.analysis.report(file) {
        Some(report) => view! { <div class="tools"><label>"File " {parts::file_choice(app, file, Route::Run)}</label></div> {whole(app, report)} }.into_any(),
        None => view! {
            <h1>"Run"</h1>
            <p class="status" role="status">"This file is not loaded (yet). Drop it here, or choose one in the library."</p>
        }
        .into_any(),
    }
    }
}

fn whole(app: App, report: Arc<FileReport>) -> impl IntoView {
    let facts = report
        .facts
        .iter()
        .map(|fact| view! { <dt>{fact.name.clone()}</dt><dd data-fact=fact.key.clone()>{fact.value.clone()}</dd> })
        .collect_view();
    let cells = run::cell_tables(&report)
        .into_iter()
        .zip(&report.cells)
        .enumerate()
        .map(|(index, (table, cell))| {
            let console = run::console(cell).map(|lines| {
                view! {
                    <details class="console">
                        <summary>"As exo's console prints it, by exo's own definitions"</summary>
                        <pre data-console=index.to_string()>{lines}</pre>
                    </details>
                }
            });
            view! {
                {parts::table(table)}
                {console}
            }
        })
        .collect_view();
    let failed =
        (!report.failures.is_empty()).then(|| view! { <h2>"Failures"</h2> {parts::table(run::failures(&report))} });
    let power = report.timeline.as_ref().map(|timeline| {
        let power = power(timeline);
        view! {
            <h2>"Power over time"</h2>
            {parts::picture(app, "power", Signal::derive(move || power.clone()))}
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
        <p class="quiet">"A cell holds the requests that may be averaged together. Point at a number for its unrounded value, at a metric for its formula."</p>
        {cells}
        {failed}
        {parts::repeats(app, vec![report.clone()])}
        {power}
        <h2>"Facts"</h2>
        <dl class="facts"><dt>"Format"</dt><dd>{report.format.clone()}</dd>{facts}</dl>
        {definitions(&report)}
    }
}

/// Every number on screen knows its definition.
fn definitions(report: &FileReport) -> impl IntoView + use<> {
    let items = metrics(&[report])
        .into_iter()
        .map(|metric| {
            let (name, unit) = (metric.definition().name, metric.definition().unit);
            view! { <dt>{name} " (" {unit} ")"</dt><dd>{analyzer::summary::definition(metric, &report.cells)}</dd> }
        })
        .collect_view();
    view! { <h2>"Definitions"</h2><dl class="facts">{items}</dl> }
}
