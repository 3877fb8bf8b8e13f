import { createHmac, timingSafeEqual } from 'node:crypto';
import { blockedAttempt, type HashQueue, queueFull } from '../../auth/hash-queue.ts';
import {
  countRefusal,
  type RateLimiter,
  rateLimitKey,
  refusePair,
  requireUnblocked,
} from '../../auth/rate-limit.ts';
import { findTrace } from '../../auth/trace.ts';
import { decodeFormText } from '../../http/form.ts';
import { formatChallenge, parseCredentials } from '../../http/headers/authorization.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { decodeUtf8, octetsOf } from '../../http/syntax/octets.ts';
import type { Client, ClientSecret, Registry } from '../clients.ts';
import { hashSha256, matchesSha256 } from '../sha256.ts';
import { OAuthError } from './oauth-error.ts';
import { clientReason, findUnsupportedAuthentication } from './reasons.ts';

/** The credentials that a client presents. A public client has no secret. */
interface Presented {
  readonly id: string;
  readonly secret: string | undefined;
}

/** Dependencies of client authentication. */
interface ClientAuthenticationContext {
  readonly realm: string;
  readonly clients: Registry<Client>;
  readonly rateLimiter: RateLimiter;
  /** Returns that many random bytes. */
  readonly random: (size: number) => Uint8Array;
  /** Resolves to whether a secret matches its scrypt hash. */
  readonly verifySecret: (secret: string, hash: string) => Promise<boolean>;
  /** Queue in which secrets wait to be hashed. */
  readonly hashQueue: HashQueue;
}

/** The parameters of a request by name, or the error if they cannot be read. */
export type ReadValues = ReadonlyMap<string, string> | OAuthError;

/**
 * Authenticates the client with Basic or with the parameters client_id and client_secret (RFC 6749 §2.3.1). Rejects with an
 * OAuthError: the one in `values`, invalid_request for several methods or malformed credentials, invalid_client for wrong
 * ones. Each counts as a failure; after too many it rejects with a Problem (429).
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
}

/**
 * The clients that an endpoint admits: all, or only confidential ones (RFC 6749 §2.1), because a public client proves nothing.
 */
export type Admitted = 'any' | 'confidential';

/** Creates the function that authenticates clients. */
export function createClientAuthentication(context: ClientAuthenticationContext): AuthenticateClient {
  const { realm, clients, rateLimiter } = context;
  const matches = createComparison(context);
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

  return async (request, values, which) => {
    const { peer } = request.connection;
    requireUnblocked(rateLimiter, peer);
    if (values instanceof OAuthError) throw countFailure(values, peer);
    const presented = readPresented(request, values, invalidClient);
    const unsupported = findUnsupportedAuthentication(request, values);
    if (presented instanceof OAuthError)
      throw countFailure(unsupported === undefined ? presented : presented.because(unsupported), peer);
    const claimed = claimedBy(presented);
    const blocked = refusePair(rateLimiter, peer, claimed);
    if (blocked !== undefined) throw blocked;
    for (const { id, secret } of presented) {
      const client = clients.find(id);
      if (which === 'confidential' && client?.secret === undefined) continue;
      const right = await matches(client, secret, peer, claimed);
      // The client may have been changed or removed while the secret was hashed.
      if (right && client !== undefined && clients.find(id) === client) return { client, values };
    }
    const tooMany = countRefusal(rateLimiter, peer, claimed);
    if (tooMany !== undefined) throw tooMany;
    const refused = refusedClient(invalidClient, presented, clients, request);
    throw unsupported === undefined ? refused : refused.because(unsupported);
  };
}

/** Returns the error for wrong credentials. The reason, which only a journal shows, is computed only for a trace. */
function refusedClient(
  invalidClient: (description: string) => OAuthError,
  [first]: readonly Presented[],
  clients: Registry<Client>,
  request: IncomingRequest,
): OAuthError {
  const authTrace = findTrace(request);
  const error = invalidClient('The client is unknown or its secret is wrong.');
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
  if (lines[0] === undefined) {
    if (id === undefined) return invalidClient('The client did not authenticate.');
    return [{ id, secret }];
  }
  // RFC 6749 §2.3: at most one authentication method in a request.
  if (lines.length > 1 || secret !== undefined)
    return new OAuthError('invalid_request', 'The client uses more than one authentication method.');
  const credentials = parseCredentials(lines[0]);
  if (credentials?.scheme !== 'basic')
    return invalidClient('The authentication scheme is not supported here.');
  const presented = readBasic(credentials.rest);
  if (presented.length === 0)
    return new OAuthError('invalid_request', 'The Basic credentials are malformed.');
  const matching = presented.filter((each) => id === undefined || each.id === id);
  if (matching.length === 0)
    return new OAuthError('invalid_request', 'client_id differs from the client in the Basic credentials.');
  return matching;
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
  return [decoded, different ? raw : undefined].filter((each) => each !== undefined);
}

/** Treats an empty secret as omitted (RFC 6749 §2.3.1). */
function toPresented([id, secret]: readonly (string | undefined)[]): Presented | undefined {
  if (id === undefined || secret === undefined) return undefined;
  return { id, secret: secret === '' ? undefined : secret };
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
    if (secret === undefined) return client !== undefined && expected === undefined;
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
