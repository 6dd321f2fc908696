// Starts the worker's WebAssembly. Trunk can write this file itself, but calls the initialiser in a way that is deprecated.
importScripts('./worker.js');
wasm_bindgen({ module_or_path: './worker_bg.wasm' });
