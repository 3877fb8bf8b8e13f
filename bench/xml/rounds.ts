import type { Contestant, Group, Stage } from '../measure/benchmark.ts';
import { freshPart, sharedPart } from '../measure/parts/part.ts';
import { KINDS } from './documents.ts';
import { peerNames } from './peers.ts';

/** The name of this project's parser. */
export const ours = 'countersign';

/** The streaming parsers. */
export function streamingNames(): readonly string[] {
  const whole = ['easysax', 'libxml2-wasm', 'fast-xml-parser', 'txml', 'JSON.parse', 'JSON.parse of text'];
  return peerNames().filter((name) => !whole.includes(name));
}

/**
 * Returns a group for each kind of document with all peers, each in its own process; with `fresh`, a new one for each
 * round.
 */
export function groupsOf(
  stage: Stage,
  task: string,
  kinds: readonly string[],
  { fresh = false, names = peerNames() }: { fresh?: boolean; names?: readonly string[] } = {},
): Group[] {
  const work = (peer: string) => ({ file: 'xml/part.ts', words: [peer] });
  const shared = new Map(names.map((peer) => [peer, sharedPart(stage, work(peer))]));
  return kinds.map((kind) => {
    const contestants = names.flatMap((peer): Contestant[] => {
      const name = { name: peer, ours: peer === ours };
      const order = [task, kind];
      const contestant = fresh ? freshPart(stage, work(peer), name, order) : shared.get(peer)?.(name, order);
      return contestant === undefined ? [] : [contestant];
    });
    return { name: kinds.length > 1 ? kind : '', contestants };
  });
}

/** The sizes at which the time per byte must be constant. */
export function kilobytesOf({ full }: Stage): readonly number[] {
  return full ? [40, 160, 640] : [40, 120, 360];
}

/** Returns the kinds of documents to measure: all in the long form, otherwise two. */
export function kindsOf({ full }: Stage): readonly string[] {
  return full ? KINDS : KINDS.filter((kind) => kind === 'articles' || kind === 'text');
}
