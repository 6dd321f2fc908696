// Starts the worker's WebAssembly. Trunk can write this file itself, but calls the initialiser in a way that is deprecated
// and lets the page wait for ever when it fails.
const fail = (error) => postMessage(JSON.stringify({ answer: 'broken', reason: String(error?.message ?? error) }));
try {
  importScripts('./worker.js');
  wasm_bindgen({ module_or_path: './worker_bg.wasm' }).catch(fail);
} catch (error) {
  fail(error);
}
