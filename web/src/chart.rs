//! Draws pictures with Plotly, which `boot.js` loads beside the page. Without it the twin tables are there all the same.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlElement;

use crate::view_model::picture::Picture;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Plotly, js_name = react, catch)]
    fn react(element: &HtmlElement, traces: &JsValue, layout: &JsValue, config: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = Plotly, js_name = purge, catch)]
    fn purge(element: &HtmlElement) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = Plotly, js_name = downloadImage, catch)]
    fn download_image(element: &HtmlElement, options: &JsValue) -> Result<JsValue, JsValue>;
}

/// The format of a downloaded picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image {
    /// Pixels.
    Png,
    /// Lines.
    Svg,
}

/// The ground that a picture is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Dark ink on light paper.
    Light,
    /// Light ink on dark paper.
    Dark,
}

/// Draws a picture into an element, or draws it anew, as soon as Plotly is here.
pub fn draw(element: HtmlElement, picture: &Picture, ground: Ground) {
    let traces = parsed(&picture.traces);
    let layout = parsed(&dressed(&picture.layout, ground));
    let config = parsed(&json!({"displaylogo": false, "responsive": true, "displayModeBar": false}));
    spawn_local(async move {
        if !is_there().await || react(&element, &traces, &layout, &config).is_err() {
            element.set_inner_text("The chart cannot be drawn here; the table below says the same.");
        }
    });
}

/// Lets go of what Plotly keeps for an element that leaves the page.
pub fn forget(element: HtmlElement) {
    spawn_local(async move {
        if is_there().await {
            // Where nothing was drawn there is nothing to let go of.
            drop(purge(&element));
        }
    });
}

/// Lets the browser save a picture.
pub fn save(element: HtmlElement, image: Image, name: &str) {
    let format = match image {
        Image::Png => "png",
        Image::Svg => "svg",
    };
    let options = parsed(&json!({"format": format, "filename": name, "width": 1200, "height": 600}));
    spawn_local(async move {
        if is_there().await {
            // The browser says itself when a download fails.
            drop(download_image(&element, &options));
        }
    });
}

/// A layout with ink and paper of the ground, and what all charts share.
fn dressed(layout: &Value, ground: Ground) -> Value {
    let (ink, line) = match ground {
        Ground::Light => ("#1b1d20", "#d8dce0"),
        Ground::Dark => ("#e6e8ea", "#3a4046"),
    };
    let mut layout = layout.clone();
    if let Some(layout) = layout.as_object_mut() {
        layout.insert("paper_bgcolor".into(), json!("rgba(0,0,0,0)"));
        layout.insert("plot_bgcolor".into(), json!("rgba(0,0,0,0)"));
        layout.insert("font".into(), json!({"color": ink, "family": "system-ui, sans-serif"}));
        layout.insert("margin".into(), json!({"l": 70, "r": 20, "t": 70, "b": 70}));
        layout.insert("hovermode".into(), json!("closest"));
        for axis in ["xaxis", "yaxis"] {
            if let Some(axis) = layout.get_mut(axis).and_then(Value::as_object_mut) {
                axis.insert("gridcolor".into(), json!(line));
                axis.insert("automargin".into(), json!(true));
            }
        }
    }
    layout
}

/// Waits until Plotly is here; false when it cannot be had.
async fn is_there() -> bool {
    let Ok(promise) = js_sys::Reflect::get(&window(), &JsValue::from_str("exoscopeCharts")) else { return false };
    let Ok(promise) = promise.dyn_into::<js_sys::Promise>() else { return false };
    JsFuture::from(promise).await.is_ok_and(|loaded| loaded.is_truthy())
}

/// JSON text is the quickest road from Rust into a JavaScript object.
fn parsed(value: &Value) -> JsValue {
    js_sys::JSON::parse(&value.to_string()).unwrap_or(JsValue::NULL)
}
