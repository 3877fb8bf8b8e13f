/** The published page: the ratios that it begins with, and the pages of the topics. */
import type { Headline, Topic } from './publish.ts';

/** The figures that decide whether to use the package; each is a ratio to a baseline of the same rounds. */
export const headlines: readonly Headline[] = [
  {
    title: 'A signed GET',
    benchmark: 'load/signed',
    contestant: 'countersign, full form',
    figure: 'cpu',
    beside: 'bare node:http, the same bytes',
  },
  {
    title: 'A signature check',
    benchmark: 'signature',
    contestant: 'countersign',
    figure: 'cpu',
    beside: 'createHmac, as people write it',
  },
  {
    title: 'Acknowledged, synced writes of 64 writers',
    benchmark: 'store/writes',
    contestant: 'countersign',
    figure: 'rate',
    beside: 'better-sqlite3 grouped',
  },
  {
    title: 'The start of the command',
    benchmark: 'start',
    contestant: 'countersign --no-tls --memory',
    figure: 'answer',
    beside: 'bare node:http',
  },
  {
    title: 'A test double, from the start of the process to the first answer',
    benchmark: 'double-start',
    contestant: 'countersign/double, HTTP alone',
    figure: 'cpu',
    beside: 'bare node:http',
    group: 'spawn to first answer',
  },
  {
    title: 'An XML document of 92 bytes',
    benchmark: 'xml/article',
    contestant: 'countersign',
    figure: 'cpu',
    beside: 'saxes',
  },
];

/** The pages of the results, each with the benchmarks whose names begin with one of the words. */
export const topics: readonly Topic[] = [
  { file: 'requests.md', title: 'Requests', names: ['load/', 'in-process'] },
  { file: 'signatures.md', title: 'Signatures and credentials', names: ['signature', 'refusals'] },
  { file: 'start.md', title: 'Start', names: ['start', 'double-start'] },
  { file: 'stores.md', title: 'Stores and nonces', names: ['store/', 'nonces'] },
  { file: 'growth.md', title: 'Growth', names: ['growth/'] },
  { file: 'xml.md', title: 'XML', names: ['xml/'] },
];
