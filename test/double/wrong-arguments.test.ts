import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as attack from '../../src/attack/index.ts';
import * as client from '../../src/client/index.ts';
import { type Double, startDouble } from '../../src/double/index.ts';
import { allow } from '../../src/pipeline/resource.ts';

/** Values that a caller in JavaScript can pass by mistake. */
const wrongValues: readonly unknown[] = [
  undefined,
  null,
  5,
  Number.NaN,
  'no such thing',
  '',
  true,
  1n,
  Symbol('s'),
  () => 1,
  {},
  { unknown: 1 },
  [],
  [null],
  Object.assign(Object.create(null), { unknown: 1 }),
];

const options = {
  users: { ann: { secret: 'the secret of ann', password: 'the password of ann' } },
  clients: { app: { secret: 'the secret of the client', redirectUris: ['https://client.example/cb'] } },
  consumers: { partner: { secret: 'the secret of the consumer', callbacks: ['oob'] } },
};

const good = { url: 'http://api.example/' };
const user = { user: 'ann', secret: 'the secret of ann' };

/** Schemes to sign with. */
const schemes = [
  { user: { field: 'X-Id' }, secret: { field: 'X-Secret' } },
  { type: 'aws4' },
  { preset: 'github', user: 'ann' },
  { type: 'message-signatures', key: { id: 'ann', secret: 'the secret of ann' } },
];

/** The functions of a double with valid arguments, of which the test replaces one at a time. */
function listFunctions(double: Double): Record<string, readonly [method: object, ...valid: unknown[]]> {
  const { auth, clock, faults, journal, oauth1, oauth2 } = double;
  const ann = double.as('ann');
  return {
    fetch: [double.fetch, '/articles', {}],
    seed: [double.seed, { '/articles': [] }],
    'seed of a path': [(items: unknown) => Reflect.apply(double.seed, double, [{ '/articles': items }]), []],
    resource: [double.resource, '/x', {}],
    collection: [double.collection, '/y', { element: 'ys', item: 'y', fields: { a: { type: 'text' } } }],
    on: [double.on, 'nonce-replayed', () => undefined],
    as: [double.as, 'ann', {}],
    'as.fetch': [ann.fetch, '/articles', {}],
    'as.signRequest': [ann.signRequest, { url: '/articles' }],
    'as.signUrl': [ann.signUrl, { url: '/articles' }],
    'clock.advance': [clock.advance, 1],
    'clock.set': [clock.set, '2026-03-01T12:00:00Z'],
    'clock.freeze': [clock.freeze, '2026-03-01T12:00:00Z'],
    'clock.skewServerDate': [clock.skewServerDate, 1],
    'auth.credentials': [auth.credentials, 'ann'],
    'auth.setUser': [auth.setUser, 'bob', {}],
    'auth.removeUser': [auth.removeUser, 'bob'],
    'auth.rotateSecret': [auth.rotateSecret, 'ann', {}],
    'auth.generateKey': [auth.generateKey, 'ann', 'key-1', 'ed25519'],
    'auth.addKey': [auth.addKey, 'ann', 'key-2', { algorithm: 'hmac-sha256', secret: 'another secret' }],
    'auth.removeKey': [auth.removeKey, 'ann', 'key-2'],
    'auth.burnNonces': [auth.burnNonces, 1],
    'journal.last': [journal.last, {}],
    'journal.all': [journal.all, {}],
    'journal.waitFor': [journal.waitFor, {}, { timeout: 0 }],
    'faults.next': [faults.next, {}, { status: 503 }],
    'faults.always': [faults.always, {}, { status: 503 }],
    'faults.times': [faults.times, 1, {}, { status: 503 }],
    'oauth2.issueToken': [oauth2.issueToken, { user: 'ann' }],
    'oauth2.approve': [oauth2.approve, '/oauth2/authorize', { user: 'ann' }],
    'oauth2.expireTokens': [oauth2.expireTokens, {}],
    'oauth2.revokeTokens': [oauth2.revokeTokens, {}],
    'oauth1.issueToken': [oauth1.issueToken, { user: 'ann' }],
    'oauth1.approve': [oauth1.approve, '/oauth1/authorize', { user: 'ann' }],
    openControl: [double.openControl, {}],
    allow: [allow, {}, undefined],
    createAttempts: [attack.createAttempts, good, attack.createSigner(user), {}],
    attack: [attack.attack, double, [], {}],
    createSigner: [attack.createSigner, user],
    ...Object.fromEntries(
      schemes.map((scheme) => [
        `createSigner, scheme ${JSON.stringify(scheme)}`,
        [
          (given: unknown) => Reflect.apply(attack.createSigner, undefined, [{ ...user, scheme: given }]),
          scheme,
        ],
      ]),
    ),
    signRequest: [client.signRequest, { ...good, ...user }],
    signUrl: [client.signUrl, { ...good, ...user }],
    attackOAuth2: [attack.attackOAuth2, {}],
    attackOAuth1: [attack.attackOAuth1, {}],
  };
}

/** Returns what a call throws or rejects with; undefined if it succeeds. */
async function catchError(method: object, values: readonly unknown[]): Promise<unknown> {
  try {
    assert.ok(typeof method === 'function');
    await Reflect.apply(method, undefined, values);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Messages of JavaScript about a value that this project has not checked. */
const unchecked =
  /^Cannot |^Invalid URL$|is not a function|is not iterable|^Do not know how|^The ".*" argument must be/;

function assertChecked(error: unknown, call: string): void {
  if (error === undefined) return;
  assert.ok(error instanceof Error, call);
  assert.doesNotMatch(error.message, unchecked, `${call}: ${error.stack}`);
  assert.doesNotMatch(error.message, /the (?:secret|password) of/, call);
}

test('every function accepts a wrong argument or rejects it by name, in every position', async () => {
  await using double = await startDouble(options);
  for (const [name, [method, ...valid]] of Object.entries(listFunctions(double)))
    for (const at of valid.keys())
      for (const wrong of wrongValues) {
        const call = `${name}, argument ${at + 1}: ${typeof wrong} ${JSON.stringify(wrong, (_, value) => (typeof value === 'bigint' ? '1n' : value))}`;
        assertChecked(await catchError(method, valid.with(at, wrong)), call);
      }
});

test('startDouble accepts a wrong option or rejects it by name', async () => {
  const start = async (given: object): Promise<void> => {
    const double = await Reflect.apply(startDouble, undefined, [given]);
    await double.close();
  };
  for (const name of [
    'collections',
    'seed',
    'now',
    'clients',
    'consumers',
    'trustProxy',
    'resources',
    'users',
  ])
    for (const wrong of wrongValues)
      assertChecked(await catchError(start, [{ [name]: wrong }]), `${name}: ${String(typeof wrong)}`);
  for (const wrong of wrongValues) {
    assertChecked(await catchError(start, [{ clients: { app: wrong } }]), 'a client');
    assertChecked(await catchError(start, [{ consumers: { partner: wrong } }]), 'a consumer');
  }
});
