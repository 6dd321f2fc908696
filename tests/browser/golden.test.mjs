// The golden suite in WebAssembly: the built worker, as it is shipped, in a real Chromium, against the numbers that the
// native half (tests/tests/golden.rs) is held against too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { browser, fixtures, ownWorker, serve, watched } from './viewer.mjs';

const RELATIVE = 1e-12;
const read = (path) => readFileSync(join(fixtures, path), 'utf8');
const index = JSON.parse(read('golden/index.json'));

let chrome, site, seen;
before(async () => {
  site = await serve();
  chrome = await browser();
  seen = await watched(chrome, site.address);
  await seen.page.goto(site.address);
  await ownWorker(seen.page);
});
after(async () => { await chrome.close(); await site.stop(); });

const ask = async (question, text) => JSON.parse(await seen.page.evaluate(([q, t]) => window.ask(q, t ?? undefined), [question, text]));
const load = (id, input) => ask({ ask: 'load', id, name: basename(input) }, read(input));

let largest = 0;
/** Where two documents differ: numbers by more than RELATIVE, all else at all. */
function differences(path, kept, found, out) {
  if (typeof kept === 'number' && typeof found === 'number') {
    const scale = Math.max(Math.abs(kept), Math.abs(found));
    const relative = scale === 0 ? 0 : Math.abs(kept - found) / scale;
    largest = Math.max(largest, relative);
    if (!(relative <= RELATIVE)) out.push(`${path}: ${kept} ≠ ${found}`);
  } else if (kept && found && typeof kept === 'object' && typeof found === 'object') {
    const keys = new Set([...Object.keys(kept), ...Object.keys(found)]);
    for (const key of keys) differences(`${path}.${key}`, kept[key], found[key], out);
  } else if (kept !== found) out.push(`${path}: ${JSON.stringify(kept)} ≠ ${JSON.stringify(found)}`);
  return out;
}

test('the suite is not empty and its comparison can fail', () => {
  assert.ok(index.reports.length >= 15 && index.comparisons.length >= 5);
  assert.equal(differences('$', { a: [1, null] }, { a: [1 + 1e-9, 0] }, []).length, 2);
  largest = 0;
});

for (const [number, { input, report }] of index.reports.entries()) {
  test(`summary of ${input}`, async () => {
    const answer = await load(100 + number, input);
    assert.equal(answer.answer, 'loaded', answer.reason);
    assert.deepEqual(differences('$', JSON.parse(read(report)), answer.report, []), []);
  });
}

for (const { base, new: other, comparison } of index.comparisons) {
  test(`comparison of ${base} with ${other}`, async () => {
    assert.equal((await load(1, base)).answer, 'loaded');
    assert.equal((await load(2, other)).answer, 'loaded');
    const answer = await ask({ ask: 'compare', base: 1, new: 2 });
    assert.equal(answer.answer, 'compared', answer.reason);
    assert.deepEqual(differences('$', JSON.parse(read(comparison)), answer.comparison, []), []);
  });
}

test('nothing went wrong beside', (t) => {
  assert.deepEqual(seen.trouble, []);
  t.diagnostic(`largest relative difference between the kept numbers and WebAssembly's: ${largest}`);
});
