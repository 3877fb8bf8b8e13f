import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import test from 'node:test';
import type { MessageSigning } from '../../../src/schemes/rfc9421/sign.ts';
import { publicKey, signingKey } from '../../support/schemes/rfc9421.ts';
import { signMessage } from '../../support/schemes/sign-message.ts';

const key = { id: 'ann', algorithm: 'hmac-sha256', secret: 'a secret of ann' } as const;
const get = { method: 'GET', url: 'https://example.com/a?b' };

test('a request is signed with the components and parameters given', () => {
  const signing: MessageSigning = {
    key,
    label: 'mine',
    created: 1,
    expires: 2,
    nonce: 'n',
    alg: true,
    tag: 't',
    components: ['@method', 'accept;sf'],
    types: { accept: 'list' },
  };
  const fields = signMessage({ ...get, fields: [['Accept', 'a,  b']] }, signing);
  const params =
    '("@method" "accept";sf);created=1;expires=2;nonce="n";alg="hmac-sha256";keyid="ann";tag="t"';
  const base = `"@method": GET\n"accept";sf: a, b\n"@signature-params": ${params}`;
  const signature = createHmac('sha256', key.secret).update(base).digest('base64');
  assert.deepEqual(fields, { 'Signature-Input': `mine=${params}`, Signature: `mine=:${signature}:` });
});

test('a signature covers method, authority, path and query by default, and the digest of any content', () => {
  const content = '{"title":"Ink"}';
  const fields = signMessage({ method: 'PUT', url: 'http://localhost:8080/a', content }, { key });
  const digest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
  assert.equal(fields['Content-Digest'], digest);
  assert.equal(
    fields['Signature-Input'],
    'sig1=("@method" "@authority" "@path" "@query" "content-digest");keyid="ann"',
  );
  const base = `"@method": PUT\n"@authority": localhost:8080\n"@path": /a\n"@query": ?\n"content-digest": ${digest}\n"@signature-params": ${fields['Signature-Input'].slice(5)}`;
  assert.equal(fields.Signature, `sig1=:${createHmac('sha256', key.secret).update(base).digest('base64')}:`);
});

test('signMessage does not replace a Content-Digest field of the request', () => {
  const request = {
    method: 'PUT',
    url: get.url,
    content: 'x',
    fields: [['content-digest', 'sha-512=:AAAA:']] as const,
  };
  assert.equal(signMessage(request, { key })['Content-Digest'], undefined);
});

test('signMessage signs the target as sent if it differs from that of the URL', () => {
  const signing = { key, components: ['@request-target'] };
  const sent = signMessage({ ...get, target: '/a%2f?b' }, signing);
  assert.notEqual(sent.Signature, signMessage(get, signing).Signature);
});

test('signMessage throws for invalid keys, components and parameters', () => {
  const sign = (signing: Partial<MessageSigning>) => () => signMessage(get, { key, ...signing });
  const ed25519 = signingKey('test-key-ed25519');
  assert.ok('privateKey' in ed25519);
  assert.throws(sign({ key: { ...key, secret: '' } }), {
    name: 'RangeError',
    message: 'a secret must not be empty',
  });
  assert.throws(sign({ key: { ...ed25519, algorithm: 'rsa-pss-sha512' } }), {
    message: 'the key is not one for rsa-pss-sha512',
  });
  assert.throws(
    sign({ key: { ...ed25519, privateKey: publicKey('test-key-ed25519').publicKey } }),
    /a private key is required/,
  );
  assert.throws(sign({ components: ['x-absent'] }), {
    name: 'RangeError',
    message: 'the message has no component "x-absent"',
  });
  assert.throws(sign({ components: ['Accept'] }), { name: 'RangeError', message: /not in lower case/ });
  assert.throws(sign({ components: ['@method', '@method'] }), {
    name: 'RangeError',
    message: /covered twice/,
  });
  assert.throws(sign({ nonce: 'ä' }), RangeError);
  assert.throws(sign({ created: 1.5 }), RangeError);
  assert.throws(sign({ label: 'Sig' }), RangeError);
});
