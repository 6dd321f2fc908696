// Every statistic against the numbers of NumPy and SciPy, in WebAssembly: the checks of analyzer/tests/reference/main.rs, linked
// from the analyzer that the worker is linked from. `just browser-test` builds them.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { test } from 'node:test';

const { check, checks } = createRequire(import.meta.url)(resolve(process.env.EXOSCOPE_REFERENCE_WASM));

test('there are checks, and one that fails is seen', () => {
  assert.ok(checks().length >= 15);
  const said = [];
  const { error } = console;
  console.error = (text) => said.push(text);
  try {
    assert.throws(() => check('none'));
  } finally {
    console.error = error;
  }
  assert.match(said.join(), /no check is called none/);
});

for (const name of checks()) test(name, () => check(name));
