import type { Group, Stage } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { KINDS } from './documents.ts';
import { peerNames } from './peers.ts';

/** The streaming parsers. */
export const streamingNames = peerNames.filter((name) => !['fast-xml-parser', 'JSON.parse'].includes(name));

/** Returns a group for each kind of document with the peers, each in its own process. */
export function groupsOf(
  stage: Stage,
  task: string,
  kinds: readonly string[],
  names: readonly string[],
): Group[] {
  const parts = names.map((peer) => sharedPart(stage, { file: 'xml/part.ts', words: [peer] }));
  return kinds.map((kind) => ({
    name: kinds.length > 1 ? kind : '',
    contestants: names.flatMap(
      (name, at) => parts[at]?.({ name, ours: name === 'countersign' }, [task, kind]) ?? [],
    ),
  }));
}

/** The sizes at which the time per byte must be constant. */
export function kilobytesOf({ full }: Stage): readonly number[] {
  return full ? [40, 160, 640] : [40, 120, 360];
}

/** Returns the kinds of documents to measure: all in the long form, otherwise two. */
export function kindsOf({ full }: Stage): readonly string[] {
  return full ? KINDS : KINDS.filter((kind) => kind === 'articles' || kind === 'text');
}
