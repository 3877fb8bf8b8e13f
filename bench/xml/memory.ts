/** Parses a document in chunks of 64 KiB and keeps a string of each. The order is the size in bytes. */
import { copyString, createParser } from '../../src/xml/index.ts';
import type { Answer } from '../measure/parts/part.ts';
import { chunksOf } from './documents.ts';

const keepers: Readonly<Record<string, (data: string) => string | undefined>> = {
  'nothing kept': () => undefined,
  'copies kept': copyString,
  'strings kept as they come': (data) => data,
};

/** What is kept of each chunk, by name. */
export const kept: readonly string[] = Object.keys(keepers);

/** Returns the growth of resident memory, in bytes. */
export function part(name = ''): Answer {
  const keep = keepers[name];
  if (keep === undefined) throw new RangeError(`nothing is kept as ${name}`);
  const chunks = chunksOf('articles', 650_000, 65_536).slice(0, -1);
  return (size = '') => {
    const before = memory();
    const all = read(chunks, Number(size), keep);
    const grown = memory() - before;
    // Keeps the strings reachable until here.
    return { grown: Math.max(1, grown), kept: all.length };
  };
}

function read(
  chunks: readonly Buffer[],
  size: number,
  keep: (data: string) => string | undefined,
): readonly (string | undefined)[] {
  const all: (string | undefined)[] = [];
  let last = '';
  const parser = createParser({
    text(data) {
      if (data.length > 13) last = data;
    },
  });
  for (let bytes = 0, index = 0; bytes < size; index += 1) {
    const chunk = chunks[index === 0 ? 0 : 1 + ((index - 1) % (chunks.length - 1))] ?? Buffer.alloc(0);
    parser.write(chunk);
    all.push(keep(last));
    bytes += chunk.length;
  }
  return all;
}

function memory(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}
