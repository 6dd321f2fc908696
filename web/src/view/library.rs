//! The list of loaded files.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::HtmlInputElement;

use super::App;
use crate::analysis::{Entry, Progress};
use crate::load;
use crate::state::Route;
use crate::view_model::run::about;

pub(super) fn screen(app: App) -> impl IntoView {
    let picked = move |event: leptos::ev::Event| {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) else { return };
        load::list(app.analysis, input.files());
        // The same file can be picked again after it was changed.
        input.set_value("");
    };
    view! {
        <h1 class="visually-hidden">"Library"</h1>
        <div class="drop" class:over=move || app.over.get()>
            <p>"Drop result files here, paste, or "
                <label class="button">"choose files"
                    <input type="file" multiple id="picker" class="visually-hidden" on:change=picked/>
                </label>
            </p>
            <p class="quiet">"results.json of exoscope or of exo's own bench"</p>
        </div>
        <ul class="files" aria-live="polite">
            <For each=move || app.analysis.files.get() key=|file| (file.id, stage(file)) let(file)>
                {line(app, file)}
            </For>
        </ul>
        <div class="tools">
            <button disabled=move || app.pair().is_none() on:click=move |_| {
                if let Some((base, new)) = app.pair() {
                    app.go(Route::Compare(base, new));
                }
            }>"Compare the first two"</button>
            {move || app.removed.get().map(|(place, entry)| {
                let name = entry.name.clone();
                view! {
                    <span role="status">{format!("{name} was removed. ")}
                        <button on:click=move |_| {
                            app.analysis.restore(place, entry.clone());
                            app.removed.set(None);
                        }>"Undo"</button>
                    </span>
                }
            })}
        </div>
    }
}

/// A file's progress as tests and styles name it.
const fn state(file: &Entry) -> &'static str {
    match file.progress {
        Progress::Reading | Progress::Analysing => "loading",
        Progress::Loaded(_) => "loaded",
        Progress::Refused(_) => "refused",
    }
}

/// What of a file decides how its line looks: a line is made anew when it changes.
const fn stage(file: &Entry) -> u8 {
    match file.progress {
        Progress::Reading => 0,
        Progress::Analysing => 1,
        Progress::Loaded(_) => 2,
        Progress::Refused(_) => 3,
    }
}

fn line(app: App, file: Entry) -> impl IntoView {
    let id = file.id;
    let name = file.name.clone();
    let shown_state = state(&file);
    let body = match file.progress {
        Progress::Reading => view! { <span class="about quiet">"reading …"</span> }.into_any(),
        Progress::Analysing => view! { <span class="about quiet">"analysing …"</span> }.into_any(),
        Progress::Loaded(report) => {
            let incomplete = report
                .incomplete
                .clone()
                .map(|words| view! { <span class="refused">{format!("⚠ incomplete: {words}")}</span> });
            view! {
                <span class="about">{about(&report)}</span>
                {report.simulated.then(|| view! { <span class="tag">"simulated"</span> })}
                {incomplete}
                <button on:click=move |_| app.go(Route::Run(id))>"Open"</button>
            }
            .into_any()
        }
        Progress::Refused(reason) => view! { <span class="about refused">{format!("✕ {reason}")}</span> }.into_any(),
    };
    let remove = move |_| {
        // The one removed before cannot come back any more.
        if let Some((_, gone)) = app.removed.get_untracked() {
            app.analysis.forget(gone.id);
        }
        app.removed.set(app.analysis.remove(id));
    };
    view! {
        <li data-file=name.clone() data-state=shown_state>
            <span class="name">{name.clone()}</span>
            {body}
            <button class="plain" title="Remove" aria-label=format!("Remove {name}") on:click=remove>"✕"</button>
        </li>
    }
}
