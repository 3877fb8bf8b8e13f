/**
 * Packages that verify signatures. Each signs requests with their own nonce and date, and verifies them. All have one
 * user and the same window, and store nonces, if they use them, in a Set.
 */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { systemClock } from '../../src/clock.ts';
import { parseCredentials } from '../../src/http/headers/authorization.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { createKey, formatSignedDate } from '../../src/schemes/hmac/credentials.ts';
import type { Verifier } from '../../src/schemes/verifier.ts';
import { createNonces, type NonceStore } from '../../src/store/nonces/nonces.ts';
import { createHmacVerifier } from '../../test/support/schemes/hmac-verifier.ts';

/** Verifies one request and returns whether it is valid. */
export type Check = () => boolean | Promise<boolean>;
/** Signs the request with this number. Returns a function that verifies it. */
export type Peer = (number: number) => Check | Promise<Check>;

const require = createRequire(import.meta.url);
const user = 'johndoe';
const secret = 'KZ4pT2mQv8sWx1Rb6nYc3dFg7hJk9LzE';
const host = 'localhost';
const window = 600;

/** Each peer is created only when it is measured. A missing package throws. */
export const peers: ReadonlyMap<string, () => Peer> = new Map([
  ['two bare crypto.hash calls', bare],
  ['countersign', countersign],
  ['countersign, the digest alone', digestAlone],
  ['createHmac, as people write it', straightforward],
  ['@hapi/hawk', hawk],
]);

export const targetOf = (number: number): string => `/articles?limit=5&offset=${number % 1000}`;
export const newNonce = (): string => randomBytes(16).toString('base64url');
/** Returns a flat string, as an HTTP parser creates it. */
export const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** Returns a store for the nonces of a window (ms). */
export function newNonces(window: number): NonceStore {
  return createNonces({
    bucketSpan: window / 4,
    max: 10_000_000,
    maxPerUser: 10_000_000,
    key: randomBytes(16),
    monotonic: () => systemClock.steady(),
  });
}

/** Verifies a request. The result is a promise only if the verification waits. */
export function accepts(verifier: Verifier, request: IncomingRequest, rest: string): ReturnType<Check> {
  const verdict = verifier.authenticate(request, rest);
  return 'outcome' in verdict
    ? verdict.outcome === 'good'
    : verdict.then(({ outcome }) => outcome === 'good');
}

function contestant<Signed>(
  sign: (number: number) => Signed | Promise<Signed>,
  check: (signed: Signed) => boolean | Promise<boolean>,
): Peer {
  return async (number) => {
    const signed = await sign(number);
    return () => check(signed);
  };
}

/** The minimum cost of an HMAC: one hash over a block and a message, and one over a block and a digest. */
function bare(): Peer {
  const signed = (number: number) =>
    Buffer.concat([randomBytes(64), Buffer.from(messageOf(targetOf(number), newNonce(), stampNow()))]);
  const outer = randomBytes(96);
  return contestant(signed, (inner) => hash('sha256', inner).length === hash('sha256', outer).length);
}

const stampNow = (): string => formatSignedDate(Date.now()).replaceAll(' ', '');
const messageOf = (target: string, nonce: string, stamp: string): string => `GET+${target}+${stamp}+${nonce}`;

/** The fields of a request that is signed for countersign. */
function signedFields(target: string): { date: string; authentication: string } {
  const date = formatSignedDate(Date.now());
  const nonce = newNonce();
  const message = messageOf(target, nonce, date.replaceAll(' ', ''));
  const digest = createHmac('sha256', secret).update(message).digest('base64');
  return { date: flat(date), authentication: flat(`hmac ${user}:${nonce}:${digest}`) };
}

function countersign(): Peer {
  const scheme = createHmacVerifier({
    realm: 'bench',
    accounts: createAccounts(new Map([[user, { secrets: [{ secret }] }]])),
    nonces: newNonces(window * 1000),
    clock: systemClock,
    window: window * 1000,
    simple: 'safe',
    requireBodyDigest: false,
    explain: false,
  });
  const signed = (number: number): IncomingRequest => {
    const target = flat(targetOf(number));
    const { date, authentication } = signedFields(target);
    const fields: [string, string][] = [
      ['Host', host],
      ['Date', date],
      ['Authentication', authentication],
    ];
    return createRequest({ method: 'GET', target, headers: fields });
  };
  return contestant(signed, (request) => {
    const credentials = parseCredentials(request.headers.get('authentication') ?? '');
    return accepts(scheme, request, credentials?.rest ?? '');
  });
}

function digestAlone(): Peer {
  const key = createKey(secret);
  const signed = (number: number) => messageOf(targetOf(number), newNonce(), stampNow());
  return contestant(signed, (message) => key.digest([message]).length === 44);
}

function straightforward(): Peer {
  const secrets = new Map([[user, secret]]);
  const seen = new Set<string>();
  const signed = (number: number) => {
    const url = flat(targetOf(number));
    return { method: 'GET', url, headers: signedFields(url) };
  };
  return contestant(signed, ({ method, url, headers }) => {
    const [scheme, credentials = ''] = headers.authentication.split(' ');
    const [name = '', nonce = '', digest = ''] = credentials.split(':');
    const found = secrets.get(name);
    if (scheme !== 'hmac' || found === undefined) return false;
    const message = [method, url, headers.date.replace(/ /g, ''), nonce].join('+');
    const expected = createHmac('sha256', found).update(message).digest();
    const given = Buffer.from(digest, 'base64');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    if (!(Math.abs(Date.now() - Date.parse(`${headers.date} UTC`)) <= window * 1000)) return false;
    const key = `${name}:${nonce}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

interface Hawk {
  client: { header(uri: string, method: string, options: object): { header: string } };
  server: {
    authenticate(
      request: object,
      credentials: (id: string) => Promise<object | undefined>,
      options: { timestampSkewSec: number; nonceFunc: (key: string, nonce: string) => Promise<void> },
    ): Promise<object>;
  };
}

function hawk(): Peer {
  const { client, server }: Hawk = require('@hapi/hawk');
  const credentials = { id: user, key: secret, algorithm: 'sha256', user };
  const known = new Map([[user, credentials]]);
  const seen = new Set<string>();
  const options = {
    timestampSkewSec: window,
    nonceFunc: async (key: string, nonce: string) => {
      const pair = `${key}:${nonce}`;
      if (seen.has(pair)) throw new Error('replayed');
      seen.add(pair);
    },
  };
  const signed = (number: number) => {
    const url = flat(targetOf(number));
    const { header } = client.header(`http://${host}${url}`, 'GET', { credentials, nonce: newNonce() });
    return { method: 'GET', url, host, port: 80, authorization: flat(header) };
  };
  return contestant(signed, async (request) => {
    try {
      return (await server.authenticate(request, async (id) => known.get(id), options)) !== undefined;
    } catch {
      return false;
    }
  });
}
