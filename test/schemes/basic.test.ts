import assert from 'node:assert/strict';
import test from 'node:test';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { createHashQueue } from '../../src/accounts/hash-queue.ts';
import { buildDecoy, decoyFor, hashPassword, verifyPassword } from '../../src/accounts/passwords.ts';
import { createRateLimiter } from '../../src/accounts/rate-limit.ts';
import type { AccountRecord } from '../../src/accounts/user-declaration.ts';
import { createManualClock } from '../../src/clock.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { Problem } from '../../src/http/problem.ts';
import { createAuthenticator } from '../../src/schemes/authenticate.ts';
import { createBasicVerifier, type PasswordHashing } from '../../src/schemes/basic.ts';
import { authenticationOutcome } from '../support/schemes/clients/service.ts';

/** Hashes that are no secret at all: `COST$PASSWORD`. What was computed is noted, and may have to wait for `gate`. */
function openHashing(gate: () => Promise<void> = async () => {}) {
  const computed: string[] = [];
  const hashing: PasswordHashing = {
    async verify(password, hash) {
      computed.push(hash);
      await gate();
      return hash.slice(hash.indexOf('$') + 1) === password;
    },
    buildDecoy: (hash) => `${hash.slice(0, hash.indexOf('$'))}$\0`,
    decoy: '0$\0',
  };
  return { computed, hashing };
}

const hashed = (hash: string): AccountRecord => ({ secrets: [], password: { hash } });
const users = (entries: Record<string, AccountRecord>) => new Map(Object.entries(entries));

function openDoor(
  declared: Record<string, AccountRecord>,
  { hashing = openHashing().hashing, limit = 0, explain = false } = {},
) {
  const clock = createManualClock(0);
  const accounts = createAccounts(users(declared));
  const rateLimiter = createRateLimiter(limit, clock);
  const scheme = createBasicVerifier({
    realm: 'test',
    accounts,
    hashing,
    queue: createHashQueue(rateLimiter),
    rateLimiter,
    key: new Uint8Array(32),
    explain,
  });
  const authenticator = createAuthenticator([scheme], rateLimiter);
  const outcome = (request: IncomingRequest): Promise<string | Problem> =>
    authenticationOutcome(authenticator, request);
  return {
    accounts,
    authenticator,
    clock,
    outcome,
    async verdictOn(request: IncomingRequest): Promise<string> {
      const result = await outcome(request);
      return typeof result === 'string' ? result : result.type;
    },
  };
}

function asking(
  pair: string,
  changes: { peer?: string; secure?: boolean; scheme?: string } = {},
): IncomingRequest {
  const { peer = '192.0.2.1', secure = true, scheme = 'Basic' } = changes;
  const value = `${scheme} ${Buffer.from(pair).toString('base64')}`;
  return createRequest({ method: 'GET', target: '/', headers: [['Authorization', value]], peer, secure });
}

test('only the right password is accepted', async () => {
  const declared = {
    ann: hashed('1$ann-pw'),
    bob: { secrets: [], password: { plain: 'bob:pw£' } },
    eve: { secrets: [] },
  };
  const { verdictOn } = openDoor(declared);
  for (const round of [1, 2]) {
    assert.equal(await verdictOn(asking('ann:ann-pw')), 'ann', `round ${round}`);
    assert.equal(await verdictOn(asking('bob:bob:pw£', { scheme: 'bASIC' })), 'bob', `round ${round}`);
    for (const pair of [
      'ann:bob:pw£',
      'ann:',
      'ann:ann-pw ',
      'ann:Ann-pw',
      'bob:ann-pw',
      'bob:',
      'eve:',
      'eve:x',
      'Ann:ann-pw',
      'who:x',
      '__proto__:x',
    ])
      assert.equal(await verdictOn(asking(pair)), 'credentials-refused', `${pair}, round ${round}`);
  }
});

test('scrypt hashes accept only the right password', async () => {
  const hash = await hashPassword('open sesame', Buffer.alloc(16, 1), 16);
  const hashing = { verify: verifyPassword, buildDecoy, decoy: decoyFor(16) };
  const { verdictOn } = openDoor({ Aladdin: hashed(hash) }, { hashing });
  const given = createRequest({
    method: 'GET',
    target: '/',
    headers: [['Authorization', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==']],
    secure: true,
  });
  for (const round of [1, 2]) {
    assert.equal(await verdictOn(given), 'Aladdin', `round ${round}`);
    assert.equal(await verdictOn(asking('Aladdin:open sesam')), 'credentials-refused', `round ${round}`);
  }
});

test('malformed credentials get status code 400, and no password is compared', async () => {
  const { computed, hashing } = openHashing();
  const { outcome } = openDoor({ ann: hashed('1$pw') }, { hashing });
  for (const value of ['Basic', 'Basic ', 'Basic YW5uOnB3=', 'Basic YW5u', 'Basic ann:pw', 'Basic OnB3']) {
    const request = createRequest({
      method: 'GET',
      target: '/',
      headers: [['Authorization', value]],
      secure: true,
    });
    const problem = await outcome(request);
    assert.ok(problem instanceof Problem && problem.status === 400, value);
    assert.doesNotMatch(problem.detail, /ann|pw/);
  }
  assert.deepEqual(computed, []);
});

test('there is a challenge over TLS only', () => {
  const { authenticator } = openDoor({ ann: hashed('1$pw') });
  assert.deepEqual(authenticator.challenges({ peer: '', secure: false }), []);
  assert.deepEqual(authenticator.challenges({ peer: '', secure: true }), [
    ['WWW-Authenticate', 'Basic realm="test", charset="UTF-8"'],
  ]);
});

test('a password is hashed once, and then cached', async () => {
  const { computed, hashing } = openHashing();
  const { verdictOn } = openDoor(
    { ann: hashed('1$pw'), bob: { secrets: [], password: { plain: 'x' } } },
    { hashing },
  );
  for (let round = 0; round < 5; round += 1) assert.equal(await verdictOn(asking('ann:pw')), 'ann');
  assert.deepEqual(computed, ['1$pw']);
  for (let round = 0; round < 5; round += 1) assert.equal(await verdictOn(asking('bob:x')), 'bob');
  assert.deepEqual(computed, ['1$pw']);
});

test('a cached password does not admit one that differs only behind 256 octets or in the high bytes', async () => {
  const long = 'a'.repeat(600);
  const { verdictOn } = openDoor({ ann: hashed(`1$${long}`), eve: hashed('1$пароль') });
  assert.equal(await verdictOn(asking(`ann:${long}`)), 'ann');
  assert.equal(await verdictOn(asking(`ann:${long}`)), 'ann');
  assert.equal(await verdictOn(asking(`ann:${long.slice(1)}b`)), 'credentials-refused');
  assert.equal(await verdictOn(asking(`ann:${long}a`)), 'credentials-refused');
  assert.equal(await verdictOn(asking('eve:пароль')), 'eve');
  // The same characters without their high bytes.
  const low = Buffer.from(Buffer.from('пароль', 'utf16le').filter((_, at) => at % 2 === 0)).toString(
    'latin1',
  );
  assert.equal(await verdictOn(asking(`eve:${low}`)), 'credentials-refused');
  assert.equal(await verdictOn(asking('eve:пароль')), 'eve');
});

test('every refusal computes one hash for each cost in use', async () => {
  const { computed, hashing } = openHashing();
  const declared = {
    ann: hashed('1$pw'),
    bob: hashed('2$pw'),
    dan: { secrets: [], password: { plain: 'x' } },
    eve: { secrets: [] },
    off: { ...hashed('3$pw'), disabled: true },
  };
  const { verdictOn } = openDoor(declared, { hashing });
  assert.equal(await verdictOn(asking('ann:pw')), 'ann');
  for (const name of ['ann', 'bob', 'dan', 'eve', 'off', 'who']) {
    for (const round of [1, 2]) {
      computed.length = 0;
      assert.equal(await verdictOn(asking(`${name}:wrong`)), 'credentials-refused');
      const costs = computed.map((hash) => hash.slice(0, 1)).sort();
      assert.deepEqual(costs, ['1', '2'], `${name}, round ${round}`);
    }
  }
});

test('a refusal computes a hash even if no user has one, and its cost follows changes of the users', async () => {
  const { computed, hashing } = openHashing();
  const { accounts, verdictOn } = openDoor({ dan: { secrets: [], password: { plain: 'x' } } }, { hashing });
  for (const pair of ['dan:wrong', 'who:wrong']) await verdictOn(asking(pair));
  accounts.replace(users({ ann: hashed('7$pw') }));
  await verdictOn(asking('who:wrong'));
  accounts.replace(users({}));
  await verdictOn(asking('who:wrong'));
  assert.deepEqual(computed, ['0$\0', '0$\0', '7$\0', '0$\0']);
});

test('a cached password is removed by a change of its user, and by no other change', async () => {
  const { computed, hashing } = openHashing();
  const { accounts, verdictOn } = openDoor({ ann: hashed('1$pw'), bob: hashed('1$b') }, { hashing });
  assert.equal(await verdictOn(asking('ann:pw')), 'ann');
  accounts.replace(users({ ann: hashed('1$pw') }));
  assert.equal(await verdictOn(asking('ann:pw')), 'ann');
  assert.deepEqual(computed, ['1$pw']);
  accounts.replace(users({ ann: hashed('1$new') }));
  assert.equal(await verdictOn(asking('ann:pw')), 'credentials-refused');
  assert.equal(await verdictOn(asking('ann:new')), 'ann');
  accounts.replace(users({ ann: { ...hashed('1$new'), disabled: true } }));
  assert.equal(await verdictOn(asking('ann:new')), 'credentials-refused');
});

test('names and passwords match in composed and decomposed form', async () => {
  const password = { plain: 'cafe\u0301 cre\u0300me' };
  const { verdictOn } = openDoor({ 'jos\u00e9': { secrets: [], password } });
  assert.equal(await verdictOn(asking('jose\u0301:caf\u00e9\u00a0cr\u00e8me')), 'jos\u00e9');
  assert.equal(await verdictOn(asking('jos\u00e9:cafe\u0301 cr\u00e8me')), 'jos\u00e9');
});

test('Basic finds a user with a decomposed name in both forms, and a signature in its own form only', async () => {
  const decomposed = 'jose\u0301';
  const { accounts, verdictOn } = openDoor({ [decomposed]: { secrets: [], password: { plain: 'pw' } } });
  for (const name of [decomposed, 'jos\u00e9'])
    assert.equal(await verdictOn(asking(`${name}:pw`)), decomposed);
  assert.equal(await verdictOn(asking('jose:pw')), 'credentials-refused');
  assert.equal(accounts.find('jos\u00e9'), undefined);
  const both = users({ [decomposed]: { secrets: [] }, 'jos\u00e9': { secrets: [] } });
  assert.throws(() => accounts.replace(both), {
    name: 'RangeError',
    message: /two users have the name "jos\u00e9"/,
  });
  assert.equal(await verdictOn(asking(`${decomposed}:pw`)), decomposed);
  accounts.replace(users({ 'jos\u00e9': { secrets: [], password: { plain: 'pw' } } }));
  assert.equal(await verdictOn(asking(`${decomposed}:pw`)), 'jos\u00e9');
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Hashing that stands still until it is let go on. */
function stalledHashing() {
  const waiting: (() => void)[] = [];
  const made = openHashing(() => new Promise((resolve) => waiting.push(resolve)));
  const proceed = async (): Promise<void> => {
    await settled();
    for (const release of waiting.splice(0)) release();
    await settled();
  };
  const drain = async (): Promise<void> => {
    for (let turn = 0; turn < 200; turn += 1) await proceed();
  };
  return { ...made, waiting, proceed, drain };
}

test('a waiting attempt is refused if the password is changed or removed', async () => {
  const changes = [{}, { ann: { secrets: [] } }, { ann: { secrets: [], password: { plain: 'new' } } }];
  for (const change of [...changes, { ann: hashed('1$new') }]) {
    const { hashing, drain } = stalledHashing();
    const { accounts, verdictOn } = openDoor({ ann: hashed('1$pw') }, { hashing });
    const late = verdictOn(asking('ann:pw'));
    accounts.replace(users(change));
    // The same credentials once more: they must not share what was asked of the old hash.
    const later = verdictOn(asking('ann:pw'));
    await drain();
    const verdicts = await Promise.all([late, later]);
    assert.deepEqual(verdicts, ['credentials-refused', 'credentials-refused'], JSON.stringify(change));
    const fresh = verdictOn(asking('ann:new'));
    await drain();
    const opens = 'ann' in change && 'password' in change.ann;
    assert.equal(await fresh, opens ? 'ann' : 'credentials-refused');
  }
});

const tally = (verdicts: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const verdict of verdicts) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
};

test('a burst of guesses computes no more hashes than the limit allows', async () => {
  const { computed, hashing, drain } = stalledHashing();
  const { verdictOn } = openDoor({ ann: hashed('1$pw') }, { hashing, limit: 10 });
  const guesses = Array.from({ length: 1000 }, (_, guess) => verdictOn(asking(`ann:${guess}`)));
  await drain();
  // Two had their turn at once, 64 had room to wait.
  assert.deepEqual(tally(await Promise.all(guesses)), {
    'credentials-refused': 10,
    'too-many-failures': 56,
    'too-many-attempts': 934,
  });
  assert.equal(computed.length, 10);
});

test('a user under attack from many peers can log in with the right password', async () => {
  const { verdictOn } = openDoor({ ann: hashed('1$pw') }, { limit: 2 });
  for (const peer of ['192.0.2.1', '192.0.2.2']) await verdictOn(asking('ann:wrong', { peer }));
  assert.equal(await verdictOn(asking('ann:wrong', { peer: '192.0.2.3' })), 'too-many-failures');
  assert.equal(await verdictOn(asking('ann:pw', { peer: '192.0.2.4' })), 'ann');
});

test('a blocked peer is refused without a check, even with the right password', async () => {
  const { computed, hashing } = openHashing();
  const { clock, verdictOn } = openDoor({ ann: hashed('1$pw') }, { hashing, limit: 2 });
  for (const guess of ['a', 'b']) await verdictOn(asking(`ann:${guess}`));
  computed.length = 0;
  assert.equal(await verdictOn(asking('ann:pw')), 'too-many-failures');
  assert.deepEqual(computed, []);
  clock.advance(60_000);
  assert.equal(await verdictOn(asking('ann:pw')), 'ann');
});

test('a burst of guesses at one user does not block another user behind the same address', async () => {
  const { computed, hashing, drain } = stalledHashing();
  const { verdictOn } = openDoor({ ann: hashed('1$pw'), bob: hashed('1$b') }, { hashing, limit: 2 });
  const guesses = Array.from({ length: 10 }, (_, guess) => verdictOn(asking(`ann:${guess}`)));
  await drain();
  assert.deepEqual(tally(await Promise.all(guesses)), { 'credentials-refused': 2, 'too-many-failures': 8 });
  const right = verdictOn(asking('bob:b'));
  await drain();
  assert.equal(await right, 'bob');
  assert.equal(computed.length, 3);
});

test('many first requests with the same right password compute one hash, and all are accepted', async () => {
  const { computed, hashing, drain } = stalledHashing();
  const { verdictOn } = openDoor({ ann: hashed('1$pw') }, { hashing, limit: 3 });
  const requests = Array.from({ length: 1000 }, () => verdictOn(asking('ann:pw')));
  await drain();
  assert.deepEqual(tally(await Promise.all(requests)), { ann: 1000 });
  assert.deepEqual(computed, ['1$pw']);
});

test('accounts can be asynchronous, and return a new account each time', async () => {
  const { hashing } = openHashing();
  const rateLimiter = createRateLimiter(0, createManualClock(0));
  const find = async (name: string) =>
    name === 'ann' ? { name, secrets: [], password: { hash: '1$pw' } } : undefined;
  const scheme = createBasicVerifier({
    realm: 'test',
    accounts: { hashes: ['1$pw'], find, findComposed: find },
    hashing,
    queue: createHashQueue(rateLimiter),
    rateLimiter,
    key: new Uint8Array(32),
    explain: false,
  });
  const authenticator = createAuthenticator([scheme], rateLimiter);
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(await authenticator.authenticate(asking('ann:pw')), { name: 'ann', scheme: 'basic' });
  }
  for (const pair of ['ann:wrong', 'who:pw']) {
    await assert.rejects(async () => authenticator.authenticate(asking(pair)), /credentials-refused/);
  }
});

test('an error of the hash function is thrown, and not reported as a refusal', async () => {
  const hashing: PasswordHashing = {
    ...openHashing().hashing,
    verify: () => Promise.reject(new Error('no memory')),
  };
  const { verdictOn } = openDoor({ ann: hashed('1$pw') }, { hashing });
  await assert.rejects(verdictOn(asking('ann:pw')), /no memory/);
});
