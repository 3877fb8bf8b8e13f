// Finds the schemas that `$id`, `$anchor` and `$dynamicAnchor` identify (JSON Schema 2020-12, Core, 8.2).
import type { JsonSchema } from '../../service/openapi/document.ts';
import { type DocumentFiles, listAllObjects, placeOfStep, type Step } from './document-walk.ts';
import { followPointer, type Located, type LocatedSchema } from './located.ts';

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
