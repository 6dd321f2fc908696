// Takes the section of function names out of each WebAssembly file of a build. Trunk calls it when the build is complete.
// `wasm-opt --strip-debug` does the same and is a download of 100 MB.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.TRUNK_STAGING_DIR;
if (!folder) throw new Error('TRUNK_STAGING_DIR is not set; this is a hook of Trunk, not a program of its own');

/** An unsigned LEB128 number and the place behind it. */
function number(bytes, at) {
  let value = 0, shift = 0, byte;
  do {
    byte = bytes[at++];
    value |= (byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  return [value >>> 0, at];
}

for (const name of readdirSync(folder).filter((name) => name.endsWith('.wasm'))) {
  const file = join(folder, name);
  const bytes = readFileSync(file);
  const kept = [bytes.subarray(0, 8)]; // magic and version
  for (let at = 8; at < bytes.length;) {
    const [size, body] = number(bytes, at + 1);
    const [length, title] = number(bytes, body);
    // Section 0 is a custom one, and its body begins with its title.
    const isNames = bytes[at] === 0 && bytes.toString('latin1', title, title + length) === 'name';
    if (!isNames) kept.push(bytes.subarray(at, body + size));
    at = body + size;
  }
  writeFileSync(file, Buffer.concat(kept));
}
