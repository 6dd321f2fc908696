// Starts the page: the chart library and the WebAssembly at once, neither waiting for the other.

// `chart.rs` waits for this before it draws. True once Plotly is here, false when it cannot be had.
globalThis.exoscopeCharts = new Promise((done) => {
  const script = document.createElement('script');
  script.src = './plotly-basic.min.js';
  script.onload = () => done(true);
  script.onerror = () => done(false);
  document.head.append(script);
});

const page = document.querySelector('meta[name="page"]');
try {
  const { default: start } = await import(page.content);
  await start({ module_or_path: page.dataset.wasm });
} catch (error) {
  const said = document.getElementById('loading');
  if (said) {
    said.className = 'refused';
    said.setAttribute('role', 'alert');
    said.textContent = `the page did not start (${error.message ?? error}); reload it, or use a browser that runs WebAssembly`;
  }
}
