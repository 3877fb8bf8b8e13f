// Follows `$dynamicRef` (JSON Schema 2020-12, Core, 8.2.3.2): the outermost schema on the way that has the dynamic anchor is meant. The
// way is kept with copies of the schemas that it leads to, so that those who read them need not know it.
import type { JsonSchema } from '../../service/openapi/document.ts';
import { formatPlace, isObject, type Located, type LocatedSchema } from './located.ts';
import { type Anchor, isWithin, type SchemaResources } from './schema-resources.ts';

/** The holders of dynamic anchors on the way to a schema, the outermost first. */
type Scope = readonly string[];

/** The ways on which references are followed. */
interface DynamicScopes {
  /** Returns what a reference of a schema means, whose target without regard to the way is `target`. */
  select(from: Located, target: LocatedSchema): LocatedSchema;
}

/** Creates the ways. Without `$dynamicRef`, each reference means its target. */
export function createDynamicScopes({
  anchors,
  hasDynamicReferences,
  resourceOf,
}: SchemaResources): DynamicScopes {
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
    return Array.isArray(copied) ? copied : Object.assign(copied, referenceOf(copied));
  };
  return copy(root);
}

function referenceOf({ $ref, $dynamicRef, allOf }: JsonSchema): JsonSchema {
  if (typeof $dynamicRef !== 'string') return {};
  if (typeof $ref !== 'string') return { $ref: $dynamicRef };
  return {
    $dynamicRef: undefined,
    allOf: [...(Array.isArray(allOf) ? allOf : []), { $ref: $dynamicRef, $dynamicRef }],
  };
}
