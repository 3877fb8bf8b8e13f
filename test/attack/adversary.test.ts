import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { type Attempt, attack, createAttempts, createSigner, type Signer } from '../../src/attack/index.ts';
import { createManualClock } from '../../src/clock.ts';
import type { RequestInput } from '../../src/http/field-lines.ts';
import { createService, type ServiceOptions } from '../../src/index.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { seeded } from '../support/seeded.ts';
import { startNaive } from './fixture.ts';

const clock = createManualClock(Date.UTC(2026, 1, 9, 12, 59, 24));
const secret = 'a secret of johndoe';
const user = { user: 'johndoe', secret };
const content = '<article><title>Second thoughts</title><price currency="EUR">12.30</price></article>';

const read: RequestInput = { url: 'http://api.example/articles/1?a=1&b=2' };
const write: RequestInput = {
  method: 'PUT',
  url: 'http://api.example/articles/1',
  headers: { 'Content-Type': 'application/xml' },
  body: content,
};

function random(seed = 1): (size: number) => Uint8Array {
  const drawn = seeded(seed);
  return (size) => Uint8Array.from({ length: size }, () => drawn.below(256));
}

function attempts(request: RequestInput, signer: Signer, seed = 1, open = false): Attempt[] {
  return createAttempts(request, signer, { clock, otherUser: 'jane', random: random(seed), open });
}

async function ours(context: TestContext, options: ServiceOptions = {}) {
  const service = createService({
    clock,
    maxAuthFailures: 0,
    users: {
      johndoe: { secret, password: 'a password' },
      jane: { secret: 'another secret', password: 'pw' },
    },
    seed: { '/articles': [{ title: 'First', price: { value: '9.99', currency: 'EUR' } }] },
    ...options,
  });
  context.after(() => service.close({ grace: 0 }));
  const tls = makeIdentity();
  const [plain, secure] = [await service.listen({}), await service.listen({ tls })];
  return {
    plain: { url: plain.url },
    secure: { secureUrl: secure.url, ca: tls.cert },
    both: { url: plain.url, secureUrl: secure.url, ca: tls.cert },
  };
}

const forms: readonly (readonly [
  name: string,
  request: RequestInput,
  signer: Signer,
  open: boolean,
  least: number,
])[] = [
  ['a GET in the full form', read, createSigner(user), true, 80],
  ['a GET in the simple form', read, createSigner({ ...user, form: 'simple' }), true, 50],
  ['a PUT in the full form', write, createSigner({ ...user, signBody: false }), false, 85],
  ['a PUT with its digest', write, createSigner(user), false, 90],
  ['a PUT dated by X-Date', write, createSigner({ ...user, dateField: 'X-Date' }), false, 90],
];

describe('a service refuses all attempts derived from', () => {
  for (const [name, request, signer, open, least] of forms) {
    test(name, async (context) => {
      const { plain, secure } = await ours(context);
      for (const [at, target] of [plain, secure].entries()) {
        const report = await attack(target, attempts(request, signer, at, open));
        assert.ok(report.passed, String(report));
        assert.equal(report.skipped.length, 0);
        assert.ok(report.results.length >= least, String(report));
      }
    });
  }

  test('a PUT with a password, over both transports', async (context) => {
    const { both, plain } = await ours(context);
    const made = attempts(write, createSigner({ scheme: 'basic', user: 'johndoe', password: 'a password' }));
    const report = await attack(both, made);
    assert.ok(report.passed, String(report));
    assert.equal(
      report.results.filter(({ attempt, status }) => attempt.needs === 'plain' && status === 403).length,
      5,
    );
    const untried = await attack(plain, made);
    assert.equal(untried.skipped.length, made.filter(({ needs }) => needs === 'tls').length);
    assert.ok(untried.passed);
  });
});

function naive(context: TestContext, name: string): Promise<string> {
  const secrets = new Map([
    ['johndoe', secret],
    ['jane', 'other'],
  ]);
  return startNaive(context, name, { secrets, now: clock.now });
}

async function letThrough(context: TestContext, name: string, made: readonly Attempt[]): Promise<string[]> {
  const report = await attack(await naive(context, name), made);
  assert.deepEqual(report.inconclusive.map(String), [], String(report));
  assert.equal(report.passed, false);
  return report.failed.map((result) => result.name);
}

describe('a naive server', () => {
  const old = [
    'the date is a minute older than the window allows',
    'the date is a minute further ahead than the window allows',
    'the date is a day old',
    'the date is a day ahead',
    'the date is in 1970',
    'the date is in the year 9999',
    'the date is in another time zone',
    'a stale request has a fresh X-Date beside its Date',
    'the request is sent again on the same connection',
    'the request is sent again on another connection',
    'the request is sent again after another one',
    'the request is sent again with its credentials in Authorization',
    'the nonce is sent again under a new date',
    'the credentials are in Authentication and in Authorization',
    'there is also a password in Authorization',
    'a full digest is sent in the simple form, with date and nonce in the path or query',
    'a full digest is sent in the simple form, with date and nonce in an unknown parameter',
    'a full digest is sent in the simple form, with date and nonce as Content-Digest',
    'the nonce contains a plus sign',
    'the nonce contains a space',
    'the nonce has 129 characters',
    'the request is sent 8 times at once',
  ];

  test('that verifies only the digest accepts invalid dates, duplicate credentials and replays', async (context) => {
    assert.deepEqual(await letThrough(context, 'digest-only', attempts(read, createSigner(user))), old);
  });

  test('that normalizes requests before it verifies them accepts other spellings', async (context) => {
    assert.deepEqual(await letThrough(context, 'normalising', attempts(read, createSigner(user))), [
      'the proof is followed by eight more characters',
      'the digest is in hexadecimal',
      'the digest is in the URL-safe alphabet',
      'the digest has no padding',
      'the digest has other bits before its padding',
      'the request is sent again on another connection',
      'a letter of the path is percent-encoded',
      'a dot segment was added to the path',
      'a segment and its removal were added to the path',
      'the parameters of the query are in another order',
      'a parameter of the query is in another case',
      'a letter of the query is percent-encoded',
      'the query is followed by an ampersand',
      'the nonce contains a plus sign',
      'the nonce contains a space',
      'the nonce has 129 characters',
      'the request is sent 8 times at once',
    ]);
  });
});

describe('the attempts', () => {
  const made = forms.map(([, request, signer]) => attempts(request, signer));

  test('have unique names', () => {
    for (const list of made) assert.equal(new Set(list.map(({ name }) => name)).size, list.length);
  });

  test('share no nonces, so that no attempt is refused because of another one', () => {
    for (const list of made) {
      const users = new Map<string, string>();
      for (const { name, requests } of list) {
        for (const line of requests.flatMap(({ headers }) => headers)) {
          const nonce = /^hmac [^:]+:(n[^:]+):/.exec(line[1])?.[1];
          if (nonce === undefined) continue;
          assert.equal(users.get(nonce) ?? name, name);
          users.set(nonce, name);
        }
      }
    }
  });

  test('are the same for the same clock and random bytes', () => {
    assert.deepEqual(attempts(write, createSigner(user), 7), attempts(write, createSigner(user), 7));
  });

  test('omit the parts that a signature does not cover', () => {
    const signer: Signer = {
      sign: ({ method }, { secret: key = 'key' }) => ({ headers: { 'X-Signature': `${key}:${method}` } }),
    };
    const names = attempts(read, signer).map(({ name }) => name);
    assert.ok(names.includes('PUT is sent with the signature of GET'));
    assert.ok(names.includes('the secret is another one'));
    assert.deepEqual(
      names.filter((name) => /date|nonce|sent again|query|path is|user does/.test(name)),
      [],
    );
  });

  test('include a signature for another host if the host is signed', () => {
    const signer: Signer = {
      sign: ({ url }) => ({ headers: { Signature: `sig ${Buffer.from(url).toString('base64')}` } }),
    };
    const foreign = attempts(read, signer).find(({ name }) => name.includes('another host'));
    const signed = foreign?.request.headers.at(-1)?.[1].slice('sig '.length) ?? '';
    assert.equal(Buffer.from(signed, 'base64').toString(), 'http://other.example/articles/1?a=1&b=2');
    assert.equal(foreign?.request.url, read.url);
  });

  test('send a token over TLS, and test it without TLS', () => {
    const list = attempts(read, createSigner({ scheme: 'bearer', token: 'abcdefgh12345678' }));
    assert.deepEqual([...new Set(list.map(({ needs }) => needs))].sort(), ['plain', 'tls']);
    assert.equal(list.filter(({ needs }) => needs === 'plain').length, 5);
  });

  test('require a signer that signs synchronously, and returns equal fields for equal requests', () => {
    assert.throws(() => attempts(read, { sign: () => undefined }), RangeError);
    let count = 0;
    const moody: Signer = {
      sign() {
        count += 1;
        return { headers: { Authorization: `x ${count}` } };
      },
    };
    assert.throws(() => attempts(read, moody), /equal fields/);
  });
});

describe('a report', () => {
  test('does not pass if the valid request is refused', async (context) => {
    const { plain } = await ours(context);
    const report = await attack(
      plain,
      attempts(read, createSigner({ ...user, secret: 'a wrong one' }), 1, true),
    );
    assert.equal(report.failed.length, 0);
    assert.equal(report.passed, false);
    assert.match(
      String(report),
      /- the good request is accepted \(GET\): 401, the server refuses the credentials: .*; expected 200/,
    );
  });

  test('names the limit of failed authentications as the cause of status code 429', async (context) => {
    const { plain } = await ours(context, { maxAuthFailures: 5 });
    const report = await attack(plain, attempts(read, createSigner(user), 1, true));
    assert.ok(report.inconclusive.some(({ status }) => status === 429));
    assert.match(String(report), /429, the server limits failed authentications/);
  });

  test('lists the accepted attempts first, with reasons and without credentials', async (context) => {
    const made = attempts(read, createSigner(user));
    const text = String(await attack(await naive(context, 'digest-only'), made));
    assert.match(
      text,
      /^92 attempts: 70 passed, 22 failed, 0 inconclusive, 0 skipped\.\n\nFailed, because the server accepted/,
    );
    assert.match(text, /- the date is a day old \(GET\): 200; expected 401 or 403 or 400\. A recorded/);
    for (const { request } of made) {
      const proof = request.headers.find(([name]) => name === 'Authentication')?.[1];
      assert.ok(proof === undefined || proof === '' || proof === 'hmac' || !text.includes(proof));
    }
    assert.ok(!text.includes(secret));
  });

  test('shows why there was no response', async (context) => {
    const { plain } = await ours(context);
    const [first] = attempts(read, createSigner(user));
    assert.ok(first !== undefined);
    const unreachable = await attack('http://127.0.0.1:1', [first]);
    assert.match(String(unreachable), /no response: connect ECONNREFUSED/);
    // The certificate is its own authority, and nobody said that it is to be trusted.
    const { secure } = await ours(context);
    const untrusted = await attack(secure.secureUrl, [first]);
    assert.match(String(untrusted), /no response: self-signed certificate/);
    assert.ok((await attack(plain.url, [first])).passed);
  });

  test('can be made through an agent of the caller, which stays open', async (context) => {
    const { plain } = await ours(context);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    context.after(() => agent.destroy());
    const report = await attack(plain, attempts(read, createSigner(user), 1, true), { agent });
    assert.ok(report.passed, String(report));
    assert.equal(Object.values(agent.freeSockets).flat().length, 1);
  });
});
