// Answers requests without credentials, and those with credentials that the resource does not accept.

import { findClosestMatch } from '../did-you-mean.ts';
import type { FieldLine } from '../http/fields.ts';
import { findForeignName, parseCredentials } from '../http/headers/authorization.ts';
import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { type CredentialPlace, listAuthorizationNames, listOwnPlaces } from './auth-scheme.ts';
import type { Challenges } from './challenges.ts';
import { describeForeignScheme } from './explain/foreign-schemes.ts';
import {
  describeMisnamed,
  describeOtherPlace,
  displayName,
  type ExpectedNames,
} from './explain/related-names.ts';
import {
  describeInContent,
  describeMisplacedKey,
  describeMisplacedToken,
  describeOtherField,
} from './explain/sent-keys.ts';
import { listAuthorization } from './find-credentials.ts';
import { findTrace } from './trace.ts';
import {
  type AcceptedSchemes,
  describeAccepted,
  isAccepted,
  listAlternatives,
  refuseScheme,
  type Verifier,
} from './verifier.ts';

/** Creates the Problems of requests that lack the right credentials, in the form of the partner whose scheme is accepted. */
export class AbsentCredentials {
  readonly #schemes: readonly Verifier[];
  readonly #challenges: Challenges;
  readonly #explain: boolean;

  constructor(schemes: readonly Verifier[], challenges: Challenges, explain: boolean) {
    this.#schemes = schemes;
    this.#challenges = challenges;
    this.#explain = explain;
  }

  /** Returns the Problem of a request without credentials, which needs some. */
  missing(detail: string, request: IncomingRequest, accepted: AcceptedSchemes | undefined): Problem {
    const headers = this.#challenges.offer(request.connection, accepted);
    const members = this.#explainMissing(request, accepted);
    return this.#express(
      new Problem('authentication-required', detail, { headers, members }),
      request,
      accepted,
    );
  }

  /** Returns the Problem of credentials whose scheme is not supported. */
  unsupported(request: IncomingRequest, accepted: AcceptedSchemes | undefined): Problem {
    const headers = this.#challenges.offer(request.connection, accepted);
    const { problem } = refuseScheme(headers, this.#explainMissing(request, accepted));
    return this.#express(problem, request, accepted);
  }

  /**
   * Returns the Problem of credentials that are not accepted.
   *
   * @param sent The schemes of the credentials; none if they are not supported.
   */
  notAccepted(request: IncomingRequest, sent: readonly Verifier[], accepted: AcceptedSchemes): Problem {
    const [first] = sent;
    if (first === undefined) return this.unsupported(request, accepted);
    const headers = this.#challenges.offer(request.connection, accepted);
    const partial = sent.filter((scheme) => isAccepted(scheme, accepted));
    const problem =
      partial.length > 0 ? incomplete(partial, accepted, headers) : refuseOther(first, accepted, headers);
    return this.#express(problem, request, accepted);
  }

  /** Records in the trace what is misnamed or misplaced, unless a failed check is recorded already. */
  traceMistake(request: IncomingRequest, accepted: AcceptedSchemes | undefined): void {
    this.#explainMissing(request, accepted);
  }

  /** Returns what is misnamed, for the trace and, if errors explain themselves, for the client. */
  #explainMissing(
    request: IncomingRequest,
    accepted: AcceptedSchemes | undefined,
  ): { readonly hint?: string } {
    const authTrace = findTrace(request);
    if (!this.#explain && authTrace === undefined) return {};
    const expected = this.#schemes.filter((scheme) => isAccepted(scheme, accepted) && isOffered(scheme));
    const secrets = authTrace?.knowledge?.secrets ?? [];
    const names = listExpectedNames(expected);
    const hint =
      describeMisnamed(request, names) ??
      describeMisplacedKey(request, listKeyPlaces(expected), secrets) ??
      (expected.some(({ name }) => name === 'bearer') ? describeMisplacedToken(request) : undefined) ??
      describeOtherPlace(request, names) ??
      describeSecondScheme(request, expected) ??
      describeForeignScheme({ fields: request.headers, target: request.target }) ??
      describeOtherScheme(request, expected) ??
      describeOtherField(request.headers.raw) ??
      describeExpected(expected);
    if (hint === undefined) return {};
    authTrace?.fail('scheme', { hint });
    if (expected.every(({ content }) => content === undefined)) {
      const places = [...new Set(expected.flatMap(listPlaces))];
      authTrace?.searchContent((content) => describeInContent(content, places, secrets));
    }
    return this.#explain ? { hint } : {};
  }

  #express(problem: Problem, request: IncomingRequest, accepted: AcceptedSchemes | undefined): Problem {
    const own = this.#schemes.find((scheme) => scheme.express !== undefined && isAccepted(scheme, accepted));
    return own?.express?.(problem, request) ?? problem;
  }
}

function refuseOther({ name }: Verifier, accepted: AcceptedSchemes, headers: readonly FieldLine[]): Problem {
  const detail = `The scheme ${name} is not accepted here. Accepted: ${describeAccepted(accepted)}.`;
  return new Problem('scheme-not-offered', detail, { headers });
}

/** Returns the Problem for some of the credentials that are required together. */
function incomplete(
  sent: readonly Verifier[],
  accepted: AcceptedSchemes,
  headers: readonly FieldLine[],
): Problem {
  const has = (name: string): boolean => sent.some((scheme) => scheme.name === name);
  const required = listAlternatives(accepted).find((names) => names.some(has)) ?? [];
  const missing = required.filter((name) => !has(name));
  const detail = `Credentials of ${missing.join(' and ')} are required beside those of ${sent.map(({ name }) => name).join(' and ')}.`;
  return new Problem('authentication-required', detail, { headers });
}

/** Returns where schemes have their credentials. */
function listExpectedNames(schemes: readonly Verifier[]): ExpectedNames {
  const places = schemes.flatMap(listOwnPlaces);
  const listNames = (kind: CredentialPlace['in']) =>
    places.filter((place) => place.in === kind).map(({ name }) => name);
  return {
    fields: listNames('header').map((name) => name.toLowerCase()),
    parameters: listNames('query'),
    authorization: schemes.flatMap(listAuthorizationNames),
  };
}

/** Returns whether a scheme is offered, at least over TLS: `bearer` and `oauth` are there also if nothing issues their tokens. */
function isOffered({ challenge }: Verifier): boolean {
  return challenge({ secure: true, peer: '' }) !== undefined;
}

/** Returns which name of a scheme stands before that of the right one. Undefined if none does. */
function describeSecondScheme(request: IncomingRequest, expected: readonly Verifier[]): string | undefined {
  const [sent] = listAuthorization(request);
  const second = sent && parseCredentials(sent.rest);
  if (second === undefined || second.rest === '') return undefined;
  const written = expected.flatMap(listAuthorizationNames).find((name) => name === second.scheme);
  return (
    written && `Authorization was sent with a further word, ${sent?.scheme}, before ${written}; leave it out`
  );
}

/** Returns the places where keys are sent as they are, for hints. */
function listKeyPlaces(schemes: readonly Verifier[]): readonly string[] {
  return schemes.filter(({ sentSecret }) => sentSecret === 'an API key').flatMap(listPlaces);
}

/** Returns the places of a scheme whose presence means that a request has its credentials, for hints. */
function listPlaces(scheme: Verifier): readonly string[] {
  return listOwnPlaces(scheme).map(describePlace);
}

function describePlace({ in: kind, name }: CredentialPlace): string {
  const shown = displayName(name.toLowerCase());
  if (kind === 'authorization') return `Authorization with ${shown}`;
  if (kind === 'header') return shown;
  return kind === 'query' ? `the query parameter ${name}` : `the cookie ${name}`;
}

/** The schemes whose places one hint lists, at most. */
const maxSchemes = 5;

/** Returns where the schemes expect the credentials of a request that has none; undefined if there are no schemes. */
function describeExpected(expected: readonly Verifier[]): string | undefined {
  const lists = expected.slice(0, maxSchemes).map(({ name, places, content }) => {
    const list = (isListed: (place: CredentialPlace) => boolean): string[] =>
      places.filter(isListed).map(describePlace);
    const proofs = [
      ...list(({ isAlternative = false, isDependent = false }) => !isAlternative && !isDependent),
      ...(content === undefined ? [] : ['the content']),
    ];
    const beside = list(({ isDependent = false }) => isDependent);
    const all = [proofs, beside].filter(({ length }) => length > 0).map((each) => each.join(' and '));
    return `${[all.join(' with '), ...list(({ isAlternative = false }) => isAlternative)].join(', or ')} (${name})`;
  });
  if (lists.length === 0) return undefined;
  const more = expected.length > maxSchemes ? ', or those of another scheme' : '';
  return `no credentials were sent; expected: ${lists.join('; or ')}${more}`;
}

/** The places of credentials that one hint lists, at most. */
const maxListed = 3;

/** Returns with which scheme Authorization was sent, and what is expected. Undefined if it is none of another scheme. */
function describeOtherScheme(request: IncomingRequest, expected: readonly Verifier[]): string | undefined {
  const [sent] = listAuthorization(request);
  const names = expected.flatMap(listAuthorizationNames);
  if (sent === undefined || names.includes(sent.scheme)) return undefined;
  const places = [...new Set(expected.flatMap(listPlaces))];
  const name = findForeignName(sent);
  const nearest = name && (names.find((each) => name.startsWith(each)) ?? findClosestMatch(name, names));
  const written = request.headers.get('authorization')?.slice(0, name?.length);
  const shown = name === undefined ? 'without the name of a scheme' : `with ${written}`;
  // The fields beside a signature show which scheme is meant.
  const meant = expected.find(({ places }) =>
    places.some(
      (place) =>
        place.isDependent === true && place.in === 'header' && request.headers.has(place.name.toLowerCase()),
    ),
  );
  if (meant !== undefined)
    return `Authorization was sent ${shown}; ${listPlaces(meant).join(' or ')} is expected`;
  if (nearest !== undefined) return `Authorization was sent ${shown}; did you mean ${nearest}?`;
  const isListed = places.length > 0 && places.length <= maxListed;
  return `Authorization was sent ${shown}${isListed ? `; ${places.join(' or ')} is expected` : ''}`;
}
