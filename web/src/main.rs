//! The page: mounts the viewer.

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    web::view::mount();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    // Built natively only so that the workspace's tests and lints cover it.
}
