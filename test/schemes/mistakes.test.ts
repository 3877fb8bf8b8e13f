import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { startDouble } from '../../src/double/index.ts';
import { keepSecret } from '../support/transcript.ts';

const secret = 'c2VjcmV0IG9mIGFubiwgMzIgYnl0ZXMgbG9uZyEhISE=';

const sentType = 'application/json; charset=utf-8';

/** What a client signs in place of what it sends. */
interface Signed {
  readonly content?: string | Buffer;
  readonly type?: string;
  readonly secret?: string;
}

const text = '{"n":1,"ok":true,"none":null,"s":"it/s <é>"}';

test('the hint names content that was compressed after it was signed', async () => {
  const content = 'a'.repeat(100);
  assert.match(
    await hintFor({ content }, gzipSync(content)),
    /the content was compressed after it was signed/,
  );
});

test('the hint names content that was compressed before it was signed', async () => {
  const compressed = gzipSync(text);
  for (const system of [3, 255]) {
    compressed[9] = system;
    const hint = await hintFor({ content: compressed }, text);
    assert.match(hint, /the content was compressed before it was signed; sign the bytes that are sent/);
  }
});

test('the hint names decimals that were signed in another notation', async () => {
  for (const [sent, signed, hint] of [
    ['{"price":1.10}', '{"price":1.1}', /the JSON was parsed and serialized again/],
    ['{"price": 1.10}', '{"price": 1.1}', /the JSON was parsed and serialized again/],
    ['id=7&price=1.10', 'id=7&price=1.1', /numbers in the form were signed in another notation/],
  ] as const)
    assert.match(await hintFor({ content: signed }, sent), hint);
});

test('the hint names a media type that was written or chosen otherwise', async () => {
  const written = await hintFor({ type: 'application/json;charset=UTF-8' }, text);
  assert.match(written, /another form of its parameters/);
  const chosen = await hintFor({ type: 'text/plain;charset=UTF-8' }, text);
  assert.match(chosen, /changed after signing, by the client library or a proxy/);
});

test('the hint names a secret that was decoded as a part of a URL', async () => {
  const own = 'wJalrXUtnFEMI/K7MDENG+bPx%2FRfiCYEXAMPLE';
  for (const [used, hint] of [
    [own.replace('%2F', '/'), /the secret was percent-decoded/],
    [own.replace('%2F', '/').replace('+', ' '), /"\+" in the secret was read as a space/],
  ] as const)
    assert.match(await hintFor({ secret: used }, text, own), hint);
});

test('the hint does not confirm a short secret in another letter case', async () => {
  const hint = await hintFor({ secret: 'short secret' }, text, 'Short Secret');
  assert.doesNotMatch(hint, /letter case/);
});

test('the hint does not try indentation for JSON that would grow to a multiple of its size', async () => {
  const deepJson = (items: number): string => `${'['.repeat(60)}${'1,'.repeat(items)}1${']'.repeat(60)}`;
  const hintForIndented = (json: string): Promise<string> =>
    hintFor({ content: JSON.stringify(JSON.parse(json), null, 2) }, json);
  assert.match(await hintForIndented(deepJson(10)), /parsed and serialized again/);
  assert.doesNotMatch(await hintForIndented(deepJson(7000)), /parsed and serialized again/);
});

/** Returns the hint for a request that is signed with a mistake. */
async function hintFor(signed: Signed, sent: string | Buffer, own = secret): Promise<string> {
  keepSecret(own);
  const double = await startDouble({
    users: { ann: { secret: own } },
    schemes: {
      partner: {
        message: '{method}\n{field:Content-Type}\n{timestamp}\n{body}',
        signature: { field: 'X-Signature' },
        user: { field: 'X-User' },
        timestamp: { field: 'X-Timestamp' },
      },
    },
  });
  const timestamp = String(Math.floor(double.clock.now() / 1000));
  const mac = createHmac('sha256', signed.secret ?? own)
    .update(`POST\n${signed.type ?? sentType}\n${timestamp}\n`)
    .update(signed.content ?? sent)
    .digest('hex');
  const response = await double.fetch('/articles', {
    method: 'POST',
    headers: {
      'Content-Type': sentType,
      'X-User': 'ann',
      'X-Timestamp': timestamp,
      'X-Signature': mac,
    },
    body: sent,
  });
  assert.equal(response.status < 500 && response.status >= 400, true, String(response.status));
  const { auth, problem } = double.journal.last();
  await double.close();
  return `${auth?.hint ?? ''} ${problem?.detail ?? ''}`;
}
