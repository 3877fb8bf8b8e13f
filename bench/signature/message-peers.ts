/**
 * Verifiers of HTTP Message Signatures (RFC 9421). Each signs requests with their own nonce and date, and verifies them. All have
 * one user and the same window.
 */

import {
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign as signData,
  verify as verifyData,
} from 'node:crypto';
import { createRequire } from 'node:module';
import type { AccountKey } from '../../src/accounts/account-key.ts';
import { createAccounts } from '../../src/accounts/accounts.ts';
import type { MessageKey, SignatureAlgorithm } from '../../src/algorithms.ts';
import { systemClock } from '../../src/clock.ts';
import { parseCredentials } from '../../src/http/headers/authorization.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { createVerifier } from '../../src/schemes/create-verifier.ts';
import { formatSignedDate } from '../../src/schemes/hmac/credentials.ts';
import { readMessageSignaturesOptions } from '../../src/schemes/rfc9421/options.ts';
import { createMessageSignaturesScheme } from '../../src/schemes/rfc9421/scheme.ts';
import { defaultComponents, signMessage } from '../../src/schemes/rfc9421/sign.ts';
import type { Verifier } from '../../src/schemes/verifier.ts';
import { createHmacVerifier } from '../../test/support/schemes/hmac-verifier.ts';
import { accepts, flat, newNonce, newNonces, type Peer, targetOf } from './peers.ts';

const require = createRequire(import.meta.url);
const user = 'johndoe';
const secret = 'KZ4pT2mQv8sWx1Rb6nYc3dFg7hJk9LzE';
const host = 'localhost';
const window = 300;
const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Each peer is created only when it is measured. A missing package throws. */
export const messagePeers: ReadonlyMap<string, () => Peer> = new Map([
  ['the own scheme, with a nonce', ownScheme],
  ['countersign, hmac-sha256 with a nonce', () => countersign(hmacKey)],
  ['http-message-signatures, hmac-sha256 with a nonce', () => httpMessageSignatures()],
  ['countersign, seven components with a nonce', () => countersign(hmacKey, sevenComponents)],
  ['http-message-signatures, seven components with a nonce', () => httpMessageSignatures(sevenComponents)],
  ['countersign, ed25519 with a nonce', () => countersign(keyOf('ed25519', ed25519))],
  ['bare crypto.verify, ed25519', () => bare(ed25519, null)],
  ['countersign, ecdsa-p256-sha256 with a nonce', () => countersign(keyOf('ecdsa-p256-sha256', p256))],
  ['bare crypto.verify, ecdsa-p256-sha256', () => bare(p256, 'sha256')],
  ['countersign, ecdsa-p384-sha384 with a nonce', () => countersign(keyOf('ecdsa-p384-sha384', p384))],
  ['bare crypto.verify, ecdsa-p384-sha384', () => bare(p384, 'sha384')],
  ['countersign, rsa-v1_5-sha256 with a nonce', () => countersign(keyOf('rsa-v1_5-sha256', rsa))],
  ['bare crypto.verify, rsa-v1_5-sha256', () => bare(rsa, 'sha256')],
]);

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** The key of a client, and as an account has it. */
interface ClientKey {
  readonly key: MessageKey;
  readonly accountKey: AccountKey | undefined;
}

const hmacKey: ClientKey = { key: { id: user, algorithm: 'hmac-sha256', secret }, accountKey: undefined };

function keyOf(algorithm: SignatureAlgorithm, { privateKey, publicKey }: KeyPair): ClientKey {
  return { key: { id: 'key-1', algorithm, privateKey }, accountKey: { id: 'key-1', algorithm, publicKey } };
}

/** The fields of the requests. They are covered only if seven components are. */
const fields: readonly (readonly [string, string])[] = [
  ['Accept', 'application/json'],
  ['Content-Type', 'application/json'],
  // The digest of no content.
  ['Content-Digest', 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'],
];
const sevenComponents = [...defaultComponents, 'accept', 'content-type', 'content-digest'];

const seconds = (): number => Math.floor(Date.now() / 1000);

const accounts = createAccounts(new Map([[user, { secrets: [{ secret }] }]]));

function schemeWith(accountKey: AccountKey | undefined): Verifier {
  const account = accounts.find(user);
  if (account === undefined || account instanceof Promise) throw new RangeError('the user is not in memory');
  return createVerifier(createMessageSignaturesScheme('bench', readMessageSignaturesOptions({}, 'bench')), {
    realm: 'bench',
    accounts: {
      ...accounts,
      findKey: (id) => (id === accountKey?.id ? { account, key: accountKey } : undefined),
    },
    nonces: newNonces(window * 1000),
    clock: systemClock,
    nonceWindow: window * 1000,
    explain: false,
    bodyLimit: 1_000_000,
  });
}

function requestWith(target: string, lines: readonly (readonly [string, string])[]): IncomingRequest {
  const fields = [['Host', host] as const, ...lines].map(([name, value]) => [name, flat(value)] as const);
  return createRequest({ method: 'GET', target: flat(target), headers: fields });
}

function verifierOf(scheme: Verifier, requestOf: (number: number) => IncomingRequest, rest?: string): Peer {
  return (number) => {
    const request = requestOf(number);
    const credentials = rest === undefined ? '' : (request.headers.get(rest) ?? '');
    return () => {
      const own = rest === undefined ? '' : (parseCredentials(credentials)?.rest ?? '');
      return accepts(scheme, request, own);
    };
  };
}

function countersign({ key, accountKey }: ClientKey, components = defaultComponents): Peer {
  return verifierOf(schemeWith(accountKey), (number) => {
    const target = targetOf(number);
    const signed = signMessage(
      { method: 'GET', url: new URL(`http://${host}`), target, fields },
      { key, components, created: seconds(), nonce: newNonce() },
    );
    return requestWith(target, [...fields, ...signed.fields]);
  });
}

/** The length of the signature base of the requests. */
const baseLength = 240;

/** The own scheme, with a target that makes the message as long as the signature base. */
function ownScheme(): Peer {
  const scheme = createHmacVerifier({
    realm: 'bench',
    accounts,
    nonces: newNonces(window * 1000),
    clock: systemClock,
    window: window * 1000,
    simple: 'safe',
    requireBodyDigest: false,
    explain: false,
  });
  const requestOf = (number: number): IncomingRequest => {
    const date = formatSignedDate(Date.now());
    const nonce = newNonce();
    const rest = `+${date.replaceAll(' ', '')}+${nonce}`;
    const target = targetOf(number).padEnd(baseLength - 'GET+'.length - rest.length, '0');
    const digest = createHmac('sha256', secret).update(`GET+${target}${rest}`).digest('base64');
    return requestWith(target, [
      ['Date', date],
      ['Authentication', `hmac ${user}:${nonce}:${digest}`],
    ]);
  };
  return verifierOf(scheme, requestOf, 'authentication');
}

interface HttpMessageSignatures {
  createVerifier(secret: string, algorithm: string): object;
  httpbis: { verifyMessage(config: object, message: object): Promise<boolean | null> };
}

function httpMessageSignatures(components = defaultComponents): Peer {
  const library: HttpMessageSignatures = require('http-message-signatures');
  const verify = library.createVerifier(secret, 'hmac-sha256');
  const seen = new Set<string>();
  const config = {
    maxAge: window,
    tolerance: 60,
    requiredFields: components,
    requiredParams: ['created', 'nonce', 'keyid'],
    keyLookup: async ({ keyid, nonce }: { keyid: string; nonce: string }) => {
      const pair = `${keyid}:${nonce}`;
      if (keyid !== user || seen.has(pair)) return undefined;
      seen.add(pair);
      return { id: user, algs: ['hmac-sha256'], verify };
    },
  };
  return (number) => {
    const url = flat(`http://${host}${targetOf(number)}`);
    const signing = { key: hmacKey.key, components, created: seconds(), nonce: newNonce() };
    const target = targetOf(number);
    const signed = signMessage({ method: 'GET', url: new URL(url), target, fields }, signing);
    const lines = [['Host', host] as const, ...fields, ...signed.fields];
    const headers = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), flat(value)]));
    return async () =>
      (await library.httpbis.verifyMessage(config, { method: 'GET', url, headers })) === true;
  };
}

/** A verification of a text of the length of the base, without anything else. */
function bare({ privateKey, publicKey }: KeyPair, hash: string | null): Peer {
  const encoding = { dsaEncoding: 'ieee-p1363' } as const;
  return () => {
    const data = randomBytes(baseLength);
    const signature = signData(hash, data, { key: privateKey, ...encoding });
    return () => verifyData(hash, data, { key: publicKey, ...encoding }, signature);
  };
}
