import assert from 'node:assert/strict';
import test from 'node:test';
import { hashPassword } from '../../src/accounts/passwords.ts';
import type { Response } from '../../src/http/message.ts';
import { createRequest } from '../../src/http/message.ts';
import type { ServiceOptions } from '../../src/index.ts';
import { openService } from '../support/service/open-service.ts';

const users = { ann: { secret: 'ann-secret', password: 'ann:pw£' }, bob: { secret: 'bob-secret' } };

/** A service, and a way to ask it over TLS (or not) with a user and a password. */
function openDoor(options: ServiceOptions = {}) {
  const { service } = openService({ users, ...options });
  return {
    service,
    ask(method: string, target: string, pair?: string, secure = true): Promise<Response> {
      const value = pair === undefined ? undefined : `Basic ${Buffer.from(pair).toString('base64')}`;
      const fields: [string, string][] = value === undefined ? [] : [['Authorization', value]];
      return service.respond(createRequest({ method, target, headers: fields, secure }));
    },
  };
}

const values = ({ headers: fields }: Response, name: string): string[] =>
  fields.filter(([known]) => known === name).map(([, value]) => value);
const own = '/users/ann/financialrecords';

test('a password grants the access of its user', async () => {
  const { ask } = openDoor();
  assert.equal((await ask('GET', own, 'ann:ann:pw£')).status, 200);
  assert.equal((await ask('GET', '/users/bob/financialrecords', 'ann:ann:pw£')).status, 403);
  const reply = await ask('OPTIONS', '/articles/1', 'ann:ann:pw£');
  assert.deepEqual(values(reply, 'Allow'), ['HEAD, GET, PUT, POST, DELETE, OPTIONS']);
});

test('a response to a request with a password is private, and varies by Authorization', async () => {
  const reply = await openDoor().ask('GET', '/articles', 'ann:ann:pw£');
  assert.deepEqual(values(reply, 'Cache-Control'), ['private, no-cache']);
  assert.match(values(reply, 'Vary').join(), /^Authorization, Authentication,/);
});

test('every 401 has challenges for both schemes in one field over TLS, and none for Basic over plain HTTP', async () => {
  const { ask } = openDoor({ realm: 'the "house"' });
  const hmac = 'hmac realm="the \\"house\\"", algorithm="SHA-256"';
  const basic = 'Basic realm="the \\"house\\"", charset="UTF-8"';
  for (const pair of [undefined, 'ann:wrong', 'bob:', 'who:x']) {
    const reply = await ask('GET', own, pair);
    assert.equal(reply.status, 401);
    assert.deepEqual(values(reply, 'WWW-Authenticate'), [`${basic}, ${hmac}`]);
    assert.deepEqual(values(reply, 'Cache-Control'), ['no-store']);
  }
  const clear = await ask('GET', own, undefined, false);
  assert.equal(clear.status, 401);
  assert.deepEqual(values(clear, 'WWW-Authenticate'), [hmac]);
});

test('over plain HTTP, a password is refused with 403, whether it is correct or not', async () => {
  const { ask } = openDoor();
  assert.equal((await ask('GET', own, 'ann:ann:pw£')).status, 200);
  for (const pair of ['ann:ann:pw£', 'ann:wrong', 'who:x', 'nonsense']) {
    const reply = await ask('GET', '/articles', pair, false);
    assert.equal(reply.status, 403, pair);
    assert.deepEqual(values(reply, 'WWW-Authenticate'), []);
    assert.deepEqual(values(reply, 'Cache-Control'), ['no-store']);
  }
});

test('no response, log entry or reported error contains a password', async () => {
  const messages: string[] = [];
  const note = (what: unknown): void => {
    messages.push(JSON.stringify(what));
  };
  const { ask } = openDoor({ onRequest: note, onError: note, explain: true });
  for (const pair of ['ann:ann:pw£', 'ann:geheim', 'geheim', ':geheim', 'ann:geheim\n']) {
    for (const secure of [true, false]) note(await ask('GET', own, pair, secure));
  }
  assert.ok(messages.length >= 20);
  for (const line of messages) {
    assert.doesNotMatch(line, /geheim|pw£/);
    assert.ok(!line.includes(Buffer.from('ann:ann:pw£').toString('base64')));
  }
});

test('replaceUsers changes the accepted passwords immediately', async () => {
  const { ask, service } = openDoor();
  assert.equal((await ask('GET', own, 'ann:ann:pw£')).status, 200);
  service.replaceUsers({ ann: { secret: 'ann-secret', password: 'other' } });
  assert.equal((await ask('GET', own, 'ann:ann:pw£')).status, 401);
  assert.equal((await ask('GET', own, 'ann:other')).status, 200);
  service.replaceUsers({});
  assert.equal((await ask('GET', own, 'ann:other')).status, 401);
});

test('a user can be declared with only the hash of a password', async () => {
  const hash = await hashPassword('pw', Buffer.alloc(16, 1), 16);
  const { ask } = openDoor({ users: { ann: { secrets: [], password: { hash } } } });
  for (let round = 0; round < 2; round += 1) {
    assert.equal((await ask('GET', own, 'ann:pw')).status, 200);
    assert.equal((await ask('GET', own, 'ann:pv')).status, 401);
  }
});

test('a burst of 1,000 guesses receives 429 above the limit, and the user can authenticate from another address', async () => {
  const { ask, service } = openDoor({ maxAuthFailures: 20 });
  const guesses = Array.from({ length: 1000 }, (_, guess) => ask('GET', own, `ann:${guess}`));
  const pair = Buffer.from('ann:ann:pw£').toString('base64');
  const elsewhere = createRequest({
    method: 'GET',
    target: own,
    headers: [['Authorization', `Basic ${pair}`]],
    peer: '192.0.2.7',
    secure: true,
  });
  assert.equal((await service.respond(elsewhere)).status, 200);
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 20);
  assert.equal(statuses.filter((status) => status === 429).length, 980);
  assert.equal((await ask('GET', own, 'ann:ann:pw£')).status, 429);
});

test('creating a service with invalid options throws a RangeError', () => {
  const refused: [options: ServiceOptions, reason: RegExp][] = [
    [{ users: { ann: { secrets: [], password: { hash: 'pw' } } } }, /hash of the user "ann"/],
    [{ users: { ann: { secret: 'ann-secret', password: '' } } }, /password of the user "ann"/],
    [{ users: { ann: { secrets: [], password: { plain: '' } } } }, /password.plain of the user "ann"/],
    [{ users: { ann: { secret: '' } } }, /secret of the user "ann" must be non-empty text/],
    [{ window: Number.NaN }, /window is not/],
    [{ window: -1 }, /window is not/],
    [{ window: Number.MAX_VALUE }, /window is not/],
    [JSON.parse('{"hmacSimple":"never"}'), /hmacSimple is not one of/],
    [JSON.parse('{"hmacSimple":false}'), /hmacSimple is not one of/],
    [JSON.parse('{"users":{"ann":{"secret":"ann-secret","password":null}}}'), /password of the user "ann"/],
    [JSON.parse('{"users":{"ann":{"secret":"ann-secret","disabled":"true"}}}'), /disabled of the user "ann"/],
    [{ maxAuthFailures: Number.NaN }, /failed authentications/],
    [{ maxAuthFailures: -1 }, /failed authentications/],
    [{ realm: 'two\r\nlines' }, /quoted string/],
    [{ trustProxy: ['everybody'] }, /"everybody" is not a network/],
  ];
  for (const [options, reason] of refused) {
    assert.throws(() => openService(options), { name: 'RangeError', message: reason });
  }
});

test('a disabled user is refused with 401, in either form of declaration', async () => {
  const [secret, password] = ['ann-secret', 'ann-password'];
  for (const ann of [
    { secret, password, disabled: true },
    { secrets: [{ secret }], password: { plain: password }, disabled: true },
  ]) {
    const { ask } = openDoor({ users: { ann } });
    assert.equal((await ask('GET', own, `ann:${password}`)).status, 401);
    const signed = await openService({ users: { ann } }).ask('GET', own, { user: 'ann' });
    assert.equal(signed.status, 401);
  }
});

test('a password with more than 30 consecutive combining marks is rejected at registration and at login', async () => {
  const marks = '\u0301'.repeat(31);
  const refusal = {
    name: 'RangeError',
    message: /password of the user "eve" .*more than 30 (combining|consecutive)/,
  };
  const eve = { secret: 'eve-secret', password: `p${marks}` };
  assert.throws(() => openDoor({ users: { eve } }), refusal);
  const { service, ask } = openDoor();
  assert.throws(() => service.replaceUsers({ ...users, eve }), refusal);
  assert.equal((await ask('GET', own, `eve:p${marks}`)).status, 400);
  service.replaceUsers({ ...users, ann: { secret: 'ann-secret', password: `p${marks.slice(1)}` } });
  assert.equal((await ask('GET', own, `ann:p${marks.slice(1)}`)).status, 200);
});
