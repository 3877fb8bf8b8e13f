/** Documents of 160 KB and of 640 KB that come one byte at a time: the time for a byte should not grow. */
import { chunksOf, KINDS } from './documents.ts';
import { peerOf } from './peers.ts';
import { compare, cpuTime, task } from './rounds.ts';

const given = task();
if (given === undefined)
  compare(
    import.meta.filename,
    KINDS.flatMap((kind) => [`${kind} 160`, `${kind} 640`]),
    'ns of CPU time for a byte',
    3,
  );
else await measure(given.peer, given.kind);

async function measure(name: string, kind: string): Promise<void> {
  const stream = (await peerOf(name))?.stream;
  if (stream === undefined) return;
  const [document = '', kilobytes] = kind.split(' ');
  const chunks = chunksOf(document, Number(kilobytes) * 1000, 1);
  for (let round = 0; round < 3; round++) stream(chunks);
  console.log(cpuTime(() => stream(chunks)) / chunks.length);
}
