/**
 * A document of 1 GB in chunks of 64 KiB, of which one short string of each chunk is kept: resident memory above
 * that of the start, in MB, with the strings kept as they come and kept as copies.
 */
import { createParser, detached } from '../../src/xml/index.ts';
import { chunksOf } from './documents.ts';

const BYTES = 1_000_000_000;
const chunks = chunksOf('articles', 650_000, 65_536).slice(0, -1);

run('to warm up', () => undefined);
run('nothing kept', () => undefined);
run('copies kept', detached);
run('strings kept as they come', (data) => data);

function run(what: string, keep: (data: string) => string | undefined): void {
  const kept: (string | undefined)[] = [];
  let last = '';
  const parser = createParser({
    text(data) {
      if (data.length > 13) last = data;
    },
  });
  const resident: number[] = [];
  const before = memory();
  for (let bytes = 0, index = 0; bytes < BYTES; index++) {
    const chunk = chunks[index === 0 ? 0 : 1 + ((index - 1) % (chunks.length - 1))] ?? Buffer.alloc(0);
    parser.write(chunk);
    kept.push(keep(last));
    bytes += chunk.length;
    if (index % 1024 === 0) resident.push(memory() - before);
  }
  const text = resident.map((megabytes) => megabytes.toFixed(0)).join(' ');
  console.log(`${what}: ${kept.length} chunks; MB above the start as it went: ${text}`);
}

function memory(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1e6;
}
