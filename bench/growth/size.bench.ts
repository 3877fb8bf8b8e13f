/** Measures how the cost of the same work grows with how much there is. */
import type { Benchmark, Contestant, Group, Stage } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';

/** A quantity that grows, and the operations that are measured at each size. */
interface Growing {
  /** The unit of the sizes. */
  readonly of: string;
  /** Sizes of the short and of the long form: the first, the last, and how many times larger each is than the one before. */
  readonly short: readonly [from: number, to: number, times: number];
  readonly full: readonly [from: number, to: number, times: number];
  /** The names of the curves, by the order that is sent to the part. */
  readonly curves: Readonly<Record<string, string>>;
  /** The part. Default: `growth/service.ts`. */
  readonly file?: string;
}

const growing: readonly Growing[] = [
  {
    of: 'articles',
    short: [1000, 1e5, 10],
    full: [100, 1e6, 10],
    curves: { GET: 'GET of one', page: 'GET of a page', change: 'replacement in the store' },
  },
  { of: 'stubs', short: [10, 1000, 10], full: [1, 1e4, 10], curves: { GET: 'GET that one of them answers' } },
  { of: 'users', short: [10, 1e5, 100], full: [1, 1e5, 10], curves: { GET: 'signed GET' } },
  { of: 'collections', short: [1, 1e4, 100], full: [1, 1e4, 10], curves: { GET: 'GET' } },
  {
    of: 'bytes',
    short: [100, 1e6, 100],
    full: [100, 1e6, 10],
    curves: { XML: 'PUT of XML', JSON: 'PUT of JSON' },
  },
  {
    of: 'nonces',
    short: [1000, 1e6, 10],
    full: [1000, 1e7, 10],
    curves: { claim: 'claim' },
    file: 'growth/nonces.ts',
  },
];

/** Returns a group of curves. Each size has its own process. */
function groupOf(stage: Stage, { of, short, full, curves, file = 'growth/service.ts' }: Growing): Group {
  const [from, to, times] = stage.full ? full : short;
  const count = Math.round(Math.log(to / from) / Math.log(times)) + 1;
  const sizes = Array.from({ length: count }, (_, index) => from * times ** index);
  const contestants = sizes.flatMap((size): Contestant[] => {
    const node = ['--max-old-space-size=8192'];
    const shared = sharedPart(stage, { file, words: [of, String(size)], node });
    return Object.entries(curves).map(([order, name]) => shared({ name, ours: true, size }, [order]));
  });
  return { name: of, sizes: of, contestants };
}

export const benchmark: Benchmark = {
  title: 'How cost grows with how much there is',
  about:
    'In process. Articles: GET of a random one, a page of 50 from a random place, and, in the store itself, the replacement of a random one. Stubs: `double.fetch` of a path that one of them matches. Users: a GET signed by a random one, in the full form. Collections: GET of a random one, all empty. Bytes: PUT of an article with a title of this length, parsed, validated and stored. Nonces: a claim while this number is stored, half a window after the first of them.',
  figures: [...timeFigures],
  open: (stage) => growing.map((each) => groupOf(stage, each)),
};
