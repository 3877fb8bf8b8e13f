// The table of the places in which requests have credentials, by the schemes that declare them.

import { splitPairs } from '../http/form.ts';
import { type Credentials, findForeignName } from '../http/headers/authorization.ts';
import { cookiesIn } from '../http/headers/cookie.ts';
import type { IncomingRequest } from '../http/message.ts';
import { findQuery } from '../http/target.ts';
import type { Verifier } from './verifier.ts';

/** Finds the schemes that a request has credentials of. It verifies nothing. */
export interface LocationTable {
  /** The names of the fields beside Authorization, in the order of the schemes; `Cookie` if a cookie is a place. */
  readonly fields: readonly string[];
  /** Returns whether a parameter of the query is such a place by its name. */
  hasParameter(name: string): boolean;
  /** Returns the scheme of a name in Authorization, in lower case: the first that declares it. */
  named(name: string): Verifier | undefined;
  /** Returns the name of the scheme of credentials in Authorization; undefined for a word that may be a key. */
  nameIn(credentials: Credentials): string | undefined;
  /** Returns the schemes with credentials in other fields, the query or cookies, each once. If several share a place, returns all. */
  find(request: IncomingRequest): readonly Verifier[];
  /** Returns the schemes whose credentials the content may have. It is not read. */
  findPossible(request: IncomingRequest): readonly Verifier[];
}

const none: readonly Verifier[] = [];

/** Creates the table of the places that schemes declare. Without any, a lookup costs nothing. */
export function createLocationTable(schemes: readonly Verifier[]): LocationTable {
  const byName = new Map<string, Verifier>();
  const byField = new Map<string, FieldOwner[]>();
  const byParameter = new Map<string, Verifier[]>();
  const byCookie = new Map<string, Verifier[]>();
  for (const scheme of schemes)
    for (const { in: kind, name, isDependent = false, unless } of scheme.places) {
      if (isDependent) continue;
      const lower = name.toLowerCase();
      if (kind === 'header') ensureList(byField, lower).push({ scheme, unless });
      else if (kind === 'query') ensureList(byParameter, name).push(scheme);
      else if (kind === 'cookie') ensureList(byCookie, name).push(scheme);
      else if (!byName.has(lower)) byName.set(lower, scheme);
    }
  const byQuery = schemes.filter(({ isInQuery }) => isInQuery !== undefined);
  const byContent = schemes.filter(({ content }) => content !== undefined);
  const fields = [...byField];
  const isEmpty = byField.size + byParameter.size + byCookie.size + byQuery.length === 0;
  return {
    fields: byCookie.size === 0 ? [...byField.keys()] : [...byField.keys(), 'Cookie'],
    hasParameter: (name) => byParameter.has(name),
    named: (name) => byName.get(name),
    nameIn: (credentials) =>
      byName.has(credentials.scheme) ? credentials.scheme : findForeignName(credentials),
    find(request) {
      if (isEmpty) return none;
      const found: Verifier[] = [];
      for (const [name, sharing] of fields)
        if (request.headers.has(name)) found.push(...ownersIn(request, sharing));
      const query = findQuery(request.target);
      if (query !== '') {
        if (byParameter.size > 0)
          for (const [name] of splitPairs(query)) found.push(...(byParameter.get(name) ?? none));
        for (const scheme of byQuery) if (scheme.isInQuery?.(query) === true) found.push(scheme);
      }
      for (const [name, sharing] of byCookie)
        if (cookiesIn(request.headers, name).length > 0) found.push(...sharing);
      return found.length > 1 ? [...new Set(found)] : found;
    },
    findPossible(request) {
      if (byContent.length === 0) return none;
      return byContent.filter(({ content }) => content?.isPossible(request) === true);
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
