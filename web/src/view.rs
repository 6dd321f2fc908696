//! What is seen: the frame around the screens, the address and the keys.
//!
//! - [`library`] is the list of loaded files.
//! - [`run`] is one file.
//! - [`compare`] is two files side by side.
//! - [`parts`] is what they share: tables, facts, charts.

mod compare;
mod library;
mod parts;
mod run;

use leptos::html::Button;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlElement, KeyboardEvent, MediaQueryList};

use crate::analysis::{Analysis, Entry};
use crate::chart::Ground;
use crate::load;
use crate::state::{Choices, Route, hash, read};

/// What the screens share.
#[derive(Clone, Copy)]
struct App {
    analysis: Analysis,
    route: RwSignal<Route>,
    choices: RwSignal<Choices>,
    /// Light or dark, as the system says.
    ground: RwSignal<Ground>,
    /// True while a file is held over the page.
    over: RwSignal<bool>,
    /// True while the list of keys is shown.
    help: RwSignal<bool>,
    /// The file removed last, and where it stood.
    removed: RwSignal<Option<(usize, Entry)>>,
}

impl App {
    fn go(self, route: Route) {
        self.route.set(route);
        self.write_address();
    }

    fn choose(self, change: impl FnOnce(&mut Choices)) {
        self.choices.update(change);
        self.write_address();
    }

    /// The address is the state: it can be kept, and the back button works.
    fn write_address(self) {
        let hash = hash(self.route.get_untracked(), self.choices.get_untracked());
        // A browser that refuses shows all the same, without an address to keep.
        drop(window().location().set_hash(&hash));
    }

    /// The two files that a comparison would take now: those of the address, else the first two.
    fn pair(self) -> Option<(u32, u32)> {
        if let Route::Compare(base, new) = self.route.get() {
            return Some((base, new));
        }
        match self.analysis.loaded().as_slice() {
            [(base, _), (new, _), ..] => Some((*base, *new)),
            _ => None,
        }
    }
}

/// Puts the viewer in the place of the loading shell.
pub fn mount() {
    let Some(place) = document().get_element_by_id("app").and_then(|place| place.dyn_into::<HtmlElement>().ok()) else {
        return;
    };
    place.set_inner_html("");
    leptos::mount::mount_to(place, frame).forget();
}

fn frame() -> impl IntoView {
    let (route, choices) = read(&location());
    let app = App {
        analysis: Analysis::start(),
        route: RwSignal::new(route),
        choices: RwSignal::new(choices),
        ground: RwSignal::new(Ground::Light),
        over: RwSignal::new(false),
        help: RwSignal::new(false),
        removed: RwSignal::new(None),
    };
    load::listen(app.analysis, app.over, move || app.go(Route::Library));
    follow_ground(app.ground);
    load::preloaded(app.analysis);
    listen(app);
    let close = NodeRef::<Button>::new();
    Effect::new(move |_| {
        if let Some(button) = close.get() {
            // Who cannot focus it can still click it.
            drop(button.focus());
        }
    });
    view! {
        <header class="bar">
            <strong class="brand">"Exoscope"</strong>
            <nav aria-label="Screens">
                {tab(app, "Library", move || Some(Route::Library), |route| route == Route::Library)}
                {tab(
                    app,
                    "Run",
                    move || match app.route.get() {
                        Route::Run(file) => Some(Route::Run(file)),
                        _ => app.analysis.loaded().first().map(|(file, _)| Route::Run(*file)),
                    },
                    |route| matches!(route, Route::Run(_)),
                )}
                {tab(
                    app,
                    "Compare",
                    move || app.pair().map(|(base, new)| Route::Compare(base, new)),
                    |route| matches!(route, Route::Compare(..)),
                )}
            </nav>
            <span class="grow"></span>
            <span class="quiet">"nothing leaves this browser"</span>
            <button title="Keys" aria-label="List the keys" on:click=move |_| app.help.update(|help| *help = !*help)>
                "?"
            </button>
        </header>
        <main class="page">
            <Show when=move || app.analysis.broken.get().is_some()>
                <p class="refused" role="alert">{move || app.analysis.broken.get()}</p>
            </Show>
            {move || match app.route.get() {
                Route::Library => library::screen(app).into_any(),
                Route::Run(file) => run::screen(app, file).into_any(),
                Route::Compare(base, new) => compare::screen(app, base, new).into_any(),
            }}
        </main>
        <Show when=move || app.over.get()>
            <div class="overlay">"Let go to open"</div>
        </Show>
        <Show when=move || app.help.get()>
            <dialog open aria-label="Keys">
                <h2>"Keys"</h2>
                <dl class="facts">
                    <dt>"l"</dt><dd>"library"</dd>
                    <dt>"r"</dt><dd>"run: the first or the last one looked at"</dd>
                    <dt>"c"</dt><dd>"compare: the first two, or the last ones looked at"</dd>
                    <dt>"x"</dt><dd>"swap base and new"</dd>
                    <dt>"?"</dt><dd>"this list"</dd>
                    <dt>"Esc"</dt><dd>"close it"</dd>
                </dl>
                <button node_ref=close on:click=move |_| app.help.set(false)>"Close"</button>
            </dialog>
        </Show>
    }
}

/// A tab of the header. It has no route while there is nothing to show.
fn tab(
    app: App,
    name: &'static str,
    route: impl Fn() -> Option<Route> + Copy + Send + Sync + 'static,
    is_here: fn(Route) -> bool,
) -> impl IntoView {
    view! {
        <button
            class="tab"
            aria-current=move || is_here(app.route.get()).then_some("page")
            disabled=move || route().is_none()
            on:click=move |_| {
                if let Some(route) = route() {
                    app.go(route);
                }
            }
        >
            {name}
        </button>
    }
}

fn location() -> String {
    // Without an address there is nothing to read from it, and the library is shown.
    window().location().hash().unwrap_or_default()
}

/// Follows the system's choice of light or dark: the style sheet does so by itself, charts are drawn anew.
fn follow_ground(ground: RwSignal<Ground>) {
    // A browser that does not tell has light charts.
    let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") else { return };
    let now = |query: &MediaQueryList| if query.matches() { Ground::Dark } else { Ground::Light };
    ground.set(now(&query));
    let watched = query.clone();
    let changed = Closure::<dyn FnMut()>::new(move || ground.set(now(&watched)));
    query.set_onchange(Some(changed.as_ref().unchecked_ref()));
    changed.forget();
}

fn listen(app: App) {
    let on_hash = Closure::<dyn FnMut()>::new(move || {
        let (route, choices) = read(&location());
        if route != app.route.get_untracked() {
            app.route.set(route);
        }
        if choices != app.choices.get_untracked() {
            app.choices.set(choices);
        }
    });
    drop(window().add_event_listener_with_callback("hashchange", on_hash.as_ref().unchecked_ref()));
    on_hash.forget();
    let on_key = Closure::<dyn FnMut(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        let typing = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlElement>().ok())
            .is_some_and(|element| matches!(element.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA"));
        if typing || event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        untrack(|| match event.key().as_str() {
            "?" => app.help.update(|help| *help = !*help),
            "Escape" => app.help.set(false),
            "l" => app.go(Route::Library),
            "r" => {
                if let Some((file, _)) = app.analysis.loaded().first() {
                    app.go(Route::Run(*file));
                }
            }
            "c" => {
                if let Some((base, new)) = app.pair() {
                    app.go(Route::Compare(base, new));
                }
            }
            "x" => {
                if let Route::Compare(base, new) = app.route.get() {
                    app.go(Route::Compare(new, base));
                }
            }
            _ => {}
        });
    });
    drop(window().add_event_listener_with_callback("keydown", on_key.as_ref().unchecked_ref()));
    on_key.forget();
}
