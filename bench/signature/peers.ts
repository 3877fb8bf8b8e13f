/**
 * Packages that verify signatures. Each signs requests with their own nonce and date, and verifies them. All have one
 * user and the same window, and store nonces, if they use them, in a Set.
 */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { createAccounts } from '../../src/auth/accounts.ts';
import { createHmacVerifier } from '../../src/auth/hmac.ts';
import { systemClock } from '../../src/clock.ts';
import { parseCredentials } from '../../src/http/headers/authorization.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { computeSignature, createKey, formatSignedDate } from '../../src/signature/hmac.ts';
import { createNonces } from '../../src/store/nonces/nonces.ts';

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
  ['stripe verifyHeader', stripeHeader],
  ['stripe constructEvent', stripeEvent],
  ['hmac-auth-express', hmacAuthExpress],
  ['aws4, signed again', aws4],
  ['http-signature', httpSignature],
  ['http-message-signatures', httpMessageSignatures],
]);

const targetOf = (number: number): string => `/articles?limit=5&offset=${number % 1000}`;
const newNonce = (): string => randomBytes(16).toString('base64url');
/** Returns a flat string, as an HTTP parser creates it. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

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
    nonces: createNonces({
      bucketSpan: (window * 1000) / 4,
      max: 10_000_000,
      maxPerUser: 10_000_000,
      key: randomBytes(16),
      monotonic: () => systemClock.steady(),
    }),
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
    const verdict = scheme.authenticate(request, credentials?.rest ?? '');
    return 'outcome' in verdict
      ? verdict.outcome === 'good'
      : verdict.then(({ outcome }) => outcome === 'good');
  });
}

function digestAlone(): Peer {
  const key = createKey(secret);
  const signed = (number: number) => messageOf(targetOf(number), newNonce(), stampNow());
  return contestant(signed, (message) => computeSignature(key, message).length === 44);
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

interface Webhooks {
  signature: { verifyHeader(payload: string, header: string, secret: string, tolerance: number): boolean };
  constructEvent(payload: string, header: string, secret: string, tolerance: number): { type: string };
  generateTestHeaderString(options: { payload: string; secret: string }): string;
}

/** Stripe signs the content, not the request: content of about the same length is used. */
function stripe(check: (webhooks: Webhooks, payload: string, header: string) => boolean): Peer {
  const Stripe: new (key: string) => { webhooks: Webhooks } = require('stripe');
  const { webhooks } = new Stripe('sk_test_none');
  const signed = () => {
    const payload = flat(`{"id":"${newNonce()}","type":"article.created"}`);
    return { payload, header: flat(webhooks.generateTestHeaderString({ payload, secret })) };
  };
  return contestant(signed, ({ payload, header }) => {
    try {
      return check(webhooks, payload, header);
    } catch {
      return false;
    }
  });
}

function stripeHeader(): Peer {
  return stripe(({ signature }, payload, header) => signature.verifyHeader(payload, header, secret, window));
}

function stripeEvent(): Peer {
  return stripe(
    (webhooks, payload, header) =>
      webhooks.constructEvent(payload, header, secret, window).type === 'article.created',
  );
}

interface HmacAuthExpress {
  HMAC(
    secret: (request: object) => string | undefined,
    options: object,
  ): (request: object, response: undefined, next: (error?: Error) => void) => Promise<void>;
  generate(
    secret: string,
    algorithm: string,
    unix: string,
    method: string,
    url: string,
  ): ReturnType<typeof createHmac>;
}

function hmacAuthExpress(): Peer {
  const { HMAC, generate }: HmacAuthExpress = require('hmac-auth-express');
  const check = HMAC(() => secret, { maxInterval: window, minInterval: window });
  const signed = (number: number) => {
    const originalUrl = flat(targetOf(number));
    const unix = String(Date.now());
    const digest = generate(secret, 'sha256', unix, 'GET', originalUrl).digest('hex');
    const headers = new Map([['authorization', flat(`HMAC ${unix}:${digest}`)]]);
    return { method: 'GET', originalUrl, get: (name: string) => headers.get(name), body: undefined };
  };
  return contestant(signed, async (request) => {
    let good = false;
    await check(request, undefined, (error) => {
      good = error === undefined;
    });
    return good;
  });
}

interface AwsRequest {
  host: string;
  path: string;
  method: string;
  service: string;
  region: string;
  headers: Record<string, string>;
}

/** The package only signs: a request is verified by signing it again with its date. */
function aws4(): Peer {
  const { sign }: { sign(request: AwsRequest, credentials: object): AwsRequest } = require('aws4');
  const credentials = new Map([[user, { accessKeyId: user, secretAccessKey: secret }]]);
  const bareRequest = (path: string, headers: Record<string, string>): AwsRequest => {
    return { host, path, method: 'GET', service: 'articles', region: 'local', headers };
  };
  const signed = (number: number) => {
    const path = flat(targetOf(number));
    const { headers } = sign(bareRequest(path, {}), credentials.get(user) ?? {});
    return {
      path,
      date: flat(headers['X-Amz-Date'] ?? ''),
      authorization: flat(headers['Authorization'] ?? ''),
    };
  };
  return contestant(signed, ({ path, date, authorization }) => {
    const found = credentials.get(/Credential=([^/]*)/.exec(authorization)?.[1] ?? '');
    if (found === undefined) return false;
    const again = sign(bareRequest(path, { 'X-Amz-Date': date }), found).headers['Authorization'];
    const [expected, given] = [Buffer.from(again ?? ''), Buffer.from(authorization)];
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) return false;
    const iso = date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5');
    return Math.abs(Date.now() - Date.parse(iso)) <= window * 1000;
  });
}

interface HttpSignature {
  parseRequest(request: object, options: object): { keyId: string };
  verifyHMAC(parsed: object, secret: string): boolean;
}

function httpSignature(): Peer {
  const { parseRequest, verifyHMAC }: HttpSignature = require('http-signature');
  const secrets = new Map([[user, secret]]);
  const signed = (number: number) => {
    const url = flat(targetOf(number));
    const date = new Date().toUTCString();
    const signature = createHmac('sha256', secret)
      .update(`(request-target): get ${url}\nhost: ${host}\ndate: ${date}`)
      .digest('base64');
    const authorization = `Signature keyId="${user}",algorithm="hmac-sha256",headers="(request-target) host date",signature="${signature}"`;
    return { method: 'GET', url, headers: { host, date: flat(date), authorization: flat(authorization) } };
  };
  return contestant(signed, (request) => {
    try {
      const parsed = parseRequest(request, { clockSkew: window });
      return verifyHMAC(parsed, secrets.get(parsed.keyId) ?? '');
    } catch {
      return false;
    }
  });
}

interface HttpMessageSignatures {
  createSigner(secret: string, algorithm: string, id: string): object;
  createVerifier(secret: string, algorithm: string): object;
  httpbis: {
    signMessage(config: object, message: object): Promise<{ headers: Record<string, string> }>;
    verifyMessage(config: object, message: object): Promise<boolean | null>;
  };
}

function httpMessageSignatures(): Peer {
  const library: HttpMessageSignatures = require('http-message-signatures');
  const key = library.createSigner(secret, 'hmac-sha256', user);
  const verify = library.createVerifier(secret, 'hmac-sha256');
  const keys = new Map([[user, { id: user, algs: ['hmac-sha256'], verify }]]);
  const seen = new Set<string>();
  const config = {
    maxAge: window,
    tolerance: 60,
    requiredFields: ['@method', '@request-target'],
    requiredParams: ['created', 'nonce', 'keyid'],
    keyLookup: async ({ keyid, nonce }: { keyid: string; nonce: string }) => {
      const pair = `${keyid}:${nonce}`;
      if (seen.has(pair)) return undefined;
      seen.add(pair);
      return keys.get(keyid);
    },
  };
  const signed = async (number: number) => {
    const url = `http://${host}${targetOf(number)}`;
    const { headers } = await library.httpbis.signMessage(
      {
        key,
        fields: ['@method', '@request-target'],
        params: ['created', 'nonce', 'keyid'],
        paramValues: { nonce: newNonce() },
      },
      { method: 'GET', url, headers: { host } },
    );
    const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), flat(value)]);
    return { method: 'GET', url: flat(url), headers: Object.fromEntries(entries) };
  };
  return contestant(signed, async (request) => {
    try {
      return (await library.httpbis.verifyMessage(config, request)) === true;
    } catch {
      return false;
    }
  });
}
