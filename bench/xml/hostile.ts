/** Parses hostile documents in its own process. An order is a kind, its size and the size of a chunk, in bytes. */
import { createParser, XmlError } from '../../src/xml/index.ts';
import type { Answer } from '../measure/parts/part.ts';
import { timed } from '../measure/timing.ts';

/** The kinds, each with a function that creates a document of `bytes` bytes. */
export const HOSTILE: ReadonlyMap<string, (bytes: number) => string> = new Map<
  string,
  (bytes: number) => string
>([
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
]);
// so large that no document is rejected early
const WIDE = { maxDepth: 1e6, maxAttributes: 1e6, maxName: 1e7, maxValue: 1e7, maxToken: 1e7 };

/** Returns the time per byte. */
export function part(): Answer {
  return (kind = '', size = '', chunk = '') => {
    const document = Buffer.from(HOSTILE.get(kind)?.(Number(size)) ?? '');
    return timed(() => read(document, Number(chunk)), document.length);
  };
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
