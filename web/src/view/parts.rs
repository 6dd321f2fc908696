//! What the screens share: tables, facts, notices, charts with their twin tables.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use crate::chart::{self, Image};
use crate::view_model::picture::Picture;
use crate::view_model::table::{Cell, Row, Table};

pub(super) fn table(table: Table) -> impl IntoView {
    let heads = table
        .columns
        .iter()
        .map(|column| {
            let meaning = (!column.meaning.is_empty()).then(|| column.meaning.clone());
            view! { <th scope="col" class:number=column.number title=meaning>{column.head.clone()}</th> }
        })
        .collect_view();
    let rows = table.rows.into_iter().map(row).collect_view();
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

fn row(row: Row) -> impl IntoView {
    let cells = row.cells.into_iter().map(cell).collect_view();
    view! {
        <tr
            class:first=row.first
            data-cell=row.cell.map(|cell| cell.to_string())
            data-metric=row.metric
            data-verdict=row.verdict
        >
            {cells}
        </tr>
    }
}

fn cell(cell: Cell) -> impl IntoView {
    // The browser writes a number in the shortest form that reads back as the same one, as JSON does.
    let exact = cell.value.map(|value| value.to_string());
    view! { <td class=cell.class data-stat=cell.stat data-value=exact.clone() title=exact>{cell.text}</td> }
}

pub(super) fn notices(sentences: Vec<String>, kind: &'static str) -> impl IntoView {
    (!sentences.is_empty()).then(|| {
        let items = sentences.into_iter().map(|sentence| view! { <li>{sentence}</li> }).collect_view();
        view! { <ul class=format!("notices {kind}")>{items}</ul> }
    })
}

/// A chart that is drawn anew when its picture changes, with its table and its downloads.
pub(super) fn picture(name: &'static str, picture: Signal<Picture>) -> impl IntoView {
    let place = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let picture = picture.get();
        if let Some(element) = place.get() {
            chart::draw(&element, &picture.traces, &picture.layout);
        }
    });
    let save = move |image: Image| {
        if let Some(element) = place.get_untracked() {
            chart::save(&element, image, name);
        }
    };
    view! {
        <div class="chart" node_ref=place data-chart=name></div>
        <div class="tools">
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
