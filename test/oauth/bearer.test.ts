import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRequest } from '../../src/http/message.ts';
import { createBearerVerifier } from '../../src/schemes/bearer.ts';
import { openServer, tokensFor } from '../support/oauth/server.ts';
import { seeded } from '../support/seeded.ts';

const request = createRequest({ method: 'GET', target: '/', secure: true });
const secure = { peer: '192.0.2.1', secure: true };

/** A scheme for which `good` is ann's token; what it was asked about is listed. */
function open() {
  const asked: string[] = [];
  const scheme = createBearerVerifier({
    realm: 'a "realm"',
    bodyLimit: 1_048_576,
    offered: () => true,
    async findPrincipal(token) {
      asked.push(token);
      return token === 'good' ? { name: 'ann', scheme: 'bearer' } : undefined;
    },
  });
  return { scheme, asked };
}

test('the challenge without a token has no error, and plain HTTP has no challenge', () => {
  const { scheme } = open();
  assert.equal(scheme.challenge(secure), 'Bearer realm="a \\"realm\\""');
  assert.equal(scheme.challenge({ ...secure, secure: false }), undefined);
  assert.equal(
    scheme.scopeChallenge?.('write'),
    'Bearer realm="a \\"realm\\"", error="insufficient_scope", scope="write"',
  );
});

test('a token that does not match the grammar is rejected with 400 and not looked up', async () => {
  const random = seeded();
  // RFC 6750 §2.1: b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="
  const letters = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/');
  for (let run = 0; run < 2000; run += 1) {
    const text = random.text('Az09-._~+/== ,"é\t', 6);
    const body = text.replace(/=+$/, '');
    const isToken = body !== '' && [...body].every((letter) => letters.has(letter));
    const { scheme, asked } = open();
    const verdict = await scheme.authenticate(request, text);
    const seen = `seed ${random.seed}: ${JSON.stringify(text)}`;
    assert.ok(verdict.outcome === 'bad', seen);
    assert.equal(verdict.problem.status, isToken ? 401 : 400, seen);
    assert.deepEqual(asked, isToken ? [text] : [], seen);
  }
});

test('a client with too many invalid tokens gets 429 with Retry-After', async () => {
  const server = openServer({ maxAuthFailures: 5 });
  const { access } = await tokensFor(server);
  const ask = (bearer: string, peer: string) =>
    server.ask('GET', '/users/ann/financialrecords', { bearer, peer });
  for (let time = 0; time < 5; time += 1) assert.equal((await ask('bad', '192.0.2.1')).status, 401);
  const refused = await ask('bad', '192.0.2.1');
  assert.deepEqual([refused.status, refused.field('Retry-After')], [429, '60']);
  assert.equal((await ask(access, '192.0.2.2')).status, 200);
});
