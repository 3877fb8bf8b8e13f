/** Documents of 10 MB in chunks of 64 KiB, every event delivered; the second time in a process. */
import { chunksOf, KINDS } from './documents.ts';
import { peerOf } from './peers.ts';
import { compare, cpuTime, task } from './rounds.ts';

const BYTES = 10_000_000;

const given = task();
if (given === undefined) compare(import.meta.filename, KINDS, 'ms of CPU time for 10 MB');
else await measure(given.peer, given.kind);

async function measure(name: string, kind: string): Promise<void> {
  const stream = (await peerOf(name))?.stream;
  if (stream === undefined) return;
  const chunks = chunksOf(kind, BYTES, 65_536);
  for (let round = 0; round < 3; round++) stream(chunks);
  console.log(cpuTime(() => stream(chunks)) / 1e6);
}
