import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import {
  parseDictionary,
  parseItem,
  parseList,
  StructuredFieldError,
} from '../../../src/http/structured-fields/parse.ts';
import {
  serializeDictionary,
  serializeItem,
  serializeList,
} from '../../../src/http/structured-fields/serialize.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';

const entry = join(import.meta.dirname, '../../node_modules/structured-headers/dist/index.js');
const skip = existsSync(entry) ? false : 'structured-headers is not installed: npm ci --prefix test';

/** The functions of the independent implementation that are compared. */
interface StructuredHeaders {
  parseItem(text: string): object;
  parseList(text: string): object;
  parseDictionary(text: string): object;
  serializeItem(value: object): string;
  serializeList(value: object): string;
  serializeDictionary(value: object): string;
}

type RoundTrip = (text: string) => string;

const ours: Readonly<Record<string, RoundTrip>> = {
  item: (text) => serializeItem(parseItem(text)),
  list: (text) => serializeList(parseList(text)),
  dictionary: (text) => serializeDictionary(parseDictionary(text)),
};

function theirs(library: StructuredHeaders): Readonly<Record<string, RoundTrip>> {
  return {
    item: (text) => library.serializeItem(library.parseItem(text)),
    list: (text) => library.serializeList(library.parseList(text)),
    dictionary: (text) => library.serializeDictionary(library.parseDictionary(text)),
  };
}

/** Returns the canonical form; undefined if the text is refused. */
function canonical(roundTrip: RoundTrip | undefined, text: string): string | undefined {
  try {
    return roundTrip?.(text);
  } catch {
    return undefined;
  }
}

const bareItems = [
  ...['0', '-0', '1', '-17', '999999999999999', '1000000000000000', '1.5', '-0.125', '1.', '.5', '1.0000'],
  ...['123456789012.125', '1234567890123.1', '00', '0.0', '@1659578233', '@-1', '@1.5', '@', '?0', '?1'],
  ...['?2', '"a"', '""', '"a\\"b"', '"\\\\"', '"\\x"', '"a', '"é"', 'token', '*t/x:y', 'T!#', '4t'],
  ...[':aGk=:', '::', '%"f%c3%bc"', '%"%C3"', '%"%ff"', '%""', '%"a', '%x'],
];
const keys = ['a', 'b', '*c', 'a-b.c_d', 'A', '1', 'a1', ''];

function parameters(random: Seeded): string {
  return Array.from({ length: random.below(3) }, () => {
    const value = random.below(2) === 0 ? '' : `=${random.pick(bareItems)}`;
    return `;${random.pick(['', ' ', '  '])}${random.pick(keys)}${value}`;
  }).join('');
}

const item = (random: Seeded): string => random.pick(bareItems) + parameters(random);

function member(random: Seeded): string {
  if (random.below(3) > 0) return item(random);
  const items = Array.from({ length: random.below(4) }, () => item(random));
  return `(${random.pick(['', ' '])}${items.join(random.pick([' ', '  ', ' ', '']))})${parameters(random)}`;
}

function fieldValue(random: Seeded, type: string): string {
  const separator = (): string => random.pick([',', ', ', ' ,\t', ' , ', ';', ' ']);
  if (type === 'item') return item(random);
  return Array.from({ length: random.below(4) }, () => {
    if (type === 'list') return member(random);
    return random.pick(keys) + (random.below(4) === 0 ? parameters(random) : `=${member(random)}`);
  }).reduce((text, next) => (text === '' ? next : text + separator() + next), '');
}

/** Inserts, removes or replaces a character at random. */
function mutated(random: Seeded, text: string): string {
  const at = random.below(text.length + 1);
  const inserted = random.pick([...' \t",;:=()?%@*-.aA1\\\x7f\u00e9', '']);
  return text.slice(0, at) + inserted + text.slice(at + random.below(2));
}

/** The package has no type for decimals, so it serializes 1.0 as 1. */
const withoutWholeDecimals = (text: string | undefined): string | undefined =>
  text?.replace(/(\d)\.0(?!\d)/g, '$1');
/** The package refuses dates with parameters and dates before 1970, which are valid (RFC 9651 §3.3.7). */
const hasDate = (text: string): boolean => text.includes('@');
/** The package also accepts base64 that is not canonical. */
const hasLaxBase64 = (text: string): boolean =>
  Array.from(text.matchAll(/(?<=:)[\w+/=]*(?=:)/g)).some(
    ([sent]) => Buffer.from(sent, 'base64').toString('base64') !== sent,
  );

test('the parser accepts and rejects the same random texts as structured-headers', { skip }, async () => {
  const library: StructuredHeaders = await import(entry);
  const others = theirs(library);
  const random = seeded();
  let accepted = 0;
  for (let round = 0; round < 30_000; round += 1) {
    const type = random.pick(['item', 'list', 'dictionary']);
    let text = fieldValue(random, type);
    for (let more = random.below(3); more > 0; more -= 1) text = mutated(random, text);
    if (hasDate(text) || hasLaxBase64(text)) continue;
    const expected = withoutWholeDecimals(canonical(others[type], text));
    const actual = withoutWholeDecimals(canonical(ours[type], text));
    if (actual !== undefined) accepted += 1;
    assert.equal(actual, expected, `${type} ${JSON.stringify(text)}, SEED=${random.seed}`);
  }
  assert.ok(accepted > 3000, `only ${accepted} texts were accepted, SEED=${random.seed}`);
});

test('a random text is rejected with its position, or its canonical form is parsed unchanged', () => {
  const random = seeded();
  for (let round = 0; round < 20_000; round += 1) {
    const type = random.pick(['item', 'list', 'dictionary']);
    const text = random.text('ab1 ,;=:()"\\?%@*-.\t/+\u0000\u00ff', 24);
    const roundTrip = ours[type];
    try {
      const once = roundTrip?.(text) ?? '';
      assert.equal(roundTrip?.(once), once, `${JSON.stringify(text)}, SEED=${random.seed}`);
    } catch (error) {
      if (!(error instanceof StructuredFieldError)) throw error;
      assert.ok(error.index <= text.length + 1, `${JSON.stringify(text)}, SEED=${random.seed}`);
    }
  }
});

test('a duplicate key is rejected if keys must be unique', () => {
  assert.equal(serializeDictionary(parseDictionary('a=1, b, a=2')), 'a=2, b');
  assert.throws(() => parseDictionary('a=1, b, a=2', { uniqueKeys: true }), {
    message: 'the key a occurs twice at character 9',
  });
});
