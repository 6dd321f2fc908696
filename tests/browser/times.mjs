// How long the viewer's worker takes for files, in a real Chromium: for `just bench-analyzer`.
//
//     node times.mjs BASE NEW    prints {"first": {"report_s": …, "compare_s": …}, "report_s": …, "compare_s": …} as JSON
//
// The browser compiles code when it is first run, which takes a tenth of a second or two whatever the file: `first` is of a
// worker that has read and compared nothing yet, and the others are the same once more.
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
    const load = async (id) => {
      // A copy, for the bytes go to the worker.
      const question = { ask: 'load', id, name: files[id].name };
      const answer = JSON.parse(await window.ask(question, contents[id].slice(0)));
      if (answer.answer !== 'loaded') throw new Error(answer.reason);
    };
    const round = async () => {
      const begun = performance.now();
      const took = () => (performance.now() - begun) / 1000;
      await load(0);
      const report_s = took();
      await load(1);
      const answer = JSON.parse(await window.ask({ ask: 'compare', base: 0, new: 1 }));
      if (answer.answer !== 'compared') throw new Error(answer.reason);
      return { report_s, compare_s: took() };
    };
    const first = await round();
    return { first, ...(await round()) };
  });
  process.stdout.write(`${JSON.stringify(times)}\n`);
} finally {
  await chrome.close();
  await site.stop();
}
