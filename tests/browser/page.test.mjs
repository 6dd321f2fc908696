// What the page does beyond showing numbers: how it starts and fails, what it asks of the browser, what a reader can choose.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { artefacts, browser, drop, exoscope, fixtures, root, serve, watched } from './viewer.mjs';

const base = join(fixtures, 'results/exoscope_simulated_base.json');
const slower = join(fixtures, 'results/exoscope_simulated_slower.json');
const dist = join(root, 'web/dist');

let chrome, site;
before(async () => { site = await serve(base, slower); chrome = await browser(); });
after(async () => { await chrome.close(); await site.stop(); });

test('polars is in the worker alone, and the page runs no inline script', () => {
  const wasm = readdirSync(dist).filter((name) => name.endsWith('.wasm'));
  const polars = wasm.filter((name) => readFileSync(join(dist, name)).includes('polars'));
  assert.equal(wasm.length, 2, wasm.join());
  assert.deepEqual(polars, ['worker_bg.wasm']);
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const policy = html.match(/script-src ([^;]*);/)[1];
  assert.equal(policy, "'self' 'wasm-unsafe-eval'");
  assert.deepEqual(html.match(/<script(?![^>]*\ssrc=)[^>]*>/g), null);
});

test('a page whose WebAssembly does not come says so in the shell', async () => {
  const { page, close } = await watched(chrome, site.address);
  await page.route('**/page-*.wasm', (route) => route.fulfill({ status: 404, body: '' }));
  await page.goto(site.address);
  await page.waitForSelector('#loading.refused');
  assert.match(await page.textContent('#loading'), /^the page did not start \(.+\); reload it/);
  await close();
});

test('an analyser that does not come says so, and no file waits for ever', async () => {
  const { page, close } = await watched(chrome, site.address);
  await page.route('**/worker_bg.wasm', (route) => route.fulfill({ status: 404, body: '' }));
  await page.goto(site.address);
  await page.waitForSelector('[role="alert"]');
  assert.match(await page.textContent('[role="alert"]'), /^the analyser did not start \(.+\); reload the page/);
  await drop(page, [{ name: 'late.json', text: '{}' }]);
  await page.waitForFunction(() => document.querySelectorAll('[data-state="refused"]').length === 3);
  assert.match(await page.textContent('[data-file="late.json"]'), /late\.json: the analyser is not running/);
  await close();
});

test('without the chart library its twin tables are there', async () => {
  const { page, close } = await watched(chrome, site.address);
  await page.route('**/plotly-basic.min.js', (route) => route.abort());
  await page.goto(`${site.address}#run=1`);
  await page.waitForFunction(() => document.querySelector('[data-chart="power"]')?.textContent.includes('cannot be drawn'));
  await page.click('[data-chart="power"] ~ details summary');
  assert.ok(await page.isVisible('[data-stat="power_w"]'));
  await close();
});

/** The verdicts of the table of a comparison; the twin table of its chart has none. */
const verdicts = (page) => page.$$eval('tr[data-metric]:has(.interval)', (rows) => rows.map((row) => row.dataset.verdict ?? null));

test('another δ asks for the verdicts anew, and the address keeps it', async () => {
  const { page, trouble, close } = await watched(chrome, site.address);
  await page.goto(`${site.address}#compare=1,2`);
  await page.waitForSelector('tr[data-verdict="regressed"]');
  await page.fill('#delta', '60');
  await page.press('#delta', 'Enter');
  await page.waitForSelector('tr[data-metric="prefill_tps"][data-verdict="same"]');
  assert.match(page.url(), /#compare=1,2&delta=60$/);
  const expected = JSON.parse(await exoscope('compare', base, slower, '--delta', '60', '--fail-on', 'never', '--format', 'json'));
  assert.deepEqual(await verdicts(page), expected.cells.flatMap(({ metrics }) => metrics.map(({ verdict }) => verdict)));
  await page.reload();
  await page.waitForSelector('tr[data-metric="prefill_tps"][data-verdict="same"]');
  assert.equal(await page.inputValue('#delta'), '60');
  await page.fill('#delta', '-1');
  await page.press('#delta', 'Enter');
  assert.equal(await page.inputValue('#delta'), '60', 'what is no size is put back');
  await page.check('text=only what changed');
  await page.waitForFunction((all) => document.querySelectorAll('tr[data-metric] .interval').length < all, 10);
  assert.ok((await verdicts(page)).every((verdict) => ['improved', 'regressed'].includes(verdict)));
  assert.match(page.url(), /&only=changed$/);
  assert.deepEqual(trouble, []);
  await close();
});

test('what is shown is the unrounded value, rounded, in the unit beside it', async () => {
  const factors = { ms: 1e3, 'µs': 1e6, kJ: 1e-3, KiB: 2 ** -10, MiB: 2 ** -20, GiB: 2 ** -30 };
  const { page, trouble, close } = await watched(chrome, site.address);
  await page.goto(`${site.address}#compare=1,2`);
  await page.waitForSelector('tr[data-verdict]');
  const cells = await page.$$eval('tr[data-metric]', (rows) => rows.flatMap((row) => [...row.querySelectorAll('[data-stat$="_value"]')]
    .map((cell) => ({ text: cell.textContent, value: cell.dataset.value, unit: row.cells[1].textContent, metric: row.dataset.metric }))));
  assert.ok(cells.length >= 40);
  for (const { text, value, unit, metric } of cells) {
    const decimals = text.split('.')[1]?.length ?? 0;
    const off = Math.abs(Number(text) - Number(value) * (factors[unit] ?? 1));
    assert.ok(off <= 0.5000001 * 10 ** -decimals, `${metric}: ${text} ${unit} for ${value}`);
  }
  const expected = JSON.parse(await exoscope('compare', base, slower, '--fail-on', 'never', '--format', 'json')).cells[0].metrics[0];
  const words = await page.textContent('tr[data-cell="0"][data-metric="prefill_tps"] .interval');
  const ends = words.replaceAll('−', '-').match(/[+-]?\d+\.\d+/g).map(Number);
  assert.deepEqual(ends, expected.interval_percent.map((end) => Number(end.toFixed(1))));
  assert.equal(await page.locator('tr[data-cell="0"][data-metric="prefill_tps"] .interval svg').count(), 1);
  assert.deepEqual(trouble, []);
  await close();
});

test('no two cells of a file carry the same name, and no column is out of sight', async () => {
  const names = readdirSync(join(fixtures, 'results')).filter((name) => /^f3|failures|sessions/.test(name) && name.endsWith('.json'));
  const mixed = await serve(...names.map((name) => join(fixtures, 'results', name)));
  const { page, trouble, close } = await watched(chrome, mixed.address);
  await page.goto(mixed.address);
  await page.waitForFunction((files) => document.querySelectorAll('[data-state="loaded"]').length === files, names.length);
  for (let number = 1; number <= names.length; number++) {
    await page.goto(`${mixed.address}#run=${number}`);
    await page.waitForSelector('tr[data-metric]');
    const cells = await page.$$eval('table:has([data-stat="median"]) caption', (all) => all.map((caption) => caption.textContent.split(' — ')[0]));
    assert.ok(cells.length > 0);
    assert.equal(new Set(cells).size, cells.length, `${names[number - 1]}: ${cells.join(' | ')}`);
    const cut = await page.$$eval('.scroll', (all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.querySelector('caption').textContent));
    assert.deepEqual(cut, [], 'tables fit into a window of this width');
  }
  assert.deepEqual(trouble, []);
  await close();
  await mixed.stop();
});

test('charts of two files keep their colours and follow the system from light to dark', async () => {
  const { page, trouble, close } = await watched(chrome, site.address, { colorScheme: 'light' });
  await page.goto(`${site.address}#compare=1,2&metric=prefill_tps`);
  await page.waitForSelector('[data-chart="repeats"] .scatterlayer .point');
  const colours = await page.$$eval('[data-chart="repeats"] .scatterlayer .trace', (traces) => traces.map((trace) => getComputedStyle(trace.querySelector('.point')).fill));
  assert.deepEqual([colours[0], colours[2]], ['rgb(0, 114, 178)', 'rgb(213, 94, 0)']);
  const light = await page.$eval('[data-chart="repeats"] .gtitle', (title) => getComputedStyle(title).fill);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction((old) => {
    const title = document.querySelector('[data-chart="repeats"] .gtitle');
    return title && getComputedStyle(title).fill !== old;
  }, light);
  assert.match(await page.textContent('[data-chart="repeats"] .gtitle'), /^prefill/, 'the address chose the metric');
  await page.screenshot({ path: join(artefacts, 'compare-turned-dark.png'), fullPage: true });
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.downloads >> text=SVG')]);
  assert.equal(download.suggestedFilename(), 'repeats.svg');
  assert.deepEqual(trouble, []);
  await close();
});

test('a file dropped on any screen is shown in the library', async () => {
  const { page, trouble, close } = await watched(chrome, site.address);
  await page.goto(`${site.address}#run=1`);
  await page.waitForSelector('tr[data-metric]');
  await drop(page, [{ name: 'third.json', text: readFileSync(base, 'utf8') }]);
  await page.waitForSelector('[data-file="third.json"][data-state="loaded"]');
  assert.equal(await page.locator('[data-file]').count(), 3);
  assert.match(page.url(), /#library$/);
  assert.deepEqual(trouble, []);
  await close();
});
