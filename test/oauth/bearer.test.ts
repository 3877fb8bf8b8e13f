import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBearerVerifier } from '../../src/auth/bearer.ts';
import { createRequest } from '../../src/http/message.ts';
import { openServer, tokensFor } from '../support/oauth/server.ts';
import { seeded } from '../support/seeded.ts';

const request = createRequest({ method: 'GET', target: '/', secure: true });
const secure = { peer: '192.0.2.1', secure: true };

/** A scheme for which `good` is ann's token; what it was asked about is listed. */
function open(offered = true) {
  const asked: string[] = [];
  const scheme = createBearerVerifier({
    realm: 'a "realm"',
    bodyLimit: 1_048_576,
    offered: () => offered,
    async findPrincipal(token) {
      asked.push(token);
      return token === 'good' ? { name: 'ann', scheme: 'bearer' } : undefined;
    },
  });
  return { scheme, asked };
}

test('a valid token authenticates its user, and an invalid one is refused with a challenge', async () => {
  const { scheme } = open();
  assert.deepEqual(await scheme.authenticate(request, 'good'), {
    outcome: 'good',
    principal: { name: 'ann', scheme: 'bearer' },
  });
  const bad = await scheme.authenticate(request, 'bad');
  assert.ok(bad.outcome === 'bad' && bad.problem.status === 401);
  assert.equal(bad.challenge, 'Bearer realm="a \\"realm\\"", error="invalid_token"');
});

test('the challenge without a token has no error, and plain HTTP has no challenge', () => {
  const { scheme } = open();
  assert.equal(scheme.challenge(secure), 'Bearer realm="a \\"realm\\""');
  assert.equal(scheme.challenge({ ...secure, secure: false }), undefined);
  assert.equal(
    scheme.scopeChallenge?.('write'),
    'Bearer realm="a \\"realm\\"", error="insufficient_scope", scope="write"',
  );
});

test('a scheme that is not offered neither challenges nor looks up a token', async () => {
  const { scheme, asked } = open(false);
  assert.equal(scheme.challenge(secure), undefined);
  const verdict = await scheme.authenticate(request, 'good');
  assert.ok(verdict.outcome === 'bad' && verdict.problem.type === 'scheme-not-offered');
  assert.deepEqual(asked, []);
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
