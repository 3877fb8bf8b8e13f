import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type HashQueue, queueFull } from '../../auth/hash-queue.ts';
import { type RateLimiter, rateLimitKey, tooManyFailures } from '../../auth/rate-limit.ts';
import { decodeFormText } from '../../http/form.ts';
import { formatChallenge, parseCredentials } from '../../http/headers/authorization.ts';
import { decodeCanonicalBase64 } from '../../http/headers/content-digest.ts';
import type { Request } from '../../http/message.ts';
import type { Client, ClientSecret, Registry } from '../clients.ts';
import { matchesSha256, sha256 } from '../sha256.ts';
import { OAuthError } from './oauth-error.ts';

/** The credentials that a client presents; a public client has no secret. */
interface Presented {
  readonly id: string;
  readonly secret: string | undefined;
}

/** What the authentication of clients depends on. */
export interface ClientAuthenticationParts {
  readonly realm: string;
  readonly clients: Registry<Client>;
  readonly throttle: RateLimiter;
  readonly random: (size: number) => Uint8Array;
  readonly verifySecret: (secret: string, hash: string) => Promise<boolean>;
  /** Where secrets wait to be hashed. */
  readonly hashQueue: HashQueue;
}

/** The parameters of a request by name, or its refusal because they cannot be read. */
export type ReadValues = ReadonlyMap<string, string> | OAuthError;

/**
 * Authenticates the client by Basic or by the parameters client_id and client_secret (RFC 6749 §2.3.1). Rejects with a
 * Refusal: the given one, invalid_request for several ways at once or malformed credentials, invalid_client for wrong
 * ones. Each counts as a failure; after too many it rejects with a Problem (429).
 */
export type AuthenticateClient = (
  request: Request,
  values: ReadValues,
  which: Admitted,
) => Promise<AuthenticatedClient>;

/** A client, with the parameters that it sent. */
export interface AuthenticatedClient {
  readonly client: Client;
  readonly values: ReadonlyMap<string, string>;
}

/** Which clients an endpoint admits: any, or only confidential ones (RFC 6749 §2.1), since anybody can claim to be a public one. */
export type Admitted = 'any' | 'confidential';

/** Makes the function that authenticates clients. */
export function createClientAuthentication(parts: ClientAuthenticationParts): AuthenticateClient {
  const { realm, clients, throttle: rateLimiter } = parts;
  const matches = createComparison(parts);
  const challenge = formatChallenge('Basic', [
    ['realm', realm],
    ['charset', 'UTF-8'],
  ]);
  // RFC 6749 §5.2: 401 with a challenge.
  const unknown = (description: string): OAuthError =>
    new OAuthError('invalid_client', description, [['WWW-Authenticate', challenge]]);

  const counted = (refusal: OAuthError, peer: string): OAuthError => {
    rateLimiter.fail(peer, undefined);
    return refusal;
  };

  return async (request, values, which) => {
    const { peer } = request.connection;
    if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter);
    if (values instanceof OAuthError) throw counted(values, peer);
    const presented = presentedIn(request, values, unknown);
    if (presented instanceof OAuthError) throw counted(presented, peer);
    for (const { id, secret } of presented) {
      const client = clients.find(id);
      if (which === 'confidential' && client?.secret === undefined) continue;
      const right = await matches(client, secret, peer);
      // While the secret was hashed, the client may have been given another one, or have been removed.
      if (right && client !== undefined && clients.find(id) === client) return { client, values };
    }
    const claimed = claimedBy(presented);
    const blocked = rateLimiter.blocksUser(claimed);
    rateLimiter.fail(peer, claimed);
    throw blocked
      ? tooManyFailures(rateLimiter)
      : unknown('The client is not known, or its secret is not right.');
  };
}

/** Characters of an unverified client id that the throttle keeps. */
const longestCounted = 128;

/** The name under which the throttle counts failures. No user has it: a user's name has no colon (RFC 7617 §2). */
function claimedBy([first]: readonly Presented[]): string {
  return `client:${(first?.id ?? '').slice(0, longestCounted)}`;
}

/** Returns the credentials in a request, two candidates if those of Basic can be read in two ways, or the refusal. */
function presentedIn(
  { fields }: Request,
  values: ReadonlyMap<string, string>,
  unknown: (description: string) => OAuthError,
): readonly Presented[] | OAuthError {
  const lines = fields.lines('authorization');
  const id = values.get('client_id');
  const secret = values.get('client_secret');
  if (lines[0] === undefined) {
    if (id === undefined) return unknown('The client does not say which one it is.');
    return [{ id, secret }];
  }
  // RFC 6749 §2.3: at most one method of authentication in a request.
  if (lines.length > 1 || secret !== undefined)
    return new OAuthError('invalid_request', 'The client authenticates in more than one way.');
  const credentials = parseCredentials(lines[0]);
  if (credentials?.scheme !== 'basic')
    return unknown('The client authenticates in a way that is not offered.');
  const presented = presentedByBasic(credentials.rest);
  if (presented.length === 0)
    return new OAuthError('invalid_request', 'The Basic credentials are malformed.');
  const fitting = presented.filter((each) => id === undefined || each.id === id);
  if (fitting.length === 0)
    return new OAuthError('invalid_request', 'client_id names another client than the Basic credentials.');
  return fitting;
}

/** RFC 6749 §2.3.1 wants id and secret form-encoded, and many clients send them raw: both readings are tried. */
function presentedByBasic(text: string): readonly Presented[] {
  const bytes = decodeCanonicalBase64(text);
  if (bytes === undefined) return [];
  const octets = Buffer.from(bytes).toString('latin1');
  const colon = octets.indexOf(':');
  if (colon < 0) return [];
  const parts = [octets.slice(0, colon), octets.slice(colon + 1)] as const;
  const decoded = presentedAs(parts.map(decodeFormText));
  const raw = presentedAs(parts.map(textOf));
  const different = decoded?.id !== raw?.id || decoded?.secret !== raw?.secret;
  return [decoded, different ? raw : undefined].filter((each) => each !== undefined);
}

/** An empty secret is none (RFC 6749 §2.3.1). */
function presentedAs([id, secret]: readonly (string | undefined)[]): Presented | undefined {
  if (id === undefined || secret === undefined) return undefined;
  return { id, secret: secret === '' ? undefined : secret };
}

function textOf(octets: string): string | undefined {
  const bytes = Buffer.from(octets, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/**
 * Makes the function that says whether a secret is the client's. The time it takes must not tell which clients exist: where any
 * client has a scrypt hash, one is computed for every wrong secret.
 */
function createComparison(parts: ClientAuthenticationParts) {
  const { random, clients, throttle: rateLimiter, verifySecret, hashQueue } = parts;
  const key = random(32);
  const unknownDigest = Buffer.from(random(32)).toString('base64url');
  /** Keyed digests of secrets that matched a scrypt hash once, which is not computed for them again. */
  const remembered = new WeakMap<Client, Buffer>();

  const isHashed = async (digest: Buffer, secret: string, hash: string, peer: string): Promise<boolean> => {
    const name = `${digest.toString('latin1')} ${hash}`;
    const right = await hashQueue.attempt(rateLimitKey(peer), name, () => verifySecret(secret, hash));
    if (right === 'crowded') throw queueFull('secrets');
    if (right === 'blocked') throw tooManyFailures(rateLimiter);
    return right;
  };

  return async (client: Client | undefined, secret: string | undefined, peer: string): Promise<boolean> => {
    const expected = client?.secret;
    if (secret === undefined) return client !== undefined && expected === undefined;
    const digest = createHmac('sha256', key).update(secret).digest();
    const known = client && remembered.get(client);
    if (known !== undefined && timingSafeEqual(known, digest)) return true;
    const hash = client && hashOf(client);
    if (client !== undefined && hash !== undefined) {
      const right = await isHashed(digest, secret, hash, peer);
      if (right) remembered.set(client, digest);
      return right;
    }
    if (matchesSha256(secret, digestIn(expected) ?? unknownDigest) && expected !== undefined) return true;
    const decoy = someHash(clients);
    if (decoy !== undefined) await isHashed(digest, secret, decoy, peer);
    return false;
  };
}

function hashOf({ secret }: Client): string | undefined {
  return secret !== undefined && 'scrypt' in secret ? secret.scrypt : undefined;
}

function someHash(clients: Registry<Client>): string | undefined {
  let hash: string | undefined;
  clients.some((client) => {
    hash = hashOf(client);
    return hash !== undefined;
  });
  return hash;
}

function digestIn(secret: ClientSecret | undefined): string | undefined {
  if (secret === undefined || 'scrypt' in secret) return undefined;
  return 'sha256' in secret ? secret.sha256 : sha256(secret.plain);
}
