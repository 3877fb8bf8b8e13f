// Follows the references of a document.
import { posix } from 'node:path';
import { DeclarationError } from '../../collections/fields/error.ts';
import { decodeText } from '../../http/syntax/percent.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { type DocumentFiles, listObjects } from './document-walk.ts';
import { createDynamicScopes } from './dynamic-scopes.ts';
import { followPointer, isObject, type Located, type LocatedSchema, referenceOf } from './located.ts';
import type { SchemaResources } from './schema-resources.ts';

/**
 * Follows references. Throws DeclarationError if one leads nowhere, or in a circle. With `last`, a reference that has members beside it
 * is followed too, as that of an object which is no schema.
 */
export type Resolve = (node: LocatedSchema, last?: boolean) => LocatedSchema;

/** Returns the name of the file with a place: `schemas/order.json` of `schemas/order.json#/Order`; '' for the document itself. */
function fileOf(at: string): string {
  return at.slice(0, at.indexOf('#'));
}

/**
 * Returns the file that a reference leads to and the fragment in it, or why it leads to none. References are relative to the file that
 * has them (RFC 3986 §5.2).
 */
function splitReference(
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
    const reference = referenceOf(value);
    const split = reference === undefined ? '' : splitReference(reference, name);
    if (typeof split !== 'string') names.add(split.file);
  }
  return [...names];
}

/** Returns the function that follows references. Each is looked up once. */
export function createResolver(
  files: DocumentFiles,
  resources: SchemaResources,
  version: '3.0' | '3.1',
): Resolve {
  const scopes = createDynamicScopes(resources);
  const found = new WeakMap<JsonSchema, LocatedSchema>();
  const follow = (node: Located, reference: string): LocatedSchema => {
    const known = found.get(node.value);
    if (known !== undefined) return known;
    const target = scopes.select(node, lookUp(files, resources, reference, node.at));
    found.set(node.value, target);
    return target;
  };
  return (node, last = version === '3.0') => {
    let current = node;
    for (let steps = 0; ; steps += 1) {
      const { value, at } = current;
      const reference = referenceOf(value);
      if (!isObject(value) || reference === undefined) return current;
      // Beside the reference of a schema, other keywords apply.
      if (!last && steps > 0 && Object.keys(value).length > 1) return current;
      if (steps > 100)
        throw new DeclarationError('value', node.at, `$ref ${reference} leads in a circle of references`);
      current = follow({ value, at }, reference);
    }
  };
}

function lookUp(
  files: DocumentFiles,
  resources: SchemaResources,
  reference: string,
  from: string,
): LocatedSchema {
  const identified = resources.find(reference, from);
  if (identified !== undefined) return identified;
  const fail = (why: string): never => {
    throw new DeclarationError('value', from, `$ref ${JSON.stringify(reference)} ${why}`);
  };
  const split = splitReference(reference, fileOf(from));
  if (typeof split === 'string') return fail(split);
  const { file, fragment } = split;
  if (fragment !== '' && !fragment.startsWith('/'))
    fail('is no JSON Pointer, and no schema there has this $anchor');
  const root = files.get(file);
  if (root instanceof DeclarationError) fail(root.message);
  if (root === undefined) fail('leads to another file, and the document was not read from one');
  const target = followPointer({ value: root, at: `${file}#` }, fragment);
  return typeof target === 'string' ? fail(target) : target;
}
