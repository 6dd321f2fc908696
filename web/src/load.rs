//! Takes files that are dropped, pasted, picked or preloaded.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ClipboardEvent, DragEvent, FileList, Response};

use crate::analysis::Analysis;

/// Takes every file of a list.
pub fn list(analysis: Analysis, files: Option<FileList>) {
    let Some(files) = files else { return };
    for place in 0..files.length() {
        let Some(file) = files.get(place) else { continue };
        let id = analysis.announce(file.name());
        spawn_local(async move {
            match JsFuture::from(file.array_buffer()).await.and_then(|bytes| bytes.dyn_into::<js_sys::ArrayBuffer>()) {
                Ok(bytes) => analysis.read(id, &bytes),
                Err(_) => {
                    analysis.refuse(id, "the browser cannot read this; a folder cannot be opened, only files".into())
                }
            }
        });
    }
}

/// Takes text as if it were a file.
pub fn text(analysis: Analysis, text: &str) {
    let id = analysis.announce("pasted text".into());
    let bytes = js_sys::Uint8Array::from(text.as_bytes());
    analysis.read(id, &bytes.buffer());
}

#[derive(Deserialize)]
struct List {
    files: Vec<Offer>,
}

#[derive(Deserialize)]
struct Offer {
    name: String,
    url: String,
}

/// Takes the files that the page is served with; a page on plain web space has none.
pub fn preloaded(analysis: Analysis) {
    spawn_local(async move {
        let Some(bytes) = fetch("./preloaded.json").await else { return };
        let text = String::from_utf8(js_sys::Uint8Array::new(&bytes).to_vec());
        let list = text.ok().and_then(|text| serde_json::from_str::<List>(&text).ok());
        // All have their numbers before the first is fetched: an address names files by number, whatever is dropped meanwhile.
        let offers: Vec<(u32, String)> = list
            .into_iter()
            .flat_map(|list| list.files)
            .map(|Offer { name, url }| (analysis.announce(name), url))
            .collect();
        for (id, url) in offers {
            match fetch(&format!("./{url}")).await {
                Some(bytes) => analysis.read(id, &bytes),
                None => analysis.refuse(id, "it was to be preloaded but the server does not give it".into()),
            }
        }
    });
}

async fn fetch(url: &str) -> Option<js_sys::ArrayBuffer> {
    let response = JsFuture::from(window().fetch_with_str(url)).await.ok()?.dyn_into::<Response>().ok()?;
    if !response.ok() {
        return None;
    }
    JsFuture::from(response.array_buffer().ok()?).await.ok()?.dyn_into().ok()
}

/// Listens for drops and pastes anywhere on the page; `over` is true while something is held over it, and `arrived` is
/// called when something came.
pub fn listen(analysis: Analysis, over: RwSignal<bool>, arrived: impl Fn() + Copy + 'static) {
    let on = |name: &str, handler: Closure<dyn FnMut(DragEvent)>| {
        drop(window().add_event_listener_with_callback(name, handler.as_ref().unchecked_ref()));
        // It listens for as long as the page lives.
        handler.forget();
    };
    on(
        "dragover",
        Closure::new(move |event: DragEvent| {
            event.prevent_default();
            over.set(true);
        }),
    );
    on(
        "dragleave",
        Closure::new(move |event: DragEvent| {
            if event.related_target().is_none() {
                over.set(false);
            }
        }),
    );
    on(
        "drop",
        Closure::new(move |event: DragEvent| {
            event.prevent_default();
            over.set(false);
            list(analysis, event.data_transfer().and_then(|data| data.files()));
            arrived();
        }),
    );
    let pasted = Closure::<dyn FnMut(ClipboardEvent)>::new(move |event: ClipboardEvent| {
        let Some(data) = event.clipboard_data() else { return };
        let files = data.files();
        if files.as_ref().is_some_and(|files| files.length() > 0) {
            list(analysis, files);
            arrived();
        } else if let Ok(words) = data.get_data("text/plain")
            && !words.trim().is_empty()
            && !takes_text(&event)
        {
            text(analysis, &words);
            arrived();
        }
    });
    drop(window().add_event_listener_with_callback("paste", pasted.as_ref().unchecked_ref()));
    pasted.forget();
}

/// True where the words go into a field of the page: then they are no file.
fn takes_text(event: &ClipboardEvent) -> bool {
    let element = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    // The picker and checkboxes take no words; the selector is constant, so that it is always understood.
    element.is_some_and(|element| {
        element.matches("textarea, input:not([type=file]):not([type=checkbox])").unwrap_or(false)
    })
}
