//! The page's end of the worker: files go in, summaries and comparisons come out as signals.

use std::collections::BTreeMap;
use std::sync::Arc;

use analyzer::comparison::Comparison;
use analyzer::summary::FileReport;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker};

use crate::protocol::{Answer, Ask};

/// How far a file is.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// Its bytes are on their way into the page.
    Reading,
    /// The worker has it.
    Analysing,
    /// Read.
    Loaded(Arc<FileReport>),
    /// It cannot be read; why.
    Refused(String),
}

/// A file of the library.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The page's number for it, from 1.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// How far it is.
    pub progress: Progress,
}

/// Two files side by side, or why not.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The base's number.
    pub base: u32,
    /// The new one's number.
    pub new: u32,
    /// The comparison.
    pub outcome: Result<Arc<Comparison>, String>,
}

/// The files, and the worker that reads them.
#[derive(Clone, Copy)]
pub struct Analysis {
    /// All files, in the order of loading.
    pub files: RwSignal<Vec<Entry>>,
    /// The comparison that was asked for last.
    pub compared: RwSignal<Option<Compared>>,
    /// Why the worker does not run, in a sentence.
    pub broken: RwSignal<Option<String>>,
    next: StoredValue<u32>,
    /// Files that were removed and can still be put back: what became of them meanwhile is kept here.
    removed: StoredValue<BTreeMap<u32, Entry>>,
    worker: StoredValue<Option<Worker>, LocalStorage>,
    /// What was asked before the worker could listen: a message without a listener is lost. None once it is ready.
    waiting: StoredValue<Option<Vec<Message>>, LocalStorage>,
}

impl Default for Analysis {
    fn default() -> Self {
        Self::start()
    }
}

impl Analysis {
    /// Starts the worker.
    #[must_use]
    pub fn start() -> Self {
        let analysis = Self {
            files: RwSignal::new(Vec::new()),
            compared: RwSignal::new(None),
            broken: RwSignal::new(None),
            next: StoredValue::new(1),
            removed: StoredValue::new(BTreeMap::new()),
            worker: StoredValue::new_local(None),
            waiting: StoredValue::new_local(Some(Vec::new())),
        };
        match Worker::new("./worker_loader.js") {
            Ok(worker) => {
                let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
                    let answer = event.data().as_string().and_then(|text| serde_json::from_str(&text).ok());
                    if let Some(answer) = answer {
                        analysis.take(answer);
                    }
                });
                worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
                let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
                    analysis.breaks(&event.message());
                });
                worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
                // They live as long as the page.
                on_message.forget();
                on_error.forget();
                analysis.worker.set_value(Some(worker));
            }
            Err(error) => analysis.breaks(&format!("{error:?}")),
        }
        analysis
    }

    /// Makes a place in the library for a file whose bytes are on their way.
    #[must_use]
    pub fn announce(self, name: String) -> u32 {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.files.update(|files| files.push(Entry { id, name, progress: Progress::Reading }));
        id
    }

    /// Hands the bytes of an announced file to the worker.
    pub fn read(self, id: u32, bytes: &js_sys::ArrayBuffer) {
        let listed =
            self.files.with_untracked(|files| files.iter().find(|file| file.id == id).map(|file| file.name.clone()));
        let removed = || self.removed.with_value(|removed| removed.get(&id).map(|file| file.name.clone()));
        let Some(name) = listed.or_else(removed) else { return };
        if self.broken.with_untracked(Option::is_some) {
            return self.refuse(id, format!("{name}: the analyser is not running; reload the page"));
        }
        self.progress(id, Progress::Analysing);
        self.ask(&Ask::Load { id, name }, Some(bytes));
    }

    /// Says why the bytes of an announced file did not come.
    pub fn refuse(self, id: u32, reason: String) {
        self.progress(id, Progress::Refused(reason));
    }

    /// Asks for a comparison. The deltas are the smallest changes that matter, percent, for rates and times and for
    /// energy; the analyzer's own where they are absent.
    pub fn compare(self, base: u32, new: u32, delta_percent: Option<f64>, delta_energy_percent: Option<f64>) {
        self.ask(&Ask::Compare { base, new, delta_percent, delta_energy_percent }, None);
    }

    /// Takes a file out of the library. It can be put back with [`Self::restore`].
    pub fn remove(self, id: u32) -> Option<(usize, Entry)> {
        let mut removed = None;
        self.files.update(|files| {
            if let Some(place) = files.iter().position(|file| file.id == id) {
                removed = Some((place, files.remove(place)));
            }
        });
        if let Some((_, entry)) = &removed {
            self.removed.update_value(|kept| drop(kept.insert(entry.id, entry.clone())));
        }
        removed
    }

    /// Puts a removed file back to its place, as far as it came meanwhile.
    pub fn restore(self, place: usize, entry: Entry) {
        // The worker's answer may have come while the file was away; it comes only once.
        let kept = self.removed.try_update_value(|removed| removed.remove(&entry.id)).flatten();
        let entry = kept.unwrap_or(entry);
        self.files.update(|files| files.insert(place.min(files.len()), entry));
    }

    /// Lets the worker go of a removed file for good.
    pub fn forget(self, id: u32) {
        self.removed.update_value(|removed| drop(removed.remove(&id)));
        self.ask(&Ask::Forget { id }, None);
    }

    /// The summary of a loaded file.
    #[must_use]
    pub fn report(self, id: u32) -> Option<Arc<FileReport>> {
        self.files.with(|files| {
            files.iter().find(|file| file.id == id).and_then(|file| match &file.progress {
                Progress::Loaded(report) => Some(report.clone()),
                _ => None,
            })
        })
    }

    /// The files that can be looked at: number and name.
    #[must_use]
    pub fn loaded(self) -> Vec<(u32, String)> {
        self.files.with(|files| {
            let loaded = files.iter().filter(|file| matches!(file.progress, Progress::Loaded(_)));
            loaded.map(|file| (file.id, file.name.clone())).collect()
        })
    }

    fn progress(self, id: u32, progress: Progress) {
        let is_removed = self
            .removed
            .try_update_value(|removed| removed.get_mut(&id).map(|file| file.progress = progress.clone()).is_some());
        if is_removed == Some(true) {
            return;
        }
        self.files.update(|files| {
            if let Some(file) = files.iter_mut().find(|file| file.id == id) {
                file.progress = progress;
            }
        });
    }

    /// Says that the worker does not run, beside every file that waits for it too: nothing spins for ever.
    fn breaks(self, reason: &str) {
        let ready = self.waiting.with_value(Option::is_none);
        let what = if ready { "the analyser stopped" } else { "the analyser did not start" };
        let give_up = |file: &mut Entry| {
            if matches!(file.progress, Progress::Reading | Progress::Analysing) {
                file.progress = Progress::Refused(format!("{}: {what} before it was read; reload the page", file.name));
            }
        };
        self.files.update(|files| files.iter_mut().for_each(give_up));
        self.removed.update_value(|removed| removed.values_mut().for_each(give_up));
        self.broken.set(Some(format!("{what} ({reason}); reload the page, or serve it with `exoscope view`")));
    }

    fn take(self, answer: Answer) {
        match answer {
            Answer::Ready => {
                let waiting = self.waiting.try_update_value(Option::take).flatten();
                waiting.into_iter().flatten().for_each(|message| self.send(&message));
            }
            Answer::Broken { reason } => self.breaks(&reason),
            Answer::Loaded { id, report } => self.progress(id, Progress::Loaded(Arc::from(report))),
            Answer::Refused { id, reason } => self.progress(id, Progress::Refused(reason)),
            Answer::Compared { base, new, comparison } => {
                self.compared.set(Some(Compared { base, new, outcome: Ok(Arc::from(comparison)) }));
            }
            Answer::NotCompared { base, new, reason } => {
                self.compared.set(Some(Compared { base, new, outcome: Err(reason) }));
            }
        }
    }

    fn ask(self, ask: &Ask, bytes: Option<&js_sys::ArrayBuffer>) {
        let Ok(text) = serde_json::to_string(ask) else { return };
        let message = js_sys::Array::of1(&JsValue::from_str(&text));
        let moved = js_sys::Array::new();
        if let Some(bytes) = bytes {
            message.push(bytes);
            moved.push(bytes);
        }
        let message = Message { data: message, moved };
        let kept = self.waiting.try_update_value(|waiting| match waiting {
            Some(waiting) => {
                waiting.push(message.clone());
                true
            }
            None => false,
        });
        if kept == Some(false) {
            self.send(&message);
        }
    }

    fn send(self, message: &Message) {
        let told = self.worker.with_value(|worker| {
            worker.as_ref().map(|worker| worker.post_message_with_transfer(&message.data, &message.moved))
        });
        if let Some(Err(error)) = told {
            self.broken.set(Some(format!("the analyser cannot be reached ({error:?}); reload the page")));
        }
    }
}

/// A message to the worker, and the buffers that move there with it.
#[derive(Clone)]
struct Message {
    data: js_sys::Array,
    moved: js_sys::Array,
}
