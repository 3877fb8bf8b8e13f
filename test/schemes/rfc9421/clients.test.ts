// Clients that were written elsewhere, unmodified.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import type { AccountKey } from '../../../src/accounts/account-key.ts';
import type { Accounts } from '../../../src/accounts/accounts.ts';
import type { MessageAlgorithm } from '../../../src/algorithms.ts';
import type { IncomingRequest } from '../../../src/http/message.ts';
import {
  accountsWithKeys,
  arriving,
  judgeRequest,
  openScheme,
  p384,
  secret,
  start,
} from '../../support/schemes/message-scheme.ts';
import { publicKey, signingKey } from '../../support/schemes/rfc9421.ts';
import { signMessage } from '../../support/schemes/sign-message.ts';

const tests = join(import.meta.dirname, '../..');
const require = createRequire(join(tests, 'package.json'));
const lacks = (name: string): string | false =>
  existsSync(join(tests, 'node_modules', name)) ? false : `${name} is not installed: npm ci --prefix test`;

type Headers = Record<string, string>;

interface HttpMessageSignatures {
  createSigner(key: unknown, algorithm: string, id: string): object;
  createVerifier(key: unknown, algorithm: string): unknown;
  httpbis: {
    signMessage(config: object, message: object): Promise<{ headers: Headers }>;
    verifyMessage(config: object, message: object): Promise<boolean | null>;
  };
}

const now = new Date(start * 1000);
const content = '{"title":"Ink"}';
const digest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;

function requestWith(method: string, url: string, headers: Headers, sent?: string): IncomingRequest {
  const lines = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'host');
  return arriving(sent === undefined ? { method, url } : { method, url, content: sent }, lines);
}

const keys: readonly (readonly [id: string, algorithm: MessageAlgorithm, key: unknown])[] = [
  ['ann', 'hmac-sha256', secret],
  ['test-key-ed25519', 'ed25519', privateKey('test-key-ed25519')],
  ['test-key-ecc-p256', 'ecdsa-p256-sha256', privateKey('test-key-ecc-p256')],
  ['p384', 'ecdsa-p384-sha384', p384.privateKey],
  ['test-key-rsa', 'rsa-v1_5-sha256', privateKey('test-key-rsa')],
  ['rsa-as-pss', 'rsa-pss-sha512', privateKey('test-key-rsa')],
];

function privateKey(id: string) {
  const key = signingKey(id);
  return 'privateKey' in key ? key.privateKey : undefined;
}

for (const [id, algorithm, key] of keys) {
  test(`http-message-signatures signs with ${algorithm}`, {
    skip: lacks('http-message-signatures'),
  }, async () => {
    const { createSigner, httpbis }: HttpMessageSignatures = require('http-message-signatures');
    const url = 'https://example.com/articles?limit=5&q=a%20b';
    const headers = { host: 'example.com', 'content-digest': digest, 'content-type': 'application/json' };
    const fields = [
      '@method',
      '@authority',
      '@path',
      '@query',
      '@target-uri',
      '@scheme',
      '@request-target',
      '@query-param;name="limit"',
      'content-type',
      'content-digest',
      'content-digest;sf',
      'content-type;bs',
    ];
    const signer = createSigner(key, algorithm, id);
    const config = {
      key: signer,
      fields,
      params: ['created', 'expires', 'nonce', 'keyid', 'alg'],
      paramValues: { created: now, nonce: 'n1' },
    };
    const signed = await httpbis.signMessage(config, { method: 'POST', url, headers });
    const { outcome, trace } = await openScheme().judge(requestWith('POST', url, signed.headers, content));
    if (algorithm === 'rsa-pss-sha512') {
      // The package uses the longest possible salt, against RFC 9421 §3.3.1.
      assert.match(String(trace.details['hint']), /salt of RSASSA-PSS has another length/);
      return;
    }
    assert.equal(outcome, 'good ann');
    const other = requestWith('POST', url.replace('5', '6'), signed.headers, content);
    assert.equal(await judgeRequest(other), 'credentials-refused');
  });

  test(`http-message-signatures verifies the signatures of this project with ${algorithm}`, {
    skip: lacks('http-message-signatures'),
  }, async () => {
    const { createVerifier, httpbis }: HttpMessageSignatures = require('http-message-signatures');
    const url = 'https://example.com/articles?limit=5';
    const signing = algorithm === 'hmac-sha256' ? { id, algorithm, secret } : undefined;
    const own = signing ?? { ...ownKey(id), id };
    const fields = signMessage(
      { method: 'POST', url, content, fields: [['Content-Type', 'application/json']] },
      {
        key: own,
        created: Math.floor(Date.now() / 1000),
        nonce: 'a "quoted" \\ nonce',
        tag: 'app',
        alg: true,
        components: [
          '@method',
          '@target-uri',
          '@query-param;name="limit"',
          'content-type',
          'content-digest;key="sha-256"',
        ],
      },
    );
    const verifying =
      algorithm === 'hmac-sha256'
        ? secret
        : id === 'p384'
          ? p384.publicKey
          : publicKey(id === 'rsa-as-pss' ? 'test-key-rsa' : id).publicKey;
    const keyLookup = async () => ({ id, algs: [algorithm], verify: createVerifier(verifying, algorithm) });
    const message = { method: 'POST', url, headers: { 'Content-Type': 'application/json', ...fields } };
    assert.equal(await httpbis.verifyMessage({ keyLookup, requiredParams: ['nonce', 'tag'] }, message), true);
  });
}

function ownKey(id: string) {
  if (id === 'p384') return { algorithm: 'ecdsa-p384-sha384', privateKey: p384.privateKey } as const;
  const key = signingKey(id === 'rsa-as-pss' ? 'test-key-rsa' : id);
  if (!('privateKey' in key)) throw new RangeError(`${id} has no private key`);
  return id === 'rsa-as-pss' ? ({ ...key, algorithm: 'rsa-pss-sha512' } as const) : key;
}

interface WebBotAuth {
  signatureHeaders(message: object, signer: object, parameters: object): Promise<Headers>;
  generateNonce(): string;
}
interface WebBotAuthCrypto {
  signerFromJWK(jwk: object): Promise<{ readonly keyid: string }>;
}

for (const id of ['test-key-ed25519', 'test-key-rsa-pss']) {
  test(`web-bot-auth signs with ${id}`, { skip: lacks('web-bot-auth') }, async () => {
    const { signatureHeaders, generateNonce }: WebBotAuth = require('web-bot-auth');
    const { signerFromJWK }: WebBotAuthCrypto = require('web-bot-auth/crypto');
    const { jwk, publicKey: verifying, algorithm } = publicKey(id);
    const signer = await signerFromJWK(jwk['kty'] === 'RSA' ? { ...jwk, alg: 'PS512' } : jwk);
    // The id of the key is the thumbprint of its JWK (RFC 7638).
    const key: AccountKey = { id: signer.keyid, algorithm, publicKey: verifying };
    const setting = {
      accounts: alsoWith(key),
      options: { components: ['@authority'], tag: 'web-bot-auth', nonce: 'required' },
    };
    const headers: Headers = { 'Signature-Agent': '"https://bot.example"' };
    const url = 'https://example.com/path?q';
    const signed = await signatureHeaders({ method: 'GET', url, headers }, signer, {
      created: now,
      expires: new Date(now.getTime() + 60_000),
      nonce: generateNonce(),
    });
    assert.match(signed['Signature-Input'] ?? '', /"signature-agent"/);
    const request = requestWith('GET', url, { ...headers, ...signed });
    const { judge } = openScheme(setting);
    assert.equal((await judge(request)).outcome, 'good ann');
    assert.equal((await judge(request)).outcome, 'nonce-replayed');
    assert.equal(
      await judgeRequest(requestWith('GET', 'https://other.example/', { ...headers, ...signed }), setting),
      'credentials-refused',
    );
    const foreign = { ...headers, ...signed, 'Signature-Agent': '"https://other.example"' };
    assert.equal(await judgeRequest(requestWith('GET', url, foreign), setting), 'credentials-refused');
  });
}

function alsoWith(key: AccountKey): Accounts {
  const accounts = accountsWithKeys();
  return {
    ...accounts,
    async findKey(id) {
      const account = await accounts.find('ann');
      return id === key.id && account !== undefined ? { account, key } : accounts.findKey?.(id);
    },
  };
}
