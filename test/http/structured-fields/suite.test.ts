// The test cases of the HTTP working group; see fixtures/structured-fields/README.md.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseDictionary, parseItem, parseList } from '../../../src/http/structured-fields/parse.ts';
import {
  serializeDictionary,
  serializeItem,
  serializeList,
} from '../../../src/http/structured-fields/serialize.ts';
import {
  type BareItem,
  type Dictionary,
  type Item,
  isInnerList,
  type List,
  type Member,
  type Parameters,
} from '../../../src/http/structured-fields/value.ts';

type JsonBare = number | string | boolean | { readonly __type: string; readonly value: string | number };
type JsonParameters = readonly (readonly [string, JsonBare])[];
type JsonItem = readonly [JsonBare, JsonParameters];
type JsonMember = JsonItem | readonly [readonly JsonItem[], JsonParameters];

interface Case {
  readonly name: string;
  readonly raw?: readonly string[];
  readonly header_type: 'item' | 'list' | 'dictionary';
  readonly expected?: unknown;
  readonly must_fail?: boolean;
  readonly can_fail?: boolean;
  readonly canonical?: readonly string[];
}

const folder = join(import.meta.dirname, '../../../fixtures/structured-fields');
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

function casesIn(file: string): readonly Case[] {
  const cases: readonly Case[] = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return cases;
}

/** Decodes base32 (RFC 4648 §6), in which the suite writes bytes. */
function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = Array.from(text.replace(/=+$/, ''), (character) =>
    alphabet.indexOf(character).toString(2).padStart(5, '0'),
  ).join('');
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}

function bareToJson(bare: BareItem): JsonBare {
  switch (bare.type) {
    case 'token':
    case 'date':
      return { __type: bare.type, value: bare.value };
    case 'display-string':
      return { __type: 'displaystring', value: bare.value };
    case 'bytes':
      return { __type: 'binary', value: Buffer.from(bare.value, 'base64').toString('hex') };
    default:
      return bare.value;
  }
}

function parametersToJson(parameters: Parameters): JsonParameters {
  return Array.from(parameters, ([key, value]) => [key, bareToJson(value)]);
}

function itemToJson({ bare, parameters }: Item): JsonItem {
  return [bareToJson(bare), parametersToJson(parameters)];
}

function memberToJson(member: Member): JsonMember {
  return isInnerList(member)
    ? [member.items.map(itemToJson), parametersToJson(member.parameters)]
    : itemToJson(member);
}

/** The expected value, with bytes in hexadecimal. */
function normalized(expected: unknown): unknown {
  return JSON.parse(
    JSON.stringify(expected, (_, value) =>
      value?.__type === 'binary'
        ? { __type: 'binary', value: fromBase32(value.value).toString('hex') }
        : value,
    ),
  );
}

interface Parsed {
  readonly json: unknown;
  readonly serialized: string;
}

function parse(type: Case['header_type'], text: string): Parsed {
  if (type === 'item') {
    const item = parseItem(text);
    return { json: itemToJson(item), serialized: serializeItem(item) };
  }
  if (type === 'list') {
    const list = parseList(text);
    return { json: list.map(memberToJson), serialized: serializeList(list) };
  }
  const dictionary = parseDictionary(text);
  const json = Array.from(dictionary, ([key, member]) => [key, memberToJson(member)]);
  return { json, serialized: serializeDictionary(dictionary) };
}

for (const file of files.filter((name) => !name.startsWith('serialization-'))) {
  test(`every field value of ${file} is parsed and serialized, or rejected, as the suite expects`, () => {
    for (const { name, raw = [], header_type, expected, must_fail, can_fail, canonical } of casesIn(file)) {
      const text = raw.join(', ');
      if (must_fail === true) {
        assert.throws(() => parse(header_type, text), { name: 'StructuredFieldError' }, name);
      } else if (can_fail === true && file === 'binary.json') {
        // Base64 that is not canonical may be refused, and is.
        assert.throws(() => parse(header_type, text), { name: 'StructuredFieldError' }, name);
      } else {
        const { json, serialized } = parse(header_type, text);
        assert.deepEqual(json, normalized(expected), name);
        assert.equal(serialized, (canonical ?? raw).join(', '), name);
      }
    }
  });
}

function bareFrom(json: JsonBare): BareItem {
  if (typeof json === 'boolean') return { type: 'boolean', value: json };
  if (typeof json === 'string') return { type: 'string', value: json };
  if (typeof json === 'number') return { type: Number.isInteger(json) ? 'integer' : 'decimal', value: json };
  return { type: 'token', value: String(json.value) };
}

function parametersFrom(json: JsonParameters): Parameters {
  return new Map(json.map(([key, value]) => [key, bareFrom(value)]));
}

const itemFrom = ([bare, parameters]: JsonItem): Item => ({
  bare: bareFrom(bare),
  parameters: parametersFrom(parameters),
});

function serialize({ header_type, expected }: Case): string {
  const json = JSON.stringify(expected);
  if (header_type === 'item') {
    const item: JsonItem = JSON.parse(json);
    return serializeItem(itemFrom(item));
  }
  if (header_type === 'list') {
    const items: readonly JsonItem[] = JSON.parse(json);
    const list: List = items.map(itemFrom);
    return serializeList(list);
  }
  const members: readonly (readonly [string, JsonItem])[] = JSON.parse(json);
  const dictionary: Dictionary = new Map(members.map(([key, item]) => [key, itemFrom(item)]));
  return serializeDictionary(dictionary);
}

for (const file of files.filter((name) => name.startsWith('serialization-'))) {
  test(`every value of ${file} is serialized or rejected as the suite expects`, () => {
    for (const each of casesIn(file)) {
      if (each.must_fail === true) assert.throws(() => serialize(each), RangeError, each.name);
      else assert.equal(serialize(each), (each.canonical ?? []).join(', '), each.name);
    }
  });
}

test('the suite has all its 2135 cases', () => {
  const count = files.map((file) => casesIn(file).length).reduce((sum, length) => sum + length, 0);
  assert.equal(count, 2135);
});
