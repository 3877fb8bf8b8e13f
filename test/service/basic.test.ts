import assert from 'node:assert/strict';
import test from 'node:test';
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
