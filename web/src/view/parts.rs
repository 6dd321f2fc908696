//! What the screens share: tables, facts, notices, charts with their twin tables.

use std::sync::Arc;

use analyzer::metric::Metric;
use analyzer::summary::FileReport;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, HtmlElement, Url};

use super::App;
use crate::chart::{self, Image};
use crate::state::Route;
use crate::view_model::interval::Drawn;
use crate::view_model::picture::Picture;
use crate::view_model::picture::repeats::{self, Start};
use crate::view_model::table::{Cell, Row, Table};

pub(super) fn table(table: Table) -> impl IntoView {
    let columns = table.columns.len();
    let heads = table
        .columns
        .iter()
        .map(|column| {
            let meaning = (!column.meaning.is_empty()).then(|| column.meaning.clone());
            view! { <th scope="col" class:number=column.number title=meaning>{column.head.clone()}</th> }
        })
        .collect_view();
    let rows = table.rows.into_iter().map(|line| row(line, columns)).collect_view();
    let notes = (!table.notes.is_empty()).then(|| {
        let items = table.notes.into_iter().map(|note| view! { <li>{note}</li> }).collect_view();
        view! { <ol class="footnotes">{items}</ol> }
    });
    view! {
        <div class="scroll">
            <table>
                <caption>{table.caption}</caption>
                <thead><tr>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
            {notes}
        </div>
    }
}

fn row(row: Row, columns: usize) -> impl IntoView {
    if let Some(heading) = row.heading {
        return view! { <tr class="heading"><th scope="rowgroup" colspan=columns.to_string()>{heading}</th></tr> }
            .into_any();
    }
    let cells = row.cells.into_iter().map(cell).collect_view();
    view! {
        <tr data-cell=row.cell.map(|cell| cell.to_string()) data-metric=row.metric data-verdict=row.verdict>
            {cells}
        </tr>
    }
    .into_any()
}

fn cell(cell: Cell) -> impl IntoView {
    // The browser writes a number in the shortest form that reads back as the same one, as JSON does.
    let exact = cell.value.map(|value| value.to_string());
    let title = cell.more.or_else(|| exact.clone());
    view! {
        <td class=cell.class data-stat=cell.stat data-value=exact title=title>
            {cell.drawn.map(interval)}
            {cell.text}
        </td>
    }
}

/// An interval as a line with a dot, on the shade of what is too small to matter; the words beside it say the same.
fn interval(drawn: Drawn) -> impl IntoView {
    let end = |place: f64, cut: bool| (!cut).then(|| view! { <line class="end" x1=place x2=place y1="4" y2="12"/> });
    view! {
        <svg viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">
            <rect class="band" x=drawn.band_low width=drawn.band_high - drawn.band_low y="0" height="16"/>
            <line class="zero" x1="50" x2="50" y1="0" y2="16"/>
            <line class="span" x1=drawn.low x2=drawn.high y1="8" y2="8"/>
            {end(drawn.low, drawn.cut[0])}
            {end(drawn.high, drawn.cut[1])}
            <line class="dot" x1=drawn.change x2=drawn.change y1="8" y2="8"/>
        </svg>
    }
}

pub(super) fn notices(sentences: Vec<String>, kind: &'static str) -> impl IntoView {
    (!sentences.is_empty()).then(|| {
        let items = sentences.into_iter().map(|sentence| view! { <li>{sentence}</li> }).collect_view();
        view! { <ul class=format!("notices {kind}")>{items}</ul> }
    })
}

/// A chart that is drawn anew when its picture or the ground changes, with its table and its downloads.
pub(super) fn picture(app: App, name: &'static str, picture: Signal<Picture>) -> impl IntoView {
    let place = NodeRef::<Div>::new();
    let drawn = StoredValue::new_local(None::<HtmlElement>);
    Effect::new(move |_| {
        let picture = picture.get();
        let ground = app.ground.get();
        if let Some(element) = place.get() {
            let element: HtmlElement = element.into();
            drawn.set_value(Some(element.clone()));
            chart::draw(element, &picture, ground);
        }
    });
    on_cleanup(move || {
        if let Some(element) = drawn.try_get_value().flatten() {
            chart::forget(element);
        }
    });
    let save = move |image: Image| {
        if let Some(element) = place.get_untracked() {
            chart::save(element.into(), image, name);
        }
    };
    view! {
        <div class="chart" node_ref=place data-chart=name role="img" aria-label=move || picture.with(|picture| picture.title.clone())></div>
        <div class="tools downloads">
            <span class="quiet">"Save as"</span>
            <button on:click=move |_| save(Image::Png)>"PNG"</button>
            <button on:click=move |_| save(Image::Svg)>"SVG"</button>
            <button on:click=move |_| download(&format!("{name}.csv"), &picture.get_untracked().twin.csv())>"CSV"</button>
        </div>
        <details>
            <summary>"The same as a table"</summary>
            {move || {
                let mut twin = picture.get().twin;
                let all = twin.rows.len();
                twin.rows.truncate(SHOWN);
                let cut = (all > SHOWN).then(|| view! { <p class="quiet">{format!("{SHOWN} of {all} rows; CSV has all")}</p> });
                view! { {table(twin)} {cut} }
            }}
        </details>
    }
}

/// The choice of a metric for the chart of repeats, and where its axis begins; drawn for one file or two.
pub(super) fn repeats(app: App, files: Vec<Arc<FileReport>>) -> impl IntoView {
    let metrics = with_all(&files, repeats::metrics);
    let preferred = metrics.iter().copied().find(|metric| *metric == Metric::GenerationTps);
    preferred.or_else(|| metrics.first().copied()).map(|usual| {
        let from_data = RwSignal::new(false);
        let known = metrics.clone();
        let chosen = Memo::new(move |_| app.choices.get().metric.filter(|metric| known.contains(metric)).unwrap_or(usual));
        let drawn = Signal::derive(move || {
            let start = if from_data.get() { Start::Data } else { Start::Zero };
            with_all(&files, |files| repeats::repeats(files, chosen.get(), start))
        });
        let options = metrics
            .iter()
            .enumerate()
            .map(|(place, metric)| {
                let metric = *metric;
                view! { <option value=place.to_string() selected=move || chosen.get() == metric>{metric.definition().name}</option> }
            })
            .collect_view();
        view! {
            <h2>"Repeats"</h2>
            <div class="tools">
                <label>"Metric "
                    <select on:change=move |event| {
                        let place = event_target_value(&event).parse::<usize>().ok();
                        let metric = place.and_then(|place| metrics.get(place).copied());
                        app.choose(|choices| choices.metric = metric);
                    }>{options}</select>
                </label>
                <label>
                    <input type="checkbox" on:change=move |event| from_data.set(event_target_checked(&event))/>
                    " look closer: the axis need not start at zero"
                </label>
            </div>
            {picture(app, "repeats", drawn)}
        }
    })
}

fn with_all<T>(files: &[Arc<FileReport>], look: impl FnOnce(&[&FileReport]) -> T) -> T {
    look(&files.iter().map(Arc::as_ref).collect::<Vec<_>>())
}

/// A choice among the loaded files.
pub(super) fn file_choice(app: App, chosen: u32, go: impl Fn(u32) -> Route + 'static) -> impl IntoView {
    let options = move || {
        let all = app.analysis.loaded();
        all.into_iter()
            .map(|(id, name)| view! { <option value=id.to_string() selected=id == chosen>{name}</option> })
            .collect_view()
    };
    view! {
        <select on:change=move |event| {
            if let Ok(id) = event_target_value(&event).parse() {
                app.go(go(id));
            }
        }>{options}</select>
    }
}

/// A table of thousands of rows would take the browser seconds to lay out.
const SHOWN: usize = 500;

fn download(name: &str, text: &str) {
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let kind = BlobPropertyBag::new();
    kind.set_type("text/csv");
    let Ok(blob) = Blob::new_with_str_sequence_and_options(&parts, &kind) else { return };
    let Ok(url) = Url::create_object_url_with_blob(&blob) else { return };
    let anchor = document().create_element("a").ok().and_then(|element| element.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    drop(Url::revoke_object_url(&url));
}
