/** Hostile documents of growing size: the time for a byte should not grow, whatever the chunks. */
import { createParser, XmlError } from '../../src/xml/index.ts';
import { cpuTime } from './rounds.ts';

const HOSTILE: readonly (readonly [what: string, make: (bytes: number) => string])[] = [
  ['deep nesting with namespaces', (bytes) => '<p:a xmlns:p="u" p:b="">'.repeat(bytes / 24)],
  [
    'one tag of attributes',
    (bytes) => `<a${Array.from({ length: bytes / 8 }, (_, index) => ` a${index}=""`).join('')}/>`,
  ],
  ['one comment', (bytes) => `<a><!--${' -x'.repeat(bytes / 3)}--></a>`],
  ['one value', (bytes) => `<a b="${'&lt;x '.repeat(bytes / 6)}"/>`],
  ['brackets', (bytes) => `<a>${']'.repeat(bytes)}</a>`],
  ['carriage returns', (bytes) => `<a>${'\r'.repeat(bytes)}</a>`],
  ['one name', (bytes) => `<${'n'.repeat(bytes)}/>`],
  [
    'many names',
    (bytes) => `<a>${Array.from({ length: bytes / 8 }, (_, index) => `<n${index}/>`).join('')}</a>`,
  ],
  ['namespaces in scope', (bytes) => `<a xmlns:p="u">${'<p:b p:c="" p:d=""/>'.repeat(bytes / 20)}</a>`],
];
// so wide that nothing is refused early
const WIDE = { maxDepth: 1e6, maxAttributes: 1e6, maxName: 1e7, maxValue: 1e7, maxToken: 1e7 };

for (const [what, make] of HOSTILE) {
  for (const chunk of [1, 65_536]) {
    const figures = [40_000, 160_000, 640_000].map((bytes) => perByte(Buffer.from(make(bytes)), chunk));
    console.log(
      `${what.padEnd(30)} chunks of ${String(chunk).padStart(5)}: ${figures.map((ns) => `${ns.toFixed(1).padStart(7)} ns`).join('')} a byte`,
    );
  }
}

function perByte(document: Buffer, chunk: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++)
    least = Math.min(
      least,
      cpuTime(() => read(document, chunk)),
    );
  return least / document.length;
}

function read(document: Buffer, chunk: number): void {
  const parser = createParser({}, WIDE);
  try {
    for (let at = 0; at < document.length; at += chunk) parser.write(document.subarray(at, at + chunk));
    parser.end();
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
  }
}
