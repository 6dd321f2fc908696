// The built viewer in a real Chromium: what a reader sees is what `exoscope report` and `exoscope compare` say.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { artefacts, browser, drop, exoscope, fixtures, root, serve, simulate, watched } from './viewer.mjs';

const base = join(fixtures, 'results/exoscope_simulated_base.json');
const slower = join(fixtures, 'results/exoscope_simulated_slower.json');
const file = (path, name) => ({ name, text: readFileSync(path, 'utf8') });
const shot = (page, name) => page.screenshot({ path: join(artefacts, `${name}.png`), fullPage: true });

let chrome, site;
before(async () => { site = await serve(); chrome = await browser(); });
after(async () => { await chrome.close(); await site.stop(); });

/** Opens the viewer with files dropped, and waits until each is read or refused. */
async function opened(files, options) {
  const seen = await watched(chrome, site.address, options);
  await seen.page.goto(site.address);
  await seen.page.waitForSelector('.drop:not([aria-busy])');
  await drop(seen.page, files);
  for (const { name } of files) {
    await seen.page.waitForSelector(`[data-file="${name}"]:not([data-state="loading"])`);
  }
  return seen;
}

/** The unrounded numbers of the rows on screen, by cell, metric and kind. */
function numbers(page) {
  return page.$$eval('tr[data-cell][data-metric]', (rows) => rows.map((row) => ({
    cell: Number(row.dataset.cell), metric: row.dataset.metric, verdict: row.dataset.verdict ?? null,
    stats: Object.fromEntries([...row.querySelectorAll('[data-stat]')]
      .map((cell) => [cell.dataset.stat, cell.dataset.value === undefined ? null : Number(cell.dataset.value)])),
  })));
}

test('two dropped files: the compare table says what exoscope compare says', async () => {
  const { page, trouble, close } = await opened([file(base, 'base.json'), file(slower, 'slower.json')]);
  await shot(page, 'library');
  await page.click('text=Compare the first two');
  await page.waitForSelector('[data-headline]');
  const expected = JSON.parse(await exoscope('compare', base, slower, '--fail-on', 'never', '--format', 'json'));
  assert.equal(expected.verdict, 'regressed');
  const said = (await page.textContent('[data-headline]')).trim();
  assert.ok(said.startsWith(expected.headline), `${said} / ${expected.headline}`);
  assert.ok(said.endsWith('simulated'), 'simulated data says so');
  // The twin table of the chart holds the single values; these are not compared here.
  const rows = (await numbers(page)).filter(({ stats }) => 'change_percent' in stats);
  const all = expected.cells.flatMap(({ metrics }, cell) => metrics.map((metric) => ({ cell, ...metric })));
  assert.equal(rows.length, all.length);
  for (const [place, metric] of all.entries()) {
    const row = rows[place];
    const where = `cell ${metric.cell} ${metric.metric}`;
    assert.deepEqual([row.cell, row.metric, row.verdict], [metric.cell, metric.metric, metric.verdict], where);
    close12(row.stats.base_value ?? null, shown(metric.base), where);
    close12(row.stats.new_value ?? null, shown(metric.new), where);
    assert.equal(row.stats.base_n, metric.base?.n ?? null, where);
    assert.equal(row.stats.new_n, metric.new?.n ?? null, where);
    close12(row.stats.change_percent, metric.change_percent, where);
  }
  // The same numbers again from the other road: `exoscope report` gives every value, and at concurrency 1 the side is their
  // geometric mean.
  const reports = JSON.parse(await exoscope('report', base, slower, '--format', 'json')).files;
  let checked = 0;
  for (const row of rows.filter(({ cell }) => expected.cells[cell].cell.concurrency === 1)) {
    for (const [side, report] of [['base', reports[0]], ['new', reports[1]]]) {
      const cell = report.cells.find(({ key }) => JSON.stringify(key) === JSON.stringify(expected.cells[row.cell].cell));
      const values = cell?.metrics.find(({ metric }) => metric === row.metric)?.values ?? [];
      if (values.length === 0 || values.some((value) => value <= 0)) continue;
      const geomean = Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
      close12(row.stats[`${side}_value`], geomean, `${side} of cell ${row.cell} ${row.metric}`);
      assert.equal(row.stats[`${side}_n`], values.length);
      checked += 1;
    }
  }
  assert.ok(checked >= 8, `${checked} numbers were checked against the report`);
  const residue = await page.$$eval('[data-residue]', (items) => items.map((item) => item.dataset.residue));
  assert.deepEqual(residue, expected.residue.map(({ key }) => key));
  await shot(page, 'compare');
  assert.deepEqual(trouble, []);
  await close();
});

/** What a table shows of a side: the geometric mean, which the change is reckoned from. */
const shown = (side) => (side ? side.geomean ?? side.mean : null);

/** Equal to 1e-12 relative: logarithms and exponentials may differ in the last digit between native and WebAssembly. */
function close12(one, other, where) {
  if (one === null || other === null) return assert.equal(one, other, where);
  assert.ok(Math.abs(one - other) <= 1e-12 * Math.max(Math.abs(one), Math.abs(other)), `${where}: ${one} ≠ ${other}`);
}

test('the run view says what exoscope report says, and draws both charts', async () => {
  const { page, trouble, close } = await opened([file(base, 'base.json')]);
  await page.click('[data-file="base.json"] >> text=Open');
  await page.waitForSelector('tr[data-metric]');
  const expected = JSON.parse(await exoscope('report', base, '--format', 'json')).files[0];
  const rows = (await numbers(page)).filter(({ stats }) => 'median' in stats);
  const all = expected.cells.flatMap(({ metrics }, cell) => metrics.map((metric) => ({ cell, ...metric })));
  assert.equal(rows.length, all.length);
  for (const [place, metric] of all.entries()) {
    const row = rows[place];
    assert.deepEqual([row.cell, row.metric], [metric.cell, metric.metric]);
    for (const stat of ['n', 'median', 'mean', 'sd', 'cv_percent', 'min', 'max']) {
      close12(row.stats[stat], metric[stat], `cell ${metric.cell} ${metric.metric} ${stat}`);
    }
  }
  await page.waitForSelector('[data-chart="repeats"] .scatterlayer .point');
  await page.waitForSelector('[data-chart="power"] .scatterlayer .lines');
  const windows = await page.$$eval('[data-chart="power"] .shapelayer path', (paths) => paths.length);
  assert.equal(windows, expected.timeline.windows.length, 'each request shaded');
  assert.ok(await page.isVisible('h1 .tag'), 'simulated data says so');
  await shot(page, 'run');
  assert.deepEqual(trouble, []);
  await close();
});

test('a run of two placements, two pairs, two concurrencies, three repeats and two sessions opens', async () => {
  const cluster = await simulate('--load-seconds', '0', '--decode-tps', '2000', '--prefill-tps', '50000');
  const folder = mkdtempSync(join(tmpdir(), 'exoscope-'));
  const results = join(folder, 'results.json');
  try {
    await exoscope('bench', '--port', new URL(cluster.address).port, '--model', 'simulated-70b', '--pp', '64,128', '--tg', '8,16',
      '--concurrency', '1,4', '--repeat', '3', '--sessions', '2', '--min-nodes', '2', '--instance-meta', 'ring', '--stream',
      '--pause', 'all=0', '--tokenizer', join(fixtures, 'tokenizers/tiny'), '--json-out', results);
  } finally {
    await cluster.stop();
  }
  const { page, trouble, close } = await opened([file(results, 'results.json')]);
  await page.click('[data-file="results.json"] >> text=Open');
  await page.waitForSelector('tr[data-metric]');
  const expected = JSON.parse(await exoscope('report', results, '--format', 'json')).files[0];
  assert.equal(expected.cells.length, 8);
  const rows = (await numbers(page)).filter(({ stats }) => 'median' in stats);
  assert.equal(rows.length, expected.cells.flatMap(({ metrics }) => metrics).length);
  const windows = await page.$$eval('[data-chart="power"] .shapelayer path', (paths) => paths.length);
  assert.equal(windows, 2 * 2 * 5 * 3 * 2, 'each request of both sessions shaded');
  assert.ok(await page.isVisible('h1 .tag'), 'simulated data says so');
  await shot(page, 'sessions');
  assert.deepEqual(trouble, []);
  await close();
  rmSync(folder, { recursive: true });
});

test('a broken file beside a good one: a sentence with its name, and the rest stays usable', async () => {
  const broken = { name: 'broken.json', text: '{"runs": [' };
  const { page, trouble, close } = await opened([broken, file(base, 'base.json'), { name: 'notes.txt', text: 'milk, eggs' }]);
  const reason = await page.textContent('[data-file="broken.json"][data-state="refused"]');
  assert.match(reason, /broken\.json: not JSON at line 1 column 10/);
  assert.equal(await page.getAttribute('[data-file="notes.txt"]', 'data-state'), 'refused');
  assert.equal(await page.getAttribute('[data-file="base.json"]', 'data-state'), 'loaded');
  await shot(page, 'broken');
  await page.click('[data-file="base.json"] >> text=Open');
  await page.waitForSelector('tr[data-metric="prefill_tps"]');
  assert.deepEqual(trouble, []);
  await close();
});

const officialFolder = join(process.env.EXOSCOPE_SHARED ?? join(root, '../shared'), 'captures/exo-results');
test("the official client's own results open, with its console's figures and energy said to be absent",
  { skip: existsSync(officialFolder) ? false : `${officialFolder} is not here; set EXOSCOPE_SHARED to the folder of the captures` },
  async () => {
    const names = ['r1_nonstream', 'r2_nonstream_cache', 'r3_stream', 'r4_stream_cache', 'r6_reuse'];
    const { page, trouble, close } = await opened(names.map((name) => file(join(officialFolder, `${name}.json`), `${name}.json`)));
    for (const [place, name] of names.entries()) {
      await page.evaluate((number) => { location.hash = `#run=${number}`; }, place + 1);
      await page.waitForFunction((title) => document.querySelector('h1')?.textContent.includes(title), `${name}.json`);
      const shown = (await page.$$eval('[data-console]', (all) => all.map(({ textContent }) => textContent))).join('\n');
      const log = readFileSync(join(officialFolder, `${name}.log`), 'utf8');
      const figures = [...log.matchAll(/(?:prompt_tps|gen_tps|agg_gen_tps|per_req_tps|wall_s|prompt_tokens|gen_tokens|peak_memory)=\S+/g)];
      assert.ok(figures.length > 0, `${name}: the log tells figures`);
      for (const [figure] of figures) assert.ok(shown.includes(figure), `${name}: ${figure} in\n${shown}`);
      assert.match(await page.textContent('[data-fact="energy"]'), /^– /, name);
    }
    assert.deepEqual(trouble, []);
    await close();
  });

test('a removed file comes back with undo, and pasted text is a file', async () => {
  const { page, trouble, close } = await opened([file(base, 'base.json')]);
  await page.click('[data-file="base.json"] >> [title="Remove"]');
  await page.waitForSelector('[data-file="base.json"]', { state: 'detached' });
  await page.click('text=Undo');
  await page.waitForSelector('[data-file="base.json"][data-state="loaded"]');
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    window.dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
  }, readFileSync(join(fixtures, 'results/f3c.json'), 'utf8'));
  await page.waitForSelector('[data-file="pasted text"][data-state="loaded"]');
  assert.deepEqual(trouble, []);
  await close();
});

test('preloaded files are opened, keys work, the address keeps the choice, dark follows the system', async () => {
  const served = await serve(base, slower);
  const { page, trouble, close } = await watched(chrome, served.address, { colorScheme: 'dark' });
  await page.goto(`${served.address}#compare=1,2`);
  await page.waitForSelector('[data-headline]');
  await shot(page, 'compare-dark');
  const forwards = await page.textContent('[data-headline]');
  await page.keyboard.press('x');
  await page.waitForFunction((old) => document.querySelector('[data-headline]')?.textContent !== old && document.querySelector('[data-headline]'), forwards);
  assert.match(page.url(), /#compare=2,1$/);
  await page.goBack();
  await page.waitForFunction((old) => document.querySelector('[data-headline]')?.textContent === old, forwards);
  await page.keyboard.press('?');
  assert.ok(await page.isVisible('dialog'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('l');
  await page.waitForSelector('[data-file]');
  assert.deepEqual(trouble, []);
  await close();
  await served.stop();
});

test('a shell is painted before any WebAssembly arrives', async () => {
  const { page, trouble, close } = await watched(chrome, site.address);
  let release;
  const held = new Promise((done) => { release = done; });
  await page.route('**/*.wasm', async (route) => { await held; await route.continue(); });
  await page.goto(site.address, { waitUntil: 'commit' });
  await page.waitForSelector('#shell');
  assert.ok(await page.isVisible('.drop'));
  await shot(page, 'shell');
  const before = await page.locator('.drop').boundingBox();
  release();
  await page.waitForSelector('nav');
  const after = await page.locator('.drop').boundingBox();
  assert.ok(Math.abs(before.y - after.y) < 2, `the page does not jump: ${before.y} → ${after.y}`);
  assert.deepEqual(trouble, []);
  await close();
});
