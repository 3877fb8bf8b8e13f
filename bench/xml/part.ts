/**
 * Runs one parser in its own process. An order names the task and the kind of document. Returns nothing for an
 * unsupported task.
 */
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { repeating, timed } from '../measure/timing.ts';
import { ARTICLE, ARTICLE_JSON, chunksOf } from './documents.ts';
import { type Article, type Peer, peerOf } from './peers.ts';

const EXPECTED = '{"title":"The Old Man and the Sea","price":"12.30","currency":"EUR"}';
/** The warm-up (ns): parsing an article uses little code. */
const warmUp = 3e8;
const STREAMED = 2_000_000;
const COLD = 10_000_000;

/** Creates the peer with this name. */
export async function part(name = ''): Promise<Answer> {
  const peer = await peerOf(name);
  const article = repeating((count) => read(peer, name, count), { warmUp });
  return (task = '', kind = '') => {
    if (task === 'article') return peer.article === undefined ? {} : article();
    return tasks[task]?.(peer, kind) ?? {};
  };
}

function read({ article }: Peer, name: string, count: number): void {
  const bytes = name.startsWith('JSON.parse') ? ARTICLE_JSON : ARTICLE;
  let last: Article | undefined;
  for (let index = 0; index < count; index += 1) last = article?.(bytes);
  const { title, price, currency } = last ?? {};
  if (JSON.stringify({ title, price, currency }) !== EXPECTED)
    throw new Error(`${name} reads something else`);
}

const tasks: Readonly<Record<string, (peer: Peer, kind: string) => Sample>> = {
  stream: ({ stream }, kind) => streamed(stream, chunksOf(kind, STREAMED, 65_536), STREAMED / 1e6),
  cold: ({ stream }, kind) => streamed(stream, chunksOf(kind, COLD, 65_536), 1),
  bytes({ stream }, kind) {
    const [document = '', kilobytes] = kind.split(' ');
    const chunks = chunksOf(document, Number(kilobytes) * 1000, 1);
    return streamed(stream, chunks, chunks.length);
  },
};

function streamed(stream: Peer['stream'], chunks: readonly Buffer[], count: number): Sample {
  return stream === undefined ? {} : timed(() => stream(chunks), count);
}
