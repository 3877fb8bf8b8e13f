import { createHmac, timingSafeEqual } from 'node:crypto';
import { blockedAttempt, queueFull } from '../../accounts/hash-queue.ts';
import { countRefusal, rateLimitKey, refusePair, requireUnblocked } from '../../accounts/rate-limit.ts';
import { decodeFormText } from '../../http/form.ts';
import { formatChallenge, parseCredentials } from '../../http/headers/authorization.ts';
import { describeMalformedBasic } from '../../http/headers/basic-credentials.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { decodeUtf8, octetsOf } from '../../http/syntax/octets.ts';
import { once } from '../../once.ts';
import { findTrace } from '../../schemes/trace.ts';
import { type Client, type ClientSecret, isConfidential, type Registry } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import type { ClientAuthenticationMethod } from '../oauth2-options.ts';
import type { Reason } from '../reasons.ts';
import { hashSha256, matchesSha256 } from '../sha256.ts';
import { issuerFor } from './access-tokens.ts';
import {
  type AssertionContext,
  assertionMethod,
  assertionType,
  createAssertions,
  readSubject,
} from './client-assertion.ts';
import { OAuthError } from './oauth-error.ts';
import { clientReason, findUnsupportedAuthentication } from './reasons.ts';

/** The credentials that a client presents. A public client has neither a secret nor an assertion. */
interface Presented {
  readonly id: string;
  readonly method: ClientAuthenticationMethod;
  readonly secret?: string | undefined;
  /** A JWT (RFC 7523). */
  readonly assertion?: string | undefined;
  /** Whether id and secret of Basic are not form-encoded. */
  readonly isRaw?: boolean;
}

/** Dependencies of client authentication. */
type ClientAuthenticationContext = AssertionContext &
  Pick<
    OAuthContext,
    'settings' | 'origins' | 'realm' | 'clients' | 'rateLimiter' | 'random' | 'verifySecret' | 'hashQueue'
  >;

/** The parameters of a request by name, or the error if they cannot be read. */
export type ReadValues = ReadonlyMap<string, string> | OAuthError;

/**
 * Authenticates the client with Basic or with the parameters client_id and client_secret (RFC 6749 §2.3.1), or with an assertion
 * (RFC 7523). Rejects with an OAuthError: the one in `values`, invalid_request for several methods or malformed credentials,
 * invalid_client for wrong ones. Each counts as a failure; after too many it rejects with a Problem (429).
 */
export type AuthenticateClient = (
  request: IncomingRequest,
  values: ReadValues,
  which: Admitted,
) => Promise<AuthenticatedClient>;

/** An authenticated client, and the parameters that it sent. */
interface AuthenticatedClient {
  readonly client: Client;
  readonly values: ReadonlyMap<string, string>;
  /** What was accepted although it is not as a standard says, for a journal. Default: nothing. */
  readonly warnings?: readonly string[] | undefined;
}

const rawSecret = 'the raw secret was sent in Basic; RFC 6749 §2.3.1 form-encodes it first';

/**
 * The clients that an endpoint admits: all, or only confidential ones (RFC 6749 §2.1), because a public client proves nothing.
 */
export type Admitted = 'any' | 'confidential';

/** Creates the function that authenticates clients. */
export function createClientAuthentication(context: ClientAuthenticationContext): AuthenticateClient {
  const { realm, clients, rateLimiter, settings } = context;
  const { clientAuthentication: methods } = settings;
  const matches = createComparison(context);
  const findAssertionFault = once(() => createAssertions(context));
  const challenge = formatChallenge('Basic', [
    ['realm', realm],
    ['charset', 'UTF-8'],
  ]);
  // RFC 6749 §5.2: 401 with a challenge.
  const invalidClient = (description: string): OAuthError =>
    new OAuthError('invalid_client', description, [['WWW-Authenticate', challenge]]);

  const countFailure = (error: OAuthError, peer: string): OAuthError => {
    rateLimiter.fail(peer, undefined);
    return error;
  };

  /** Resolves to whether the credentials are those of a client, or to why an assertion is not. */
  const verify = async (
    { secret, assertion }: Presented,
    client: Client | undefined,
    request: IncomingRequest,
    claimed: string,
  ): Promise<boolean | Reason> => {
    if (assertion === undefined) return matches(client, secret, request.connection.peer, claimed);
    if (client === undefined) return false;
    return (await findAssertionFault()(client, assertion, audiencesOf(context, request))) ?? true;
  };

  return async (request, values, which) => {
    const { peer } = request.connection;
    requireUnblocked(rateLimiter, peer);
    if (values instanceof OAuthError) throw countFailure(values, peer);
    const presented = readPresented(request, values, invalidClient);
    const unsupported = findUnsupportedAuthentication(request, presented, methods);
    if (presented instanceof OAuthError)
      throw countFailure(unsupported === undefined ? presented : presented.because(unsupported), peer);
    const claimed = claimedBy(presented);
    const blocked = refusePair(rateLimiter, peer, claimed);
    if (blocked !== undefined) throw blocked;
    let fault = unsupported;
    for (const each of unsupported === undefined ? presented : []) {
      const client = clients.find(each.id);
      if (which === 'confidential' && (client === undefined || !isConfidential(client))) continue;
      const verified = await verify(each, client, request, claimed);
      // The client may have been changed or removed while the secret was hashed.
      if (verified === true && client !== undefined && clients.find(each.id) === client)
        return { client, values, warnings: each.isRaw === true ? [rawSecret] : undefined };
      if (typeof verified === 'object') fault = verified;
    }
    const tooMany = countRefusal(rateLimiter, peer, claimed);
    if (tooMany !== undefined) throw tooMany;
    const refused = refusedClient(invalidClient, presented, clients, request);
    throw fault === undefined ? refused : refused.because(fault);
  };
}

/** Returns the accepted audiences of an assertion: the issuer and the token endpoint. */
function audiencesOf(context: ClientAuthenticationContext, request: IncomingRequest): readonly string[] {
  const { settings, origins } = context;
  return [issuerFor(context, request), origins.forLinks(request) + settings.paths.token];
}

/** Returns the error for wrong credentials. The reason, which only a journal shows, is computed only for a trace. */
function refusedClient(
  invalidClient: (description: string) => OAuthError,
  [first]: readonly Presented[],
  clients: Registry<Client>,
  request: IncomingRequest,
): OAuthError {
  const authTrace = findTrace(request);
  const what = first?.assertion === undefined ? 'secret is wrong' : 'assertion is not valid';
  const error = invalidClient(`The client is unknown or its ${what}.`);
  if (authTrace === undefined || first === undefined) return error;
  return error.because(clientReason(first.id, clients.find(first.id), first.secret, request, authTrace));
}

/** Returns the name under which failures are counted. No user can have it: a user name has no colon (RFC 7617 §2). */
function claimedBy([first]: readonly Presented[]): string {
  return `client:${first?.id ?? ''}`;
}

/** Returns the credentials in a request (two candidates if those of Basic can be read in two ways), or the error. */
function readPresented(
  { headers: fields }: IncomingRequest,
  values: ReadonlyMap<string, string>,
  invalidClient: (description: string) => OAuthError,
): readonly Presented[] | OAuthError {
  const lines = fields.getAll('authorization');
  const id = values.get('client_id');
  const secret = values.get('client_secret');
  const assertion = values.get('client_assertion');
  // RFC 6749 §2.3: at most one authentication method in a request.
  const methods = [...lines, secret, assertion].filter((each) => each !== undefined);
  if (methods.length > 1)
    return new OAuthError('invalid_request', 'The client uses more than one authentication method.');
  if (assertion !== undefined) return readAssertion(assertion, values, invalidClient);
  if (lines[0] === undefined) {
    if (id === undefined) return invalidClient('The client did not authenticate.');
    return [{ id, secret, method: secret === undefined ? 'none' : 'client_secret_post' }];
  }
  const credentials = parseCredentials(lines[0]);
  if (credentials?.scheme !== 'basic')
    return invalidClient('The authentication scheme is not supported here.');
  const presented = readBasic(credentials.rest);
  if (presented.length === 0) return malformedBasic(credentials.rest);
  const matching = presented.filter((each) => id === undefined || each.id === id);
  if (matching.length === 0)
    return new OAuthError('invalid_request', 'client_id differs from the client in the Basic credentials.');
  return matching;
}

function malformedBasic(sent: string): OAuthError {
  const error = new OAuthError('invalid_request', 'The Basic credentials are malformed.');
  const hint = describeMalformedBasic(sent)?.replaceAll('user and password', 'client and secret');
  return hint === undefined ? error : error.because({ check: 'client', hint });
}

/** Reads an assertion, which names the client (RFC 7521 §4.2). */
function readAssertion(
  assertion: string,
  values: ReadonlyMap<string, string>,
  invalidClient: (description: string) => OAuthError,
): readonly Presented[] | OAuthError {
  if (values.get('client_assertion_type') !== assertionType)
    return new OAuthError('invalid_request', `client_assertion_type must be ${assertionType}.`);
  const id = values.get('client_id') ?? readSubject(assertion);
  if (id === undefined) return invalidClient('The client_assertion is not a JWT with a subject.');
  return [{ id, assertion, method: assertionMethod(assertion) }];
}

/**
 * Reads Basic credentials. RFC 6749 §2.3.1 requires form-encoded id and secret, but many clients send them raw: returns both
 * readings.
 */
function readBasic(text: string): readonly Presented[] {
  const bytes = decodeCanonicalBase64(text);
  if (bytes === undefined) return [];
  const octets = octetsOf(bytes);
  const colon = octets.indexOf(':');
  if (colon < 0) return [];
  const halves = [octets.slice(0, colon), octets.slice(colon + 1)] as const;
  const decoded = toPresented(halves.map(decodeFormText));
  const raw = toPresented(halves.map(decodeUtf8));
  const different = decoded?.id !== raw?.id || decoded?.secret !== raw?.secret;
  return [decoded, different && raw !== undefined ? { ...raw, isRaw: true } : undefined].filter(
    (each) => each !== undefined,
  );
}

/** Treats an empty secret as omitted (RFC 6749 §2.3.1). */
function toPresented([id, secret]: readonly (string | undefined)[]): Presented | undefined {
  if (id === undefined || secret === undefined) return undefined;
  return secret === '' ? { id, method: 'none' } : { id, secret, method: 'client_secret_basic' };
}

/**
 * Creates the function that compares the secret of a client. Its time must not reveal which clients exist: if any client has a
 * scrypt hash, one is computed for every wrong secret.
 */
function createComparison(context: ClientAuthenticationContext) {
  const { random, clients, rateLimiter, verifySecret, hashQueue } = context;
  const key = random(32);
  const unknownDigest = Buffer.from(random(32)).toString('base64url');
  /** Keyed digests of secrets that matched a scrypt hash, so that the hash is not computed again. */
  const verified = new WeakMap<Client, Buffer>();

  const isHashed = async (
    digest: Buffer,
    secret: string,
    hash: string,
    peer: string,
    claimed: string,
  ): Promise<boolean> => {
    const name = `${octetsOf(digest)} ${hash}`;
    const right = await hashQueue.attempt(
      rateLimitKey(peer),
      name,
      () => verifySecret(secret, hash),
      claimed,
    );
    if (right === 'full') throw queueFull('secrets');
    if (right === 'blocked') throw blockedAttempt(rateLimiter, peer);
    return right;
  };

  return async (
    client: Client | undefined,
    secret: string | undefined,
    peer: string,
    claimed: string,
  ): Promise<boolean> => {
    const expected = client?.secret;
    if (secret === undefined) return client !== undefined && !isConfidential(client);
    const digest = createHmac('sha256', key).update(secret).digest();
    const cached = client && verified.get(client);
    if (cached !== undefined && timingSafeEqual(cached, digest)) return true;
    const hash = client && findHash(client);
    if (client !== undefined && hash !== undefined) {
      const right = await isHashed(digest, secret, hash, peer, claimed);
      if (right) verified.set(client, digest);
      return right;
    }
    if (matchesSha256(secret, digestIn(expected) ?? unknownDigest) && expected !== undefined) return true;
    const decoy = someHash(clients);
    if (decoy !== undefined) await isHashed(digest, secret, decoy, peer, claimed);
    return false;
  };
}

function findHash({ secret }: Client): string | undefined {
  return secret !== undefined && 'scrypt' in secret ? secret.scrypt : undefined;
}

function someHash(clients: Registry<Client>): string | undefined {
  let hash: string | undefined;
  clients.some((client) => {
    hash = findHash(client);
    return hash !== undefined;
  });
  return hash;
}

function digestIn(secret: ClientSecret | undefined): string | undefined {
  if (secret === undefined || 'scrypt' in secret) return undefined;
  return 'sha256' in secret ? secret.sha256 : hashSha256(secret.plain);
}
