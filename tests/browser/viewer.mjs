// What the browser tests share: the served viewer, Chromium, and a page that is watched.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const fixtures = join(root, 'fixtures');
export const artefacts = join(root, 'artefacts');
mkdirSync(artefacts, { recursive: true });

const program = process.env.EXOSCOPE_BIN;
if (!program) throw new Error('EXOSCOPE_BIN must name the built program; `just browser-test` sets it');

/** Runs the program to its end and gives what it printed. */
export function exoscope(...args) {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '', err = '';
    child.stdout.on('data', (chunk) => { out += chunk; });
    child.stderr.on('data', (chunk) => { err += chunk; });
    child.on('error', failed);
    child.on('close', (code) => (code === 0 ? done(out) : failed(new Error(`exoscope ${args.join(' ')}: ${code}\n${err}`))));
  });
}

/** Serves the built viewer with files preloaded; gives its address and a way to end it. */
export const serve = (...files) => running('view', '--no-open', ...files);

/** Runs a simulated cluster; gives its address and a way to end it. */
export const simulate = (...flags) => running('simulate', '--port', '0', ...flags);

function running(...args) {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '', err = '';
    child.stderr.on('data', (chunk) => { err += chunk; });
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const address = out.match(/http:\/\/127\.0\.0\.1:\d+\/?(?=\s)/);
      if (address) done({ address: address[0], stop: () => new Promise((gone) => { child.on('close', gone); child.kill('SIGTERM'); }) });
    });
    child.on('error', failed);
    child.on('close', (code) => failed(new Error(`exoscope ${args[0]} ended with ${code}: ${err}`)));
  });
}

export function browser() {
  return chromium.launch({
    executablePath: process.env.EXOSCOPE_CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

/** A page whose console errors, failed requests and requests to elsewhere are kept. */
export async function watched(chrome, address, options = {}) {
  const context = await chrome.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  const trouble = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) trouble.push(`console: ${message.text()}`); });
  page.on('pageerror', (error) => trouble.push(`uncaught: ${error.message}`));
  page.on('crash', () => trouble.push('the page crashed'));
  page.on('requestfailed', (request) => trouble.push(`failed: ${request.url()} ${request.failure()?.errorText}`));
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith('data:') && !url.startsWith('blob:')) trouble.push(`elsewhere: ${url}`);
  });
  return { page, trouble, close: () => context.close() };
}

/** Drops files onto the page as a hand would: `[{ name, text }]`. */
export function drop(page, files) {
  return page.evaluate((files) => {
    const data = new DataTransfer();
    for (const { name, text } of files) data.items.add(new File([text], name, { type: 'application/json' }));
    for (const kind of ['dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, files);
}

/** Gives the page a worker beside its own, from the same files; `window.ask(question, bytes)` there gives its answers' texts. */
export function ownWorker(page) {
  return page.evaluate(() => new Promise((ready) => {
    const worker = new Worker('./worker_loader.js');
    const waiting = [];
    worker.onmessage = ({ data }) => {
      const answer = JSON.parse(data);
      if (answer.answer === 'ready') ready();
      else waiting.shift()(data);
    };
    window.ask = (question, content) => new Promise((done) => {
      waiting.push(done);
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content).buffer : content;
      worker.postMessage(bytes ? [JSON.stringify(question), bytes] : [JSON.stringify(question)], bytes ? [bytes] : []);
    });
  }));
}
