// Follows the references of a document.

import { posix } from 'node:path';
import { DeclarationError } from '../../collections/fields/error.ts';
import { decodeText } from '../../http/syntax/percent.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { type DocumentFiles, listAllObjects, listObjects, placeOfStep, type Step } from './document-walk.ts';
import {
  followPointer,
  formatPlace,
  isObject,
  type Located,
  type LocatedSchema,
  referenceOf,
} from './located.ts';

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

// Finds the schemas that `$id`, `$anchor` and `$dynamicAnchor` identify (JSON Schema 2020-12, Core, 8.2).

/** A schema with a name in a fragment: `#node`. */
export interface Anchor extends Located {
  readonly name: string;
  readonly isDynamic: boolean;
  /** The place of the schema with `$id` that it belongs to; without one, that of the file. */
  readonly resource: string;
  /** The place of the schema that it stands in: the resource or, in a document without `$id`, the schema with the `$defs`. */
  readonly holder: string;
}

/** The schemas of a document that have a URI or an anchor. */
export interface SchemaResources {
  /** All anchors, in the order of the document. */
  readonly anchors: readonly Anchor[];
  /** Whether a schema refers to dynamic anchors. */
  readonly hasDynamicReferences: boolean;
  /** Returns what a reference in a place identifies; undefined if that is no `$id` and no anchor. */
  find(reference: string, from: string): LocatedSchema | undefined;
  /** Returns the place of the schema with `$id` that a place is in; undefined outside of one. */
  resourceOf(at: string): string | undefined;
}

/** No resources, as in OpenAPI 3.0. */
const none: SchemaResources = {
  anchors: [],
  hasDynamicReferences: false,
  find: () => undefined,
  resourceOf: () => undefined,
};

interface Resource extends Located {
  readonly uri: string;
}

/** Reads the identifiers of a document. */
export function readResources(files: DocumentFiles, version: '3.0' | '3.1'): SchemaResources {
  if (version === '3.0') return none;
  const resources = new Map<string, Resource>();
  const named: { readonly step: Step; readonly value: JsonSchema }[] = [];
  let hasDynamicReferences = false;
  for (const { step, value } of listAllObjects(files)) {
    if (typeof value['$dynamicRef'] === 'string') hasDynamicReferences = true;
    if (typeof value['$id'] === 'string') addResource(resources, step, value);
    if (typeof value['$anchor'] === 'string' || typeof value['$dynamicAnchor'] === 'string')
      named.push({ step, value });
  }
  if (resources.size === 0 && named.length === 0) return none;
  const resourceOf = (at: string): string | undefined => nearest(at, (place) => resources.has(place));
  const anchors = named.flatMap(({ step, value }) => readAnchors(placeOfStep(step), value, resourceOf));
  const byUri = new Map([...resources.values()].map((each) => [each.uri, each]));
  return {
    anchors,
    hasDynamicReferences,
    resourceOf,
    find(reference, from) {
      const [path = '', fragment = ''] = reference.split(/#(.*)/s, 2);
      const own = resources.get(resourceOf(from) ?? '');
      const base = own?.uri ?? uriOfFile(from);
      const uri = path === '' ? base : toUri(path, base);
      const resource = uri === undefined ? undefined : byUri.get(uri);
      if (fragment !== '' && !fragment.startsWith('/'))
        return findAnchor(anchors, fragment, from, resource?.at ?? fileOfUri(uri));
      if (resource === undefined) return undefined;
      const target = followPointer(resource, fragment);
      return typeof target === 'string' ? undefined : target;
    },
  };
}

/** Adds a schema with `$id`. Its URI is relative to that of the schema around it. */
function addResource(resources: Map<string, Resource>, step: Step, value: JsonSchema): void {
  const at = placeOfStep(step);
  const outer = step.parent && nearest(placeOfStep(step.parent), (place) => resources.has(place));
  const base = resources.get(outer ?? '')?.uri ?? uriOfFile(at);
  const uri = toUri(String(value['$id']).replace(/#.*$/s, ''), base);
  if (uri !== undefined) resources.set(at, { value, at, uri });
}

function readAnchors(
  at: string,
  value: JsonSchema,
  resourceOf: SchemaResources['resourceOf'],
): readonly Anchor[] {
  const own = resourceOf(at);
  const resource = own ?? `${at.slice(0, at.indexOf('#'))}#`;
  const holder = own ?? at.replace(/\/(?:\$defs|definitions)\/.*$/s, '');
  return ['$anchor', '$dynamicAnchor'].flatMap((keyword) => {
    const name = value[keyword];
    const isDynamic = keyword === '$dynamicAnchor';
    return typeof name === 'string' ? [{ value, at, name, isDynamic, resource, holder }] : [];
  });
}

/** Returns the anchor of a name in a resource. Documents without `$id` have the same name in several schemas: the own one is meant. */
function findAnchor(
  anchors: readonly Anchor[],
  name: string,
  from: string,
  resource: string | undefined,
): Anchor | undefined {
  const found = anchors.filter((each) => each.name === name && each.resource === resource);
  return found.find(({ holder }) => isWithin(from, holder)) ?? found[0];
}

/** Returns whether a place is another one, or in it. */
export function isWithin(at: string, outer: string): boolean {
  return at === outer || at.startsWith(`${outer}/`);
}

/** Returns the nearest place around a place, or itself, that `fits`. */
function nearest(at: string, fits: (place: string) => boolean): string | undefined {
  for (let place = at; place !== ''; place = place.slice(0, Math.max(0, place.lastIndexOf('/'))))
    if (fits(place)) return place;
  return undefined;
}

/** The URI of a file is not known, but its references to names beside it have one. */
const beside = 'document:///';

function uriOfFile(at: string): string {
  return beside + at.slice(0, at.indexOf('#'));
}

function fileOfUri(uri: string | undefined): string | undefined {
  return uri?.startsWith(beside) ? `${uri.slice(beside.length)}#` : undefined;
}

function toUri(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

// Follows `$dynamicRef` (JSON Schema 2020-12, Core, 8.2.3.2): the outermost schema on the way that has the dynamic anchor is meant. The
// way is kept with copies of the schemas that it leads to, so that those who read them need not know it.

/** The holders of dynamic anchors on the way to a schema, the outermost first. */
type Scope = readonly string[];

/** The ways on which references are followed. */
interface DynamicScopes {
  /** Returns what a reference of a schema means, whose target without regard to the way is `target`. */
  select(from: Located, target: LocatedSchema): LocatedSchema;
}

/** Creates the ways. Without `$dynamicRef`, each reference means its target. */
function createDynamicScopes({ anchors, hasDynamicReferences, resourceOf }: SchemaResources): DynamicScopes {
  if (!hasDynamicReferences) return { select: (_, target) => target };
  const dynamic = anchors.filter(({ isDynamic }) => isDynamic);
  const scopes = new WeakMap<JsonSchema, Scope>();
  const copies = new Map<string, WeakMap<object, object>>();

  const holderOf = (at: string): string | undefined => {
    const resource = resourceOf(at);
    const isOwn = ({ holder }: Anchor): boolean =>
      resource === undefined ? isWithin(at, holder) && resourceOf(holder) === undefined : holder === resource;
    return dynamic.find(isOwn)?.holder;
  };

  const enter = (scope: Scope, at: string): Scope => {
    const holder = holderOf(at);
    return holder === undefined || scope.includes(holder) ? scope : [...scope, holder];
  };

  const outermost = (name: string, scope: Scope): Anchor | undefined => {
    for (const holder of scope) {
      const found = dynamic.find((each) => each.holder === holder && each.name === name);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  /** Returns a copy of a schema, each object of which knows the way to it. */
  const copyFor = (value: unknown, at: string, outer: Scope): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const scope = enter(outer, at);
    const key = scope.join(' ');
    const known = copies.get(key) ?? new WeakMap<object, object>();
    copies.set(key, known);
    const existing = known.get(value);
    if (existing !== undefined) return existing;
    if (Array.isArray(value)) return value.map((each, index) => copyFor(each, formatPlace(at, index), scope));
    const copy: Record<string, unknown> = {};
    known.set(value, copy);
    scopes.set(copy, scope);
    for (const [name, each] of Object.entries(value))
      copy[name] = copyFor(each, formatPlace(at, name), scope);
    return copy;
  };

  return {
    select(from, target) {
      const scope = scopes.get(from.value) ?? enter([], from.at);
      const name = readDynamicName(from.value);
      const isDynamic =
        name !== undefined && dynamic.some((each) => each.name === name && each.at === target.at);
      const { value, at } = (isDynamic ? outermost(name, scope) : undefined) ?? target;
      const copy = copyFor(value, at, scope);
      return isObject(copy) || typeof copy === 'boolean' ? { value: copy, at } : target;
    },
  };
}

/** Returns the name of the anchor that a schema refers to dynamically. */
function readDynamicName({ $dynamicRef: reference }: JsonSchema): string | undefined {
  return typeof reference === 'string' ? reference.replace(/^[^#]*#/s, '') : undefined;
}

/**
 * Returns a file in which each `$dynamicRef` is a `$ref` too, so that all who follow references follow it. Where a schema has both, the
 * dynamic one moves to `allOf`.
 */
export function addDynamicReferences(root: unknown): unknown {
  const copies = new Map<object, unknown>();
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = copies.get(value);
    if (known !== undefined) return known;
    const copied: unknown[] | JsonSchema = Array.isArray(value) ? [] : {};
    copies.set(value, copied);
    for (const [name, each] of Object.entries(value)) Reflect.set(copied, name, copy(each));
    return Array.isArray(copied) ? copied : Object.assign(copied, asStaticReference(copied));
  };
  return copy(root);
}

function asStaticReference({ $ref, $dynamicRef, allOf }: JsonSchema): JsonSchema {
  if (typeof $dynamicRef !== 'string') return {};
  if (typeof $ref !== 'string') return { $ref: $dynamicRef };
  return {
    $dynamicRef: undefined,
    allOf: [...(Array.isArray(allOf) ? allOf : []), { $ref: $dynamicRef, $dynamicRef }],
  };
}
