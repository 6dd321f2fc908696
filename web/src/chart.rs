//! Draws pictures with Plotly, which the page loads beside itself. Without it the twin tables are there all the same.

use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Plotly, js_name = react, catch)]
    fn react(element: &HtmlElement, traces: &JsValue, layout: &JsValue, config: &JsValue) -> Result<JsValue, JsValue>;

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

/// Draws a picture into an element, or draws it anew.
pub fn draw(element: &HtmlElement, traces: &Value, layout: &Value) {
    if !is_there() {
        element.set_inner_text("The chart library is not here; the table below says the same.");
        return;
    }
    let mut layout = layout.clone();
    if let Some(layout) = layout.as_object_mut() {
        let ink = if is_dark() { "#e6e8ea" } else { "#1b1d20" };
        let line = if is_dark() { "#3a4046" } else { "#d8dce0" };
        layout.insert("paper_bgcolor".into(), json!("rgba(0,0,0,0)"));
        layout.insert("plot_bgcolor".into(), json!("rgba(0,0,0,0)"));
        layout.insert("font".into(), json!({"color": ink, "family": "system-ui, sans-serif"}));
        layout.insert("margin".into(), json!({"l": 70, "r": 20, "t": 60, "b": 70}));
        layout.insert("hovermode".into(), json!("closest"));
        for axis in ["xaxis", "yaxis"] {
            if let Some(axis) = layout.get_mut(axis).and_then(Value::as_object_mut) {
                axis.insert("gridcolor".into(), json!(line));
                axis.insert("automargin".into(), json!(true));
            }
        }
    }
    let config = json!({"displaylogo": false, "responsive": true, "displayModeBar": false});
    // A picture that cannot be drawn leaves its place empty; its twin table says the same.
    drop(react(element, &parsed(traces), &parsed(&layout), &parsed(&config)));
}

/// Lets the browser save a picture.
pub fn save(element: &HtmlElement, image: Image, name: &str) {
    let format = match image {
        Image::Png => "png",
        Image::Svg => "svg",
    };
    if is_there() {
        let options = json!({"format": format, "filename": name, "width": 1200, "height": 600});
        drop(download_image(element, &parsed(&options)));
    }
}

fn is_there() -> bool {
    js_sys::Reflect::has(&window(), &JsValue::from_str("Plotly")).unwrap_or(false)
}

fn is_dark() -> bool {
    let query = js_sys::Reflect::get(&window(), &JsValue::from_str("matchMedia")).ok();
    let query = query.and_then(|function| function.dyn_into::<js_sys::Function>().ok());
    let query = query.and_then(|ask| ask.call1(&window(), &JsValue::from_str("(prefers-color-scheme: dark)")).ok());
    let matches = query.and_then(|query| js_sys::Reflect::get(&query, &JsValue::from_str("matches")).ok());
    matches.and_then(|matches| matches.as_bool()).unwrap_or(false)
}

/// JSON text is the quickest road from Rust into a JavaScript object.
fn parsed(value: &Value) -> JsValue {
    js_sys::JSON::parse(&value.to_string()).unwrap_or(JsValue::NULL)
}
