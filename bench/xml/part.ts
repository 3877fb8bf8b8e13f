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

/** Creates the peer with this name. */
export async function part(name = ''): Promise<Answer> {
  const peer = await peerOf(name);
  const article = repeating((count) => read(peer, name, count), { warmUp });
  return (task = '', kind = '') => {
    if (task === 'article') return article();
    return peer.stream === undefined ? {} : streamed(peer.stream, chunksOf(kind, STREAMED, 65_536));
  };
}

function read({ article }: Peer, name: string, count: number): void {
  const bytes = name.startsWith('JSON.parse') ? ARTICLE_JSON : ARTICLE;
  let last: Article | undefined;
  for (let index = 0; index < count; index += 1) last = article(bytes);
  const { title, price, currency } = last ?? {};
  if (JSON.stringify({ title, price, currency }) !== EXPECTED)
    throw new Error(`${name} reads something else`);
}

function streamed(stream: NonNullable<Peer['stream']>, chunks: readonly Buffer[]): Sample {
  return timed(() => stream(chunks), STREAMED / 1e6);
}
