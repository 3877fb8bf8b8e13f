import { readCollection } from '../../../src/collections/declaration.ts';
import type { Shape } from '../../../src/collections/fields/schema.ts';
import { jsonDecoder } from '../../../src/collections/formats/json/decoder.ts';
import type { ItemDecoder } from '../../../src/collections/formats/list-item.ts';
import { xmlDecoder } from '../../../src/collections/formats/xml/decoder.ts';
import { Problem } from '../../../src/http/problem.ts';
import type { StoredRecord } from '../../../src/store/store.ts';

/** A shape of items with these fields, `<thing>` in `<things>`. */
export function buildShape(fields: unknown): Shape {
  return readCollection('/things', { element: 'things', item: 'thing', fields }).shape;
}

const options = { partial: false, maxDepth: 32, maxAttributes: 64 };

/** Decodes a whole XML document. */
export function fromXml(shape: Shape, document: string | Uint8Array, partial = false): StoredRecord {
  return whole(xmlDecoder(shape, { ...options, partial }), document);
}

/** Decodes a whole JSON document. */
export function fromJson(shape: Shape, document: string | Uint8Array, partial = false): StoredRecord {
  return whole(jsonDecoder(shape, { ...options, partial }), document);
}

function whole(decoder: ItemDecoder, document: string | Uint8Array): StoredRecord {
  decoder.write(typeof document === 'string' ? Buffer.from(document) : document);
  return decoder.end();
}

/** A fault as a problem document lists it. */
interface ListedFault {
  readonly field: string;
  readonly rule: string;
  readonly detail: string;
  readonly line?: number;
  readonly column?: number;
}

/** The problem that decoding ends in. */
export function catchProblem(decode: () => unknown): Problem {
  try {
    decode();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('decoding was expected to fail');
}

/** The faults that decoding ends in. */
export function listFaults(decode: () => unknown): ListedFault[] {
  const problem = catchProblem(decode);
  const errors = problem.members['errors'];
  if (problem.type !== 'invalid-content' || !Array.isArray(errors)) throw problem;
  return errors;
}

/** The faults without their details: `price fractionDigits 1:70`. */
export function briefly(faults: readonly ListedFault[]): string[] {
  return faults.map(({ field, rule, line, column }) => `${field} ${rule} ${line}:${column}`);
}
