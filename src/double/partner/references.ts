// Follows the references of a document, and walks through the objects that can have some.
import { posix } from 'node:path';
import { decodeText } from '../../http/syntax/percent.ts';
import { DeclarationError } from '../../schema/error.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { describeKind } from '../../shape/fault.ts';
import { formatPlace, isObject, type LocatedSchema } from './located.ts';
import type { Patterns } from './patterns.ts';

/** Follows references. Throws DeclarationError if one leads nowhere, or in a circle. */
export type Resolve = (node: LocatedSchema) => LocatedSchema;

/** The document by its name `''`, and the files that it refers to by their paths, relative to its folder; or why one cannot be read. */
export type DocumentFiles = ReadonlyMap<string, unknown>;

/** Returns the name of the file with a place: `schemas/order.json` of `schemas/order.json#/Order`; '' for the document itself. */
function fileOf(at: string): string {
  return at.slice(0, at.indexOf('#'));
}

/**
 * Returns the file that a reference leads to and the fragment in it, or why it leads to none. References are relative to the file that
 * has them (RFC 3986 §5.2).
 */
export function splitReference(
  reference: string,
  from: string,
): { readonly file: string; readonly fragment: string } | string {
  const [path = '', fragment = ''] = reference.split(/#(.*)/s, 2);
  if (path === '') return { file: from, fragment };
  if (/^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(path))
    return 'is not relative: only files beside the document are read, and no URLs';
  const decoded = decodeText(path);
  if (decoded === undefined || !/\.(?:json|ya?ml)$/i.test(decoded))
    return 'is not in this document, and names no file that ends in .json, .yaml or .yml';
  const file = posix.normalize(posix.join(posix.dirname(from), decoded));
  // A document of someone else must not read, and so serve, other files of this machine.
  if (file.startsWith('../') || file.includes('\\') || file.includes('\0'))
    return 'leads out of the folder of the document';
  return { file, fragment };
}

/** Returns the names of the files that a file refers to. */
export function listReferredFiles(root: unknown, name: string): readonly string[] {
  const names = new Set<string>();
  for (const { value } of isObject(root) ? listObjects(root, name) : []) {
    const reference = value['$ref'];
    const split = typeof reference === 'string' ? splitReference(reference, name) : '';
    if (typeof split !== 'string') names.add(split.file);
  }
  return [...names];
}

/** Returns the function that follows references. Each is looked up once. */
export function createResolver(files: DocumentFiles): Resolve {
  const found = new Map<string, LocatedSchema>();
  return (node) => {
    let current = node;
    for (let steps = 0; ; steps += 1) {
      const reference = isObject(current.value) ? current.value['$ref'] : undefined;
      if (typeof reference !== 'string') return current;
      if (steps > 100)
        throw new DeclarationError('value', node.at, `$ref ${reference} leads in a circle of references`);
      const key = `${fileOf(current.at)} ${reference}`;
      const target = found.get(key) ?? lookUp(files, reference, current.at);
      found.set(key, target);
      current = target;
    }
  };
}

function lookUp(files: DocumentFiles, reference: string, from: string): LocatedSchema {
  const fail = (why: string): never => {
    throw new DeclarationError('value', from, `$ref ${JSON.stringify(reference)} ${why}`);
  };
  const split = splitReference(reference, fileOf(from));
  if (typeof split === 'string') return fail(split);
  const { file, fragment } = split;
  if (fragment !== '' && !fragment.startsWith('/'))
    fail('is no JSON Pointer; only references such as #/components/schemas/Order are followed');
  let value = files.get(file);
  if (value instanceof DeclarationError) fail(value.message);
  if (value === undefined) fail('leads to another file, and the document was not read from one');
  let at = `${file}#`;
  for (const part of fragment.split('/').slice(1)) {
    const name = decodePart(part) ?? fail('is malformed');
    const isIndex = Array.isArray(value) && /^(?:0|[1-9]\d*)$/.test(name);
    if (!isIndex && !(isObject(value) && Object.hasOwn(value, name)))
      fail(`leads nowhere: ${at} has no ${name}`);
    value = Reflect.get(Object(value), name);
    at = formatPlace(at, name);
  }
  if (isObject(value) || typeof value === 'boolean') return { value, at };
  return fail(`leads to ${describeKind(value)}`);
}

function decodePart(part: string): string | undefined {
  return decodeText(part)?.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A value on the way of the walk, with the way to it. */
interface Step {
  readonly value: object;
  readonly name: string;
  readonly parent: Step | undefined;
  /** Whether the names of the members are those of the document's author. */
  readonly isMap: boolean;
}

/** Members whose values are data: a `$ref` in them is none. */
const dataNames: ReadonlySet<string> = new Set(['example', 'default', 'enum', 'const', 'value', 'mapping']);

/** Members that are maps: the names in them mean nothing. `examples` is one outside of schemas. */
const mapNames: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas', 'paths', 'content'],
  ...['schemas', 'responses', 'requestBodies', 'headers', 'securitySchemes', 'callbacks', 'webhooks'],
  ...['links', 'pathItems', 'examples', 'encoding', 'variables', 'parameters', 'scopes'],
]);

/** The places of a document with a reference that cannot be followed, there or behind other references. */
export interface BrokenPlaces {
  readonly faults: readonly DeclarationError[];
  /** Throws DeclarationError if a part of the document has such a reference. */
  check(at: string): void;
}

/** Follows every reference of the document once. */
export function findBrokenPlaces(files: DocumentFiles, resolve: Resolve): BrokenPlaces {
  const open: { readonly at: string; readonly fault: DeclarationError }[] = [];
  const referring = new Map<string, string[]>();
  for (const { step, value, first } of listAllObjects(files)) {
    if (first === undefined && typeof value['$ref'] !== 'string') continue;
    const at = placeOfStep(step);
    try {
      const target = first === undefined ? resolve({ value, at }).at : placeOfStep(first);
      referring.set(target, [...(referring.get(target) ?? []), at]);
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error;
      open.push({ at, fault: error });
    }
  }
  const faults = open.map(({ fault }) => fault);
  // A place is broken if a part of it is, or what it refers to.
  const broken = new Map<string, DeclarationError>();
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (
      let { at, fault } = next;
      at !== '' && !broken.has(at);
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
    ) {
      broken.set(at, fault);
      for (const from of referring.get(at) ?? []) open.push({ at: from, fault });
    }
  return {
    faults,
    check(at) {
      const fault = broken.get(at);
      if (fault !== undefined) throw fault;
    },
  };
}

/** Returns the patterns that are not enforced, and why. */
export function examinePatterns(files: DocumentFiles, patterns: Patterns): readonly string[] {
  const faults: string[] = [];
  const examine = (source: string, step: Step, ...names: readonly string[]): void => {
    const fault = patterns.findFault(source);
    if (fault !== undefined)
      faults.push(`${formatPlace(placeOfStep(step), ...names)} is not enforced: ${fault}.`);
  };
  for (const { step, value, first } of listAllObjects(files)) {
    if (first !== undefined) continue;
    const { pattern, patternProperties } = value;
    if (typeof pattern === 'string') examine(pattern, step, 'pattern');
    if (isObject(patternProperties))
      for (const source of Object.keys(patternProperties)) examine(source, step, 'patternProperties', source);
  }
  return faults;
}

/** An object of a document whose members are those of OpenAPI or JSON Schema. */
interface Visited {
  readonly step: Step;
  readonly value: JsonSchema;
  /** The place where the same object stands, too, if it was visited there. */
  readonly first: Step | undefined;
}

/** Yields the objects of the document and of its files. */
function* listAllObjects(files: DocumentFiles): Generator<Visited> {
  for (const [name, root] of files) if (isObject(root)) yield* listObjects(root, name);
}

/** Yields the objects of a file whose members are those of OpenAPI or JSON Schema. */
function* listObjects(root: JsonSchema, file: string): Generator<Visited> {
  const seen = new Map<object, Step>();
  const open: Step[] = [{ value: root, name: `${file}#`, parent: undefined, isMap: false }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    // An object that a caller passes can contain itself, or one object twice.
    const first = seen.get(step.value);
    if (first !== undefined) {
      yield { step, value: {}, first };
      continue;
    }
    seen.set(step.value, step);
    const { value, isMap } = step;
    const isList = Array.isArray(value);
    if (!isMap && isObject(value)) yield { step, value, first };
    for (const name of Object.keys(value)) {
      const child: unknown = Reflect.get(value, name);
      if (typeof child !== 'object' || child === null) continue;
      if (!isMap && !isList && (dataNames.has(name) || name.startsWith('x-'))) continue;
      // In a schema, `examples` is a list of data.
      if (name === 'examples' && !isMap && Array.isArray(child)) continue;
      const childIsMap = !isMap && !isList && !Array.isArray(child) && mapNames.has(name);
      open.push({ value: child, name, parent: step, isMap: childIsMap });
    }
  }
}

function placeOfStep(step: Step): string {
  return step.parent === undefined ? step.name : formatPlace(placeOfStep(step.parent), step.name);
}
