import type { Profiler } from 'node:inspector';

/** The steps of a request in the order of processing. A frame belongs to the first step that matches. */
const steps: readonly (readonly [step: string, file: RegExp, called?: RegExp])[] = [
  ['writing', /^net\/(write-batch|response-encoder|reason-phrase|lingering-close)/],
  ['writing', /^net\/http-connection/, /send|write|answer|flush|say|reply/i],
  ['framing', /^net\//],
  ['framing', /^http\/(message|transfer|host)$/],
  ['routing', /^(pipeline\/router|http\/(target|path|method|syntax\/uri-character))$/],
  ['date', /^http\/headers\/date$|^clock$/],
  ['nonce', /^store\/nonces/],
  ['digest', /^signature\//],
  [
    'judging',
    /^auth\/|^service\/authentication$|^http\/headers\/(authorization|accept|media-type|precondition|entity-tag)/,
  ],
  ['XML', /^xml\//],
  ['store', /^store\/|^collections\/(collection|item)/],
  ['representation', /^formats\/.*(writer|document|list-item|bytes)|^pipeline\/response$/],
  ['validation', /^(schema|formats)\/|^pipeline\/request-body$|^http\/headers\/content-/],
  ['judging', /./],
];

/** The names of all steps, including those outside the server's own code. */
export const stepNames: readonly string[] = [
  'framing',
  'routing',
  'date',
  'digest',
  'nonce',
  'judging',
  'XML',
  'validation',
  'store',
  'representation',
  'writing',
  'garbage collection',
  'outside JavaScript',
];

/** Returns the step of a frame; undefined for a frame outside `src/`. */
export function stepOf(url: string, functionName: string): string | undefined {
  const file = /\/src\/(.+)\.[jt]s$/.exec(url)?.[1];
  if (file === undefined || url.includes('node_modules')) return undefined;
  return steps.find(([, path, called]) => path.test(file) && (called?.test(functionName) ?? true))?.[0];
}

/**
 * Returns the share of each step in the samples of a profile, from 0 to 1. A sample belongs to the innermost frame of
 * `src/` on its stack, so that hashing and writing by Node.js count for their caller. A sample without one counts for
 * reading and parsing.
 */
export function sharesOf(profile: Profiler.Profile): Readonly<Record<string, number>> {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const byNode = new Map<number, string | undefined>();
  const stepAt = (id: number): string | undefined => {
    if (byNode.has(id)) return byNode.get(id);
    const frame = nodes.get(id)?.callFrame;
    const parent = parents.get(id);
    const own = frame === undefined ? undefined : stepOf(frame.url, frame.functionName);
    const step = own ?? (parent === undefined ? undefined : stepAt(parent));
    byNode.set(id, step);
    return step;
  };
  const sums = new Map<string, number>();
  // Samples are counted, not the time between them, because a waiting process is not sampled.
  const { samples = [] } = profile;
  for (const id of samples) {
    const name = nodes.get(id)?.callFrame.functionName;
    if (name === '(idle)') continue;
    const step = outsideOf(name) ?? stepAt(id) ?? 'framing';
    sums.set(step, (sums.get(step) ?? 0) + 1);
  }
  const all = [...sums.values()].reduce((sum, count) => sum + count, 0);
  return Object.fromEntries(stepNames.map((name) => [name, (sums.get(name) ?? 0) / all]));
}

function outsideOf(name: string | undefined): string | undefined {
  if (name === '(garbage collector)') return 'garbage collection';
  return name === '(program)' || name === '(root)' ? 'outside JavaScript' : undefined;
}
