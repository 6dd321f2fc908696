// How long the viewer's worker takes for files, in a real Chromium: for `just bench-analyzer`.
//
//     node times.mjs BASE NEW    prints {"report_s": …, "compare_s": …} as JSON
//
// A report is read, reckoned and written as JSON: from the bytes in the page's memory to its answer. A comparison is both
// files read and reckoned, and compared.
import { browser, ownWorker, serve, watched } from './viewer.mjs';

const paths = process.argv.slice(2);
const site = await serve();
const chrome = await browser();
try {
  const { page } = await watched(chrome, site.address);
  await page.goto(site.address);
  await ownWorker(page);
  await page.evaluate(() => {
    const input = document.createElement('input');
    Object.assign(input, { type: 'file', id: 'measured', multiple: true });
    document.body.append(input);
  });
  await page.setInputFiles('#measured', paths);
  const times = await page.evaluate(async () => {
    const files = [...document.getElementById('measured').files];
    const contents = await Promise.all(files.map((file) => file.arrayBuffer()));
    const begun = performance.now();
    const took = () => (performance.now() - begun) / 1000;
    const loaded = [];
    for (const [id, file] of files.entries()) {
      const answer = JSON.parse(await window.ask({ ask: 'load', id, name: file.name }, contents[id]));
      if (answer.answer !== 'loaded') throw new Error(answer.reason);
      loaded.push(took());
    }
    const answer = JSON.parse(await window.ask({ ask: 'compare', base: 0, new: 1 }));
    if (answer.answer !== 'compared') throw new Error(answer.reason);
    return { report_s: loaded[0], compare_s: took() };
  });
  process.stdout.write(`${JSON.stringify(times)}\n`);
} finally {
  await chrome.close();
  await site.stop();
}
