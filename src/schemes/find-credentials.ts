// Finds the credentials of a request by their places. Nothing is verified, and the content is not read.

import { splitPairs } from '../http/form.ts';
import { type Credentials, findForeignName, parseCredentials } from '../http/headers/authorization.ts';
import { cookiesIn } from '../http/headers/cookie.ts';
import { type IncomingRequest, isConfidential } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { findQuery } from '../http/target.ts';
import { listAuthorizationNames, listOwnPlaces } from './auth-scheme.ts';
import type { Challenges } from './challenges.ts';
import { type AcceptedSchemes, type Attempt, listAlternatives, type Verifier } from './verifier.ts';

/** Credentials of a scheme that a request has, or may have. */
export interface FoundCredentials {
  readonly scheme: Verifier;
  /** The part of Authorization after the name of the scheme; undefined for credentials in another place. */
  readonly rest: string | undefined;
  /** Whether they may be in the content, which is not read yet. */
  readonly isPossible: boolean;
}

/** Credentials that are verified together. */
export type Together = readonly FoundCredentials[];

/**
 * Finds the credentials of a request that may have those of one scheme, in one place: alternatives, of which one is verified. Returns
 * undefined if Authorization has those of an unknown scheme. Throws a Problem if they are malformed, several, or require TLS.
 */
export function findOnly(
  { request, authTrace }: Attempt,
  table: LocationTable,
  challenges: Challenges,
): readonly Together[] | undefined {
  const named = readAuthorization(request, table, challenges);
  const own = named && table.named(named.scheme);
  const all = table.find(request);
  const located =
    named === undefined || all.length === 0 ? all : all.filter((scheme) => isFurther(scheme, own));
  const [first, second] = located;
  if (authTrace !== undefined) authTrace.scheme = named ? table.nameIn(named) : first?.name;
  if (named === undefined && first === undefined)
    return table.findPossible(request).map((scheme) => [{ scheme, rest: undefined, isPossible: true }]);
  const isSeveral = named === undefined ? second !== undefined && !areRotated(located) : first !== undefined;
  if (isSeveral) throw challenges.refuseSeveral(request, located);
  if (named !== undefined) return own && [[{ scheme: own, rest: named.rest, isPossible: false }]];
  if (!isConfidential(request.connection) && located.some(requiresTls)) throw tlsRequired();
  return located.map((scheme) => [{ scheme, rest: undefined, isPossible: false }]);
}

/** Returns whether schemes sign for one sender whose key is rotated. */
function areRotated([first, ...others]: readonly (Verifier | undefined)[]): boolean {
  const rotation = first?.rotation;
  return rotation !== undefined && others.every((other) => other?.rotation === rotation);
}

/** Returns whether alternatives are one signature each, for one sender whose key is rotated. */
export function isRotation(alternatives: readonly Together[]): boolean {
  return (
    alternatives.length > 1 &&
    alternatives.every(({ length }) => length === 1) &&
    areRotated(alternatives.map(([only]) => only?.scheme))
  );
}

/**
 * Returns whether a scheme has further credentials beside those in Authorization: not if its own are there, and it refuses several itself,
 * or if the whole value of Authorization belongs to it, unless that begins with the name of another one.
 */
function isFurther(scheme: Verifier, own: Verifier | undefined): boolean {
  const isWhole = scheme.places.some(
    (place) => place.in === 'header' && place.name.toLowerCase() === 'authorization',
  );
  return !isWhole && !(scheme === own && scheme.refusesSeveral === true);
}

/** Returns the credentials in Authorization or Authentication. Throws a Problem if they are malformed, repeated, or require TLS. */
export function readAuthorization(
  request: IncomingRequest,
  table: LocationTable,
  challenges: Challenges,
): Credentials | undefined {
  const { headers: fields, connection } = request;
  const authorization = fields.get('authorization');
  const authentication = fields.get('authentication');
  const value = authorization ?? authentication;
  if (value === undefined) return undefined;
  const isRepeated =
    fields.repeated && fields.getAll('authorization').length + fields.getAll('authentication').length > 1;
  if (isRepeated || (authorization !== undefined && authentication !== undefined))
    throw challenges.refuseSeveral(request);
  const credentials = parseCredentials(value);
  const isKnown = credentials !== undefined && table.named(credentials.scheme) !== undefined;
  if (!isKnown && table.fields.includes('authorization')) return undefined;
  if (credentials === undefined) throw malformed('The value must be a scheme and its credentials.');
  if (authentication !== undefined && credentials.scheme !== 'hmac')
    throw malformed('The Authentication field supports only the scheme hmac.');
  const owner = table.named(credentials.scheme);
  if (owner !== undefined && requiresTls(owner) && !isConfidential(connection)) throw tlsRequired();
  return credentials;
}

function malformed(detail: string): Problem {
  return new Problem('malformed-credentials', detail);
}

function tlsRequired(): Problem {
  return new Problem(
    'tls-required',
    'These credentials require TLS. They were sent over plain HTTP and not read.',
  );
}

/**
 * Finds the alternatives of which a request has, or may have, all credentials; others are left alone. Throws a Problem if it has
 * those of one scheme twice, or only some that require TLS.
 */
export function findAccepted(
  request: IncomingRequest,
  accepted: AcceptedSchemes,
  schemes: readonly Verifier[],
  table: LocationTable,
  challenges: Challenges,
): readonly Together[] {
  const alternatives = listAlternatives(accepted).filter((names) => names.length > 0);
  if (alternatives.length === 0) return [];
  const places: Places = {
    inAuthorization: listAuthorization(request),
    located: table.find(request),
    possible: table.findPossible(request),
  };
  const found = alternatives.flatMap((names) => {
    const all: FoundCredentials[] = [];
    for (const name of names) {
      const scheme = schemes.find((each) => each.name === name);
      const own = scheme && findOwn(scheme, request, places);
      if (own === undefined) return [];
      if (own === 'several') throw challenges.refuseSeveral(request);
      all.push(own);
    }
    return [all];
  });
  if (isConfidential(request.connection)) return found;
  const usable = found.filter((all) => !all.some(({ scheme }) => requiresTls(scheme)));
  if (usable.length === 0 && found.length > 0) throw tlsRequired();
  return usable;
}

/** Where a request has credentials, or may have some. */
interface Places {
  readonly inAuthorization: readonly Credentials[];
  readonly located: readonly Verifier[];
  readonly possible: readonly Verifier[];
}

/**
 * Finds the credentials of a scheme; undefined if the request has none, and `several` if it has some in more than one place or line.
 */
function findOwn(
  scheme: Verifier,
  request: IncomingRequest,
  { inAuthorization, located, possible }: Places,
): FoundCredentials | 'several' | undefined {
  const names = listAuthorizationNames(scheme);
  const [own, another] = inAuthorization.filter((each) => names.includes(each.scheme));
  const isLocated = located.includes(scheme) && !(own !== undefined && scheme.refusesSeveral === true);
  if (own !== undefined) {
    const isRepeated = another !== undefined || request.headers.getAll('authorization').length > 1;
    return isRepeated || isLocated ? 'several' : { scheme, rest: own.rest, isPossible: false };
  }
  if (isLocated) return { scheme, rest: undefined, isPossible: false };
  return possible.includes(scheme) ? { scheme, rest: undefined, isPossible: true } : undefined;
}

/** Returns the well-formed values of Authorization, and of Authentication, which supports only `hmac`. */
export function listAuthorization({ headers: fields }: IncomingRequest): readonly Credentials[] {
  const parse = (name: string): Credentials[] =>
    fields.getAll(name).flatMap((value) => parseCredentials(value) ?? []);
  return [...parse('authorization'), ...parse('authentication').filter(({ scheme }) => scheme === 'hmac')];
}

/** Returns whether the credentials of a scheme are refused over plain HTTP. */
function requiresTls(scheme: Verifier): boolean {
  return scheme.tlsOnly === true && scheme.readsPlain?.() !== true;
}

// The table of the places in which requests have credentials, by the schemes that declare them.

/** Finds the schemes that a request has credentials of. It verifies nothing. */
interface LocationTable {
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
  /**
   * Returns the schemes whose credentials the content may have. It is not read. Those that require TLS are left out over plain HTTP,
   * because content that may have none is not refused unread.
   */
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
    for (const { in: kind, name, unless } of listOwnPlaces(scheme)) {
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
      const isSecure = isConfidential(request.connection);
      return byContent.filter(
        (scheme) => (isSecure || !requiresTls(scheme)) && scheme.content?.isPossible(request) === true,
      );
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
