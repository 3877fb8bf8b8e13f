import { splitPairs } from '../http/form.ts';
import { cookiesIn } from '../http/headers/cookie.ts';
import type { IncomingRequest } from '../http/message.ts';
import { findQuery } from '../http/target.ts';
import type { Verifier } from './verifier.ts';

/** Finds the schemes that a request has credentials of outside `Authorization` and `Authentication`. */
interface LocationTable {
  /** The names of the fields, in the order of the schemes; `Cookie` if a cookie is a place. */
  readonly fields: readonly string[];
  /** Returns whether a parameter of the query is such a place. */
  hasParameter(name: string): boolean;
  /** Returns the schemes, each once. If several schemes share a place, returns all of them. */
  find(request: IncomingRequest): readonly Verifier[];
}

const none: readonly Verifier[] = [];

/** Creates the table of the places that schemes declare. Without any, a lookup costs nothing. */
export function createLocationTable(schemes: readonly Verifier[]): LocationTable {
  const byField = new Map<string, FieldOwner[]>();
  const byParameter = new Map<string, Verifier[]>();
  const byCookie = new Map<string, Verifier[]>();
  for (const scheme of schemes)
    for (const location of scheme.locations ?? []) {
      if ('field' in location) ensureList(byField, location.field).push({ scheme, unless: location.unless });
      else if ('query' in location) ensureList(byParameter, location.query).push(scheme);
      else ensureList(byCookie, location.cookie).push(scheme);
    }
  const fields = [...byField];
  const isEmpty = byField.size === 0 && byParameter.size === 0 && byCookie.size === 0;
  return {
    fields: byCookie.size === 0 ? [...byField.keys()] : [...byField.keys(), 'Cookie'],
    hasParameter: (name) => byParameter.has(name),
    find(request) {
      if (isEmpty) return none;
      const found = new Set<Verifier>();
      for (const [name, sharing] of fields)
        if (request.headers.has(name)) for (const scheme of ownersIn(request, sharing)) found.add(scheme);
      if (byParameter.size > 0)
        for (const [name] of splitPairs(findQuery(request.target)))
          for (const scheme of byParameter.get(name) ?? none) found.add(scheme);
      for (const [name, sharing] of byCookie)
        if (cookiesIn(request.headers, name).length > 0) for (const scheme of sharing) found.add(scheme);
      return found.size === 0 ? none : [...found];
    },
  };
}

/** A scheme that has credentials in a field, unless another field is present. */
interface FieldOwner {
  readonly scheme: Verifier;
  readonly unless: string | undefined;
}

/** Returns the schemes to which a field belongs: those that another field rules out, or those alone that it could have ruled out. */
function ownersIn({ headers: fields }: IncomingRequest, sharing: readonly FieldOwner[]): readonly Verifier[] {
  const [only] = sharing;
  if (only !== undefined && sharing.length === 1 && only.unless === undefined) return [only.scheme];
  const distinct = sharing.filter(({ unless }) => unless !== undefined && !fields.has(unless));
  const owners = distinct.length > 0 ? distinct : sharing.filter(({ unless }) => unless === undefined);
  return owners.map(({ scheme }) => scheme);
}

function ensureList<Owner>(places: Map<string, Owner[]>, name: string): Owner[] {
  const schemes = places.get(name) ?? [];
  places.set(name, schemes);
  return schemes;
}
