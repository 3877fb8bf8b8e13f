// Gives the texts of parameters, forms and XML the types of their schemas.
import { isUtf8 } from 'node:buffer';
import { parseJsonBytes } from '../../collections/formats/json/decoder.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';
import type { PartnerDocument } from './document.ts';
import { isObject, type LocatedSchema } from './located.ts';
import type { SchemaChecker } from './schema-check.ts';

/** Text, or a list or an object of it, before it gets the types of a schema. */
export type Structure = unknown;

/** Gives texts the types of a schema. */
export type ConvertTexts = (structure: Structure, schema: LocatedSchema | undefined) => unknown;

/** Creates the function that gives texts the types of a schema. */
export function createConvertTexts(
  { combine }: Pick<PartnerDocument, 'combine'>,
  checker: SchemaChecker,
): ConvertTexts {
  return function convert(structure: Structure, schema: LocatedSchema | undefined): unknown {
    if (schema === undefined) return structure;
    const { types, properties, additional, items } = combine(schema);
    if (structure instanceof JsonPart) return structure.value;
    if (Array.isArray(structure)) {
      if (!types.has('array') && types.size > 0 && structure.length === 1)
        return convert(structure[0], schema);
      return structure.map((item) => convert(item, items));
    }
    if (isObject(structure)) {
      const isList = types.has('array') && !types.has('object');
      if (isList) return convert(Object.values(structure), schema);
      return Object.fromEntries(
        Object.entries(structure).map(([name, each]) => [
          name,
          convert(each, properties.get(name) ?? additional),
        ]),
      );
    }
    if (typeof structure !== 'string') return structure;
    const candidates =
      types.has('array') && !types.has('string')
        ? [...(structure === '' ? [[]] : []), convert([structure], schema), ...listJson(structure)]
        : listCandidates(structure, types);
    if (candidates.length === 1) return candidates[0];
    return candidates.find((each) => checker.check(schema, each, 'request').length === 0) ?? candidates[0];
  };
}

/** Returns a text that is JSON by its type as a value; undefined if it is malformed. Other texts are returned as they are. */
export function parseValue(text: Structure, type: string): unknown {
  if (typeof text !== 'string' || !/[/+]json$/.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Returns the values that a text can stand for, the most specific one first. */
function listCandidates(text: string, types: ReadonlySet<string>): readonly unknown[] {
  const isAny = types.size === 0;
  const found: unknown[] = [];
  if ((types.has('integer') || types.has('number')) && numberForm.test(text)) found.push(Number(text));
  if (types.has('boolean') && (text === 'true' || text === 'false')) found.push(text === 'true');
  if (types.has('null') && (text === '' || text === 'null')) found.push(null);
  if (types.has('object')) found.push(...listJson(text));
  if (isAny || types.has('string') || found.length === 0) found.push(text);
  return found;
}

/** Returns the list or the object that a text is in JSON; none if it is no such text. */
function listJson(text: string): readonly unknown[] {
  const value = /^\s*[{[]/.test(text) ? parseValue(text, 'application/json') : undefined;
  return value === undefined ? [] : [value];
}

/** A part of a form that is JSON, so that its values have their types already. */
export class JsonPart {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/**
 * Reads the parts of multipart/form-data: of files, JSON is parsed, text is decoded, and of all else each octet is one character, so that
 * lengths are those of the file.
 * @param maxDepth the maximum nesting of JSON
 * @throws Problem (400) if a part is not the JSON that its type declares
 */
export async function readFormParts(
  form: FormData,
  maxDepth: number,
): Promise<readonly (readonly [name: string, value: unknown])[]> {
  return Promise.all(
    Array.from(
      form,
      async ([name, value]) =>
        [name, typeof value === 'string' ? value : await readFile(value, maxDepth)] as const,
    ),
  );
}

async function readFile(file: Blob, maxDepth: number): Promise<unknown> {
  const bytes = Buffer.from(await file.arrayBuffer());
  const type = parseMediaType(file.type)?.type ?? '';
  if (/[/+]json$/.test(type)) return new JsonPart(parseJsonBytes(bytes, maxDepth));
  return bytes.toString(type.startsWith('text/') && isUtf8(bytes) ? 'utf8' : 'latin1');
}
