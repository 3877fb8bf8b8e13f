import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createHashQueue } from '../../../src/accounts/hash-queue.ts';
import { hashPassword, verifyPassword } from '../../../src/accounts/passwords.ts';
import { createRateLimiter } from '../../../src/accounts/rate-limit.ts';
import { createManualClock } from '../../../src/clock.ts';
import { createRequest } from '../../../src/http/message.ts';
import { Problem } from '../../../src/http/problem.ts';
import { type Client, type ClientSecret, createRegistry } from '../../../src/oauth/clients.ts';
import { createClientAuthentication } from '../../../src/oauth/oauth2/client-authentication.ts';
import { OAuthError } from '../../../src/oauth/oauth2/oauth-error.ts';
import { readOAuth2 } from '../../../src/oauth/oauth2-options.ts';
import { createOrigins } from '../../../src/pipeline/origin.ts';
import { createNonces } from '../../../src/store/nonces/nonces.ts';
import { basicField } from '../../support/oauth/server.ts';

function client(id: string, secret: ClientSecret | undefined): Client {
  return { id, secret, redirectUris: [], grants: [], scopes: [], users: [] };
}

/** What a request carries: Basic for `USER:PASSWORD`, parameters, and where from. */
interface Presented {
  readonly basic?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly peer?: string;
}

/** Clients, the outcome of requests that claim to be from one, and how many hashes were computed for that. */
function open(clients: readonly Client[], limit = 0, verify = verifyPassword) {
  const clock = createManualClock(0);
  const registry = createRegistry(new Map(clients.map((each) => [each.id, each])));
  const rateLimiter = createRateLimiter(limit, clock);
  let hashes = 0;
  const authenticate = createClientAuthentication({
    clock,
    notBefore: undefined,
    here: 'this service',
    nonceWindow: 600_000,
    nonces: createNonces({
      bucketSpan: 1000,
      max: 100,
      key: randomBytes(16),
      monotonic: () => clock.steady(),
    }),
    settings: readOAuth2(undefined),
    origins: createOrigins(undefined),
    realm: 'test',
    clients: registry,
    rateLimiter,
    random: randomBytes,
    hashQueue: createHashQueue(rateLimiter),
    verifySecret(secret, hash) {
      hashes += 1;
      return verify(secret, hash);
    },
  });
  const outcome = async ({ basic, values = {}, peer = '192.0.2.1' }: Presented): Promise<string> => {
    const fields: [string, string][] = basic === undefined ? [] : [['Authorization', basicField(basic)]];
    const request = createRequest({ method: 'POST', target: '/', headers: fields, peer, secure: true });
    try {
      return (await authenticate(request, new Map(Object.entries(values)), 'any')).client.id;
    } catch (error) {
      if (error instanceof OAuthError) return error.code;
      if (error instanceof Problem) return `${error.type} ${error.headers.join()}`;
      throw error;
    }
  };
  return { outcome, registry, clock, hashes: () => hashes };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Form-encoded as the WHATWG has it. */
const encoded = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);

// What RFC 6749 Appendix B is about, and what clients make of it.
const hard = ['p w', 'p+w', 'p%20w', 'p%w', 'a:b', 'a&b=c', 'ü€😀', '%', '100%25', 'q\'\\"', 'plain-_~.'];

for (const secret of hard) {
  test(`the secret ${JSON.stringify(secret)} is accepted form-encoded, unencoded, and in the content`, async () => {
    for (const known of [{ plain: secret }, { sha256: sha256(secret) }]) {
      const { outcome } = open([client('app', known)]);
      assert.equal(await outcome({ basic: `app:${encoded(secret)}` }), 'app');
      assert.equal(await outcome({ basic: `app:${secret}` }), 'app');
      assert.equal(await outcome({ values: { client_id: 'app', client_secret: secret } }), 'app');
      assert.equal(await outcome({ basic: `app:${secret}x` }), 'invalid_client');
    }
  });
}

test('an id with a colon is accepted form-encoded', async () => {
  const { outcome } = open([client('https://app.example/', { plain: 'secret' })]);
  assert.equal(await outcome({ basic: `${encoded('https://app.example/')}:secret` }), 'https://app.example/');
});

test('a client_id beside Basic is accepted only if it is the same', async () => {
  const { outcome } = open([client('app', { plain: 'secret' }), client('other', { plain: 'secret' })]);
  assert.equal(await outcome({ basic: 'app:secret', values: { client_id: 'app' } }), 'app');
  assert.equal(await outcome({ basic: 'app:secret', values: { client_id: 'other' } }), 'invalid_request');
});

test('a public client sends its id in the content, or by Basic with an empty secret', async () => {
  const { outcome } = open([client('phone', undefined)]);
  assert.equal(await outcome({ values: { client_id: 'phone' } }), 'phone');
  assert.equal(await outcome({ basic: 'phone:' }), 'phone');
  assert.equal(await outcome({ basic: 'phone:x' }), 'invalid_client');
  assert.equal(
    await outcome({ values: { client_id: 'phone', client_secret: 'undefined' } }),
    'invalid_client',
  );
});

test('the hash of a chosen secret is computed once, and again after the client was changed', async () => {
  const scrypt = await hashPassword('chosen', randomBytes(16), 2);
  const { outcome, registry, hashes } = open([client('app', { scrypt })]);
  for (let time = 0; time < 3; time += 1) assert.equal(await outcome({ basic: 'app:chosen' }), 'app');
  assert.equal(hashes(), 1);
  assert.equal(await outcome({ basic: 'app:chosen2' }), 'invalid_client');
  registry.replace(
    new Map([['app', client('app', { scrypt: await hashPassword('new', randomBytes(16), 2) })]]),
  );
  assert.equal(await outcome({ basic: 'app:chosen' }), 'invalid_client');
  assert.equal(await outcome({ basic: 'app:new' }), 'app');
});

test('a wrong secret costs one hash for every known or unknown client and every kind of secret', async () => {
  const scrypt = await hashPassword('chosen', randomBytes(16), 2);
  const { outcome, hashes } = open([
    client('generated', { sha256: sha256('secret') }),
    client('chosen', { scrypt }),
    client('configured', { plain: 'secret' }),
    client('public', undefined),
  ]);
  for (const [at, id] of ['generated', 'chosen', 'configured', 'public', 'unknown'].entries()) {
    assert.equal(await outcome({ basic: `${id}:wrong` }), 'invalid_client');
    assert.equal(hashes(), at + 1, id);
  }
  // The right secret of who has no hash costs none; the one that was chosen is wrong for everybody else.
  assert.equal(await outcome({ basic: 'generated:secret' }), 'generated');
  assert.equal(hashes(), 5);
  assert.equal(await outcome({ basic: 'unknown:chosen' }), 'invalid_client');
  assert.equal(await outcome({ basic: 'public:chosen' }), 'invalid_client');
});

test('a client gets too-many-attempts with Retry-After if too many secrets wait to be hashed', async () => {
  let finish: (right: boolean) => void = () => {};
  const hashed = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  const { outcome } = open([client('app', { scrypt: 'any' })], 0, () => hashed);
  const ask = (peer: string): Promise<string> => outcome({ basic: 'app:chosen', peer });
  // Two are hashed at a time, and 64 wait.
  const admitted = Array.from({ length: 66 }, (_, at) => ask(`192.0.2.${at}`));
  assert.equal(await ask('198.51.100.1'), 'too-many-attempts Retry-After,2');
  finish(true);
  assert.deepEqual(new Set(await Promise.all(admitted)), new Set(['app']));
});

test('a client that is removed while its secret is checked is refused', async () => {
  const scrypt = await hashPassword('chosen', randomBytes(16), 2);
  const { outcome, registry } = open([client('app', { scrypt })]);
  const asked = outcome({ basic: 'app:chosen' });
  registry.replace(new Map());
  assert.equal(await asked, 'invalid_client');
});

test('a client with too many failures must wait, and the right secret is accepted from another address', async () => {
  const { outcome, clock } = open([client('app', { plain: 'secret' })], 3);
  for (let time = 0; time < 3; time += 1)
    assert.equal(await outcome({ basic: 'app:wrong' }), 'invalid_client');
  assert.equal(await outcome({ basic: 'app:secret' }), 'too-many-failures Retry-After,60');
  const elsewhere = '198.51.100.1';
  assert.equal(await outcome({ basic: 'app:secret', peer: elsewhere }), 'app');
  assert.equal(await outcome({ basic: 'app:wrong', peer: elsewhere }), 'too-many-failures Retry-After,60');
  clock.advance(60_000);
  assert.equal(await outcome({ basic: 'app:secret' }), 'app');
});

test('failures of a client are not failures of a user of the same name', async () => {
  const { outcome } = open([client('ann', { plain: 'secret' }), client('client', { plain: 'secret' })], 3);
  for (let time = 0; time < 3; time += 1) await outcome({ basic: 'ann:wrong', peer: `192.0.2.${time}` });
  assert.equal(await outcome({ basic: 'client:wrong', peer: '192.0.2.9' }), 'invalid_client');
});
