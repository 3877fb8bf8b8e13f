import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { type Duration, readDuration } from '../duration.ts';
import { type RequestInput, requestInputNames, toLines } from '../http/field-lines.ts';
import { membersOf, read } from '../shape/shape.ts';
import { type AttackRequest, type Attempt, accepted, type Case, group, toAttempt } from './attempt.ts';
import { credentialCases } from './cases/credentials.ts';
import { freshnessCases } from './cases/freshness.ts';
import { hmacCases, nonceCases } from './cases/hmac.ts';
import { jwtCases } from './cases/jwt.ts';
import { messageCases } from './cases/message.ts';
import { raceCases } from './cases/races.ts';
import { apiKeyCases } from './cases/schemes/api-key.ts';
import { aws4Cases } from './cases/schemes/aws4.ts';
import { declaredCases } from './cases/schemes/declared.ts';
import { messageSignatureCases } from './cases/schemes/message-signatures.ts';
import { transportCases } from './cases/transport.ts';
import { createForger, type Forger, type TokenIssuerOptions } from './forger.ts';
import type { Signer } from './signer.ts';

/** The options of `createAttempts`. */
export interface AttemptOptions {
  /** The server's clock. Requests are dated when `createAttempts` is called. Default: the host's clock. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** How far the server accepts a date to differ: seconds, or text such as `5m`. Default: 600. */
  readonly window?: Duration | undefined;
  /** The name of another user of the server. Default: none, so the attempt with this name is omitted. */
  readonly otherUser?: string | undefined;
  /** Whether the request is permitted without credentials, so that attempts without them are omitted. Default: false. */
  readonly open?: boolean | undefined;
  /** What is known of the issuer of a bearer token that is a JWT. Default: nothing. */
  readonly issuer?: TokenIssuerOptions | undefined;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/**
 * Generates, from one good request, forged requests that a correct server must refuse, each with the expected statuses and
 * the reason. The signer determines the attempts: if a signature does not cover the query, for example, the query is not
 * changed. The first attempt is the good request itself: unless it is accepted, the refusal of the others proves nothing.
 * @throws RangeError if an argument is missing or invalid, if the signer does not sign the request, or if it signs it differently for
 *   equal dates and nonces
 * @example
 * const attempts = createAttempts({ url: `${origin}/articles` }, createSigner({ user, secret }));
 * for (const { name, requests, expected } of attempts) console.log(name, requests.length, expected);
 */
export function createAttempts(
  request: RequestInput,
  signer: Signer,
  options: AttemptOptions = {},
): Attempt[] {
  checkArguments(request, signer, options);
  const {
    clock = systemClock,
    window: given = 600,
    otherUser,
    open = false,
    random = randomBytes,
    issuer = {},
  } = options;
  const plain = outgoing(request);
  const now = clock.now();
  const window = readDuration(given, 1000);
  if (window === undefined) throw new RangeError('window must be a number of seconds or text such as "5m"');
  const forger = createForger({ plain, signer, now, window, otherUser, open, random, issuer });
  const cases = [...control(forger), ...tables.flatMap((table) => [...table(forger)])];
  return cases.map((each) => toAttempt(each, forger.needs));
}

/** The cases, in the order in which they are sent. */
const tables: readonly ((forger: Forger) => Iterable<Case>)[] = [
  credentialCases,
  freshnessCases,
  messageCases,
  transportCases,
  hmacCases,
  nonceCases,
  messageSignatureCases,
  aws4Cases,
  declaredCases,
  apiKeyCases,
  jwtCases,
  raceCases,
];

/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<keyof AttemptOptions, true>> = {
  clock: true,
  window: true,
  otherUser: true,
  open: true,
  random: true,
  issuer: true,
};

/** Throws RangeError that names the argument that is missing or of another kind. */
function checkArguments(request: unknown, signer: unknown, options: unknown): void {
  const { url } = read(membersOf(Object.keys(requestInputNames)), request, 'the good request');
  if (!(url instanceof URL) && !(typeof url === 'string' && URL.canParse(url)))
    throw new RangeError('url of the good request must be an absolute URL');
  if (!isSigner(signer))
    throw new RangeError('the signer must be an object with a function sign, as createSigner returns');
  read(membersOf(Object.keys(optionNames)), options, { optionsOf: 'createAttempts' });
}

function isSigner(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'sign' in value && typeof value.sign === 'function';
}

function outgoing({ method = 'GET', url, headers = {}, body }: RequestInput): AttackRequest {
  return { method, url: readUrl(url), headers: toLines(headers), ...(body === undefined ? {} : { body }) };
}

/**
 * Returns the URL without a fragment, with path and query as written: `URL` would remove dot segments and change escapes. Only what a
 * request line cannot contain (RFC 9112 §3) is percent-encoded.
 */
function readUrl(url: string | URL): string {
  const written = typeof url === 'string' ? url.trim() : url.href;
  const target = written.replace(/^[^:/?#]+:\/*[^/?#]*/, '').replace(/#.*$/s, '');
  // A lone surrogate has no UTF-8.
  const sent = Buffer.from(target)
    .toString()
    .replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  return new URL(url).origin + (sent.startsWith('/') ? sent : `/${sent}`);
}

function control({ signGood }: Forger): Iterable<Case> {
  const why = 'Unless it is accepted, the refusal of other requests proves nothing.';
  return group({ id: 'good-request', why, expected: accepted }, [
    ['the good request is accepted', signGood()],
  ]);
}
