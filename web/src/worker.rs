//! The worker: holds polars and the loaded files, reads and reckons off the page's thread.

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    worker::listen();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    // Built natively only so that the workspace's tests and lints cover it.
}

#[cfg(target_arch = "wasm32")]
mod worker {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use analyzer::comparison::measured::MeasuredFile;
    use analyzer::comparison::{Options, compare_sides};
    use analyzer::import::load;
    use wasm_bindgen::prelude::*;
    use web::protocol::{Answer, Ask};
    use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

    thread_local! {
        static FILES: RefCell<BTreeMap<u32, MeasuredFile>> = const { RefCell::new(BTreeMap::new()) };
    }

    pub(crate) fn listen() {
        let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
        let answering = scope.clone();
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let message = js_sys::Array::from(&event.data());
            let Some(ask) = message.get(0).as_string().and_then(|text| serde_json::from_str(&text).ok()) else {
                return;
            };
            if let Some(answer) = answer(ask, &message.get(1)) {
                say(&answering, &answer);
            }
        });
        scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        // It listens for as long as the worker lives.
        on_message.forget();
        say(&scope, &Answer::Ready);
    }

    fn say(scope: &DedicatedWorkerGlobalScope, answer: &Answer) {
        if let Ok(text) = serde_json::to_string(answer) {
            // The page is gone when it cannot be told; then so is this worker.
            drop(scope.post_message(&JsValue::from_str(&text)));
        }
    }

    fn answer(ask: Ask, bytes: &JsValue) -> Option<Answer> {
        match ask {
            Ask::Load { id, name } => {
                let bytes = js_sys::Uint8Array::new(bytes).to_vec();
                let loaded = load(&name, &bytes).map_err(|error| error.to_string());
                // The rows go: what a comparison takes from the file is kept.
                let read = loaded
                    .and_then(|loaded| MeasuredFile::with_report(&loaded).map_err(|error| format!("{name}: {error}")));
                Some(match read {
                    Ok((report, measured)) => {
                        FILES.with_borrow_mut(|files| files.insert(id, measured));
                        Answer::Loaded { id, report: Box::new(report) }
                    }
                    Err(reason) => Answer::Refused { id, reason },
                })
            }
            Ask::Compare { base, new, delta_percent, delta_energy_percent } => Some(FILES.with_borrow(|files| {
                let usual = Options::default();
                let options = Options {
                    delta_percent: delta_percent.unwrap_or(usual.delta_percent),
                    delta_energy_percent: delta_energy_percent.unwrap_or(usual.delta_energy_percent),
                    ..usual
                };
                let both = files.get(&base).zip(files.get(&new)).ok_or("a file of the two is not loaded any more");
                let compared = both.map_err(str::to_owned).and_then(|(base, new)| {
                    let (base, new) = (std::slice::from_ref(base), std::slice::from_ref(new));
                    compare_sides(base, new, &options).map_err(|error| error.to_string())
                });
                match compared {
                    Ok(comparison) => Answer::Compared { base, new, comparison: Box::new(comparison) },
                    Err(reason) => Answer::NotCompared { base, new, reason },
                }
            })),
            Ask::Forget { id } => {
                FILES.with_borrow_mut(|files| files.remove(&id));
                None
            }
        }
    }
}
