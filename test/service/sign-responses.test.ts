import assert from 'node:assert/strict';
import { createHash, createPublicKey } from 'node:crypto';
import test from 'node:test';
import { createRequest, type IncomingRequest, type Response } from '../../src/http/message.ts';
import { responseSigningShape } from '../../src/schemes/rfc9421/options.ts';
import { createResponseSigner } from '../../src/service/sign-responses.ts';
import { read } from '../../src/shape/shape.ts';
import { start } from '../support/schemes/message-scheme.ts';
import { publicKey, signingKey } from '../support/schemes/rfc9421.ts';

function readResponseSigning(value: unknown, where: string) {
  return read(responseSigningShape, value, [where]);
}

const key = signingKey('test-key-ed25519');
const clock = { now: () => start * 1000 + 999 };
const sign = createResponseSigner({ key }, clock);

function asking(accept: string | undefined, method = 'POST'): IncomingRequest {
  const fields: [string, string][] = [['Host', 'example.com']];
  if (accept !== undefined) fields.push(['Accept-Signature', accept]);
  return createRequest({ method, target: '/foo?x=1', secure: true, headers: fields });
}

const ok: Response = { status: 200, headers: [['Content-Type', 'application/json']], body: '{"a":1}' };

function findField({ headers: fields }: Response, sought: string): string | undefined {
  return fields.find(([field]) => field.toLowerCase() === sought)?.[1];
}

const formatDigest = (content: string): string =>
  `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;

test('a response is signed only on request', () => {
  const response = sign(asking(undefined), ok);
  assert.equal(findField(response, 'signature'), undefined);
  assert.equal(findField(response, 'content-digest'), undefined);
  assert.equal(findField(response, 'vary'), 'Accept-Signature');
});

test('a signature covers the components in Accept-Signature, and has its label, nonce and tag', () => {
  const accept =
    'here=("@status" "content-digest" "@method";req "@path";req "@query";req);created;expires;nonce="n1";tag="app"';
  const response = sign(asking(accept), ok);
  assert.equal(
    findField(response, 'signature-input'),
    `here=("@status" "content-digest" "@method";req "@path";req "@query";req);created=${start};expires=${start + 300};nonce="n1";keyid="test-key-ed25519";tag="app"`,
  );
  assert.equal(findField(response, 'content-digest'), formatDigest('{"a":1}'));
});

test('several signatures can be requested, up to four', () => {
  const labels = (response: Response): string[] =>
    Array.from((findField(response, 'signature') ?? '').matchAll(/(\w+)=:/g), ([, label = '']) => label);
  assert.deepEqual(labels(sign(asking('a=("@status"), b=("@status" "@path";req)'), ok)), ['a', 'b']);
  const many = Array.from({ length: 6 }, (_, at) => `s${at}=("@status")`).join(', ');
  assert.equal(labels(sign(asking(many), ok)).length, 4);
});

const ignored: readonly string[] = [
  ...['sig1=("@status");keyid="other"', 'sig1=("@status");alg="hmac-sha256"'],
  ...['sig1=("@status" "x-absent")', 'sig1=("@status" "@method")', 'sig1=("@status" "@foo")'],
  ...['sig1=("@status" "@status")', 'sig1=("@path";req)', 'sig1=()', 'sig1=("@status");unknown'],
  ...['sig1=("@status");nonce', 'sig1="@status"', 'sig1=(', 'sig1=("@status"), sig1=("@status")'],
];

for (const accept of ignored) {
  test(`an Accept-Signature that cannot be satisfied is ignored: ${accept}`, () => {
    const response = sign(asking(accept), ok);
    assert.equal(findField(response, 'signature'), undefined);
    assert.deepEqual([response.status, response.body], [ok.status, ok.body]);
  });
}

test('the digest of a response without content is that of empty content, also for HEAD', () => {
  const accept = 'sig1=("@status" "content-digest")';
  const none: Response = { status: 204, headers: [], body: undefined };
  assert.equal(findField(sign(asking(accept), none), 'content-digest'), formatDigest(''));
  assert.equal(
    findField(sign(asking(accept, 'HEAD'), { ...ok, headOnly: true }), 'content-digest'),
    formatDigest(''),
  );
  assert.equal(findField(sign(asking('sig1=("@status" "content-length")'), none), 'signature'), undefined);
});

test('the digest is that of the bytes as sent, and an existing digest is unchanged', () => {
  const accept = 'sig1=("@status" "content-digest")';
  const bytes = Buffer.from('\u00fc');
  assert.equal(findField(sign(asking(accept), { ...ok, body: 'ü' }), 'content-digest'), formatDigest('ü'));
  assert.equal(findField(sign(asking(accept), { ...ok, body: bytes }), 'content-digest'), formatDigest('ü'));
  const present: Response = { ...ok, headers: [['content-digest', 'sha-512=:AAAA:']] };
  assert.equal(sign(asking(accept), present).headers.filter(([field]) => /digest/i.test(field)).length, 1);
});

test('with configured components, every response is signed', () => {
  const always = createResponseSigner({ key, components: ['@status', '@method;req'] }, clock);
  const input = `("@status" "@method";req);created=${start};keyid="test-key-ed25519"`;
  assert.equal(findField(always(asking(undefined), ok), 'signature-input'), `sig1=${input}`);
  const both = always(asking('sig1=("@status")'), ok);
  assert.equal(
    findField(both, 'signature-input'),
    `sig2=${input}, sig1=("@status");created=${start};keyid="test-key-ed25519"`,
  );
});

test('the key and the components are read from a configuration', () => {
  const { publicKey: verifying } = publicKey('test-key-ed25519');
  if (!('privateKey' in key)) throw new RangeError('the key is not private');
  const privateKey = key.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const read = readResponseSigning(
    { key: { id: 'k', algorithm: 'ed25519', privateKey }, components: ['@status', 'content-digest'] },
    'signResponses',
  );
  assert.ok('privateKey' in read.key);
  assert.ok(createPublicKey(read.key.privateKey).equals(verifying));
  assert.deepEqual(read.components, ['@status', 'content-digest']);
  const shared = readResponseSigning(
    { key: { id: 'k', algorithm: 'hmac-sha256', secret: 's' } },
    'signResponses',
  );
  assert.deepEqual(shared, { key: { id: 'k', algorithm: 'hmac-sha256', secret: 's' } });
});

const pem = 'privateKey' in key ? String(key.privateKey.export({ type: 'pkcs8', format: 'pem' })) : '';
const faults: readonly (readonly [value: unknown, message: string])[] = [
  [undefined, 'signResponses must be an object, is missing'],
  [{}, 'signResponses.key must be an object, is missing'],
  [{ keys: {} }, 'keys is not a member of signResponses; did you mean "key"?'],
  [{ key: { algorithm: 'ed25519' } }, 'signResponses.key.id must be non-empty text, is missing'],
  [{ key: { id: 'ä', algorithm: 'ed25519' } }, 'signResponses.key.id must be printable ASCII characters'],
  [
    { key: { id: 'k', algorithm: 'ed2551' } },
    'signResponses.key.algorithm: there is no such algorithm; did you mean "ed25519"?',
  ],
  [
    { key: { id: 'k', algorithm: 'ed25519', secret: 's' } },
    'signResponses.key.secret: a key for ed25519 has privateKey instead',
  ],
  [
    { key: { id: 'k', algorithm: 'ed25519', privateKey: 'x' } },
    'signResponses.key.privateKey must be a private key in PEM format, without a passphrase',
  ],
  [
    { key: { id: 'k', algorithm: 'rsa-pss-sha512', privateKey: pem } },
    'signResponses.key.privateKey: the key is not one for rsa-pss-sha512',
  ],
  [
    { key: { id: 'k', algorithm: 'hmac-sha256', secret: '' } },
    'signResponses.key.secret must be non-empty text, is empty',
  ],
  [
    { key: { id: 'k', algorithm: 'hmac-sha256', secret: 's' }, components: [] },
    'signResponses.components must be a list with at least one component',
  ],
  [
    { key: { id: 'k', algorithm: 'hmac-sha256', secret: 's' }, components: ['date'] },
    'signResponses.components: the component @status is required',
  ],
  [
    { key: { id: 'k', algorithm: 'hmac-sha256', secret: 's' }, components: ['@status', '@path'] },
    'signResponses.components[1]: "@path" requires the parameter req in a response',
  ],
];

for (const [value, message] of faults) {
  test(`an invalid configuration is rejected: ${message}`, () => {
    assert.throws(() => readResponseSigning(value, 'signResponses'), { name: 'RangeError', message });
  });
}
