import { isUtf8 } from 'node:buffer';
import { decodeWhole } from '../../../http/collected-bytes.ts';
import {
  JsonError,
  type JsonNode,
  type Position,
  parseJson,
  positionAt,
  readJson,
} from '../../../http/json.ts';
import { Problem } from '../../../http/problem.ts';
import type { StoredRecord } from '../../../store/store.ts';
import type { Shape } from '../../fields/schema.ts';
import type { ItemAddress, ItemDecoder, ReadingOptions } from '../list-item.ts';
import { ValidationErrors } from '../validation-errors.ts';
import { JsonContent } from './content.ts';

/**
 * Creates a decoder for an item in JSON. It throws `json-malformed` with line and column for a document that
 * is not JSON in UTF-8, `unsupported-charset` for other encodings, and `invalid-content` with up to 20
 * errors.
 */
export function jsonDecoder(shape: Shape, options: ReadingOptions): ItemDecoder {
  return decodeWhole((bytes) => decode(shape, bytes, options));
}

function decode(shape: Shape, bytes: Buffer, { partial, maxDepth, address }: ReadingOptions): StoredRecord {
  const { text, node } = readJsonBytes(bytes, maxDepth);
  const errors = new ValidationErrors();
  const findPosition = (at: number) => positionAt(text, at);
  const fields = address === undefined ? node : withoutAddress(node, address, errors, findPosition);
  const value = new JsonContent(errors, findPosition).item(shape, fields, partial);
  const problem = errors.problem();
  if (problem !== undefined) throw problem;
  if (value === undefined) throw new Error('a document without errors has a value');
  return value;
}

/**
 * Returns a document without its members `id` and `href`, so that a client can send an item as the server showed it. Reports members
 * that are those of another item.
 */
export function withoutAddress(
  node: JsonNode,
  address: ItemAddress,
  errors: ValidationErrors,
  findPosition: (at: number) => Position,
): JsonNode {
  if (node.kind !== 'object') return node;
  const members = new Map(node.members);
  for (const [name, expected] of Object.entries(address)) {
    const sent = members.get(name);
    if (sent === undefined) continue;
    members.delete(name);
    if (sent.value.kind === 'string' && sent.value.text === expected) continue;
    const detail = `is set by the server, and is ${JSON.stringify(expected)} for this item`;
    if (errors.hasRoom()) errors.add(name, { rule: 'read-only', detail }, findPosition(sent.at));
  }
  return { ...node, members };
}

/**
 * Reads a JSON document.
 * @throws {Problem} `json-malformed` or `unsupported-charset`
 */
export function readJsonBytes(
  bytes: Buffer,
  maxDepth: number,
): { readonly text: string; readonly node: JsonNode } {
  const text = decodeText(bytes);
  return { text, node: refuse(() => readJson(text, maxDepth)) };
}

/**
 * Reads a JSON document as its value.
 * @throws {Problem} `json-malformed` or `unsupported-charset`
 */
export function parseJsonBytes(bytes: Buffer, maxDepth: number): unknown {
  const text = decodeText(bytes);
  return refuse(() => parseJson(text, maxDepth));
}

/** Reads JSON. Throws a Problem if it is malformed. */
function refuse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw malformed(error);
  }
}

/** Decodes a JSON document, which is UTF-8 without a byte order mark (RFC 8259 §8.1). */
function decodeText(bytes: Buffer): string {
  const encoding = detectEncoding(bytes);
  if (encoding !== undefined) {
    throw new Problem('unsupported-charset', `The document is in ${encoding}; only UTF-8 is supported.`, {
      members: { encoding },
    });
  }
  if (isUtf8(bytes)) return bytes.toString();
  const text = bytes.toString('utf8', 0, computeValidLength(bytes));
  throw malformed(new JsonError('found bytes that are not UTF-8', positionAt(text, text.length)));
}

/**
 * Detects UTF-16 and UTF-32. JSON begins with an ASCII character, so only they have a zero in the first two
 * bytes.
 */
function detectEncoding(bytes: Uint8Array): string | undefined {
  const [first, second, third, fourth] = bytes;
  if (first === 0 && second === 0) return 'UTF-32BE';
  if (first === 0 || (first === 0xfe && second === 0xff)) return 'UTF-16BE';
  const little = second === 0 || (first === 0xff && second === 0xfe);
  if (!little) return undefined;
  return third === 0 && fourth === 0 ? 'UTF-32LE' : 'UTF-16LE';
}

/** Returns the length of the longest valid UTF-8 prefix. */
function computeValidLength(bytes: Uint8Array): number {
  let valid = 0;
  for (let end = blockEnd(bytes, 0); end > valid; end = blockEnd(bytes, valid)) {
    if (!isUtf8(bytes.subarray(valid, end))) break;
    valid = end;
  }
  for (let lead = bytes[valid]; lead !== undefined; lead = bytes[valid]) {
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(valid, valid + length))) break;
    valid += length;
  }
  return valid;
}

/** Returns the end of a block of at most 1 KiB that does not split a character. */
function blockEnd(bytes: Uint8Array, start: number): number {
  let end = Math.min(start + 1024, bytes.length);
  while (end > start && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

function malformed({ message, line, column }: JsonError): Problem {
  return new Problem('json-malformed', `${message}.`, { members: { line, column } });
}
