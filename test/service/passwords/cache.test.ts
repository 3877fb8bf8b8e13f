import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ServiceOptions, UserDeclaration } from '../../../src/index.ts';
import {
  formatOutcome,
  formatRequest,
  password,
  secrets,
  target,
} from '../../support/service/test-server.ts';
import { basic, connected, each, hashed, openBothWays } from '../passwords.ts';

const refused = '401 credentials-refused';
const kept = [{ secret: secrets.ann }];
const ann = { secrets: kept, password: hashed(password) };
const bob = { secrets: [{ secret: secrets.bob }], password: hashed(password, 'another salt, 16') };
const rightPair = `ann:${password}`;

/** A server on one connection over TLS that stays open, and what it answers there. */
async function opened(context: TestContext, options: ServiceOptions = {}) {
  const server = await openBothWays({ users: { ann }, ...options });
  const wire = await connected(server, { secure: true });
  context.after(async () => {
    await wire.close();
    await server.close();
  });
  const ask = async (pair: string, at = target): Promise<string> => {
    await wire.send(formatRequest({ target: at, lines: [basic(pair)] }));
    return formatOutcome(await wire.reply());
  };
  return { server, ask };
}

type Change = readonly [name: string, users: Readonly<Record<string, UserDeclaration>>, outcome: string];

/** What becomes of the users after ann's password was right, and what the same password then is. */
const changes: readonly Change[] = [
  ['stays as he is', { ann: { ...ann } }, '200'],
  ['gets another password', { ann: { ...ann, password: hashed('another') } }, refused],
  ['gets another password that is not hashed', { ann: { ...ann, password: { plain: 'another' } } }, refused],
  ['gets no password', { ann: { secrets: kept } }, refused],
  ['is disabled', { ann: { ...ann, disabled: true } }, refused],
  ['goes', {}, refused],
  ['goes, and another one comes with his password', { bob }, refused],
  ['gets the hash of the empty password', { ann: { ...ann, password: hashed('') } }, refused],
  ['gets a longer password', { ann: { ...ann, password: hashed(`${password}x`) } }, refused],
  ['is written in capitals', { ANN: ann }, refused],
  ['has the same password under another salt', { ann: { ...ann, password: bob.password } }, '200'],
  ['gets a new secret only', { ann: { ...ann, secrets: [{ secret: 'Q7-hushed-new' }] } }, '200'],
];

each(
  changes.map(
    ([name, users, outcome]) =>
      [
        `the remembered password of a user who ${name} ${outcome === '200' ? 'passes' : 'is refused'} on the same connection`,
        users,
        outcome,
      ] as const,
  ),
  async (context, [, users, outcome]) => {
    const { server, ask } = await opened(context);
    assert.deepEqual([await ask(rightPair), await ask(rightPair)], ['200', '200']);
    const before = await server.state();
    server.service.replaceUsers(users);
    assert.deepEqual([await ask(rightPair), await ask(rightPair)], [outcome, outcome]);
    assert.equal(await server.state(), before);
  },
);

test('a cached password is accepted for its own user only', async (context) => {
  const users = {
    ann,
    bob: { ...bob, password: hashed('Q7-hushed-bob') },
    an: { secrets: [{ secret: 'secret-of-an' }] },
  };
  const { ask } = await opened(context, { users });
  assert.deepEqual([await ask(rightPair), await ask('bob:Q7-hushed-bob', '/articles')], ['200', '200']);
  const pairs = [
    `bob:${password}`,
    'ann:Q7-hushed-bob',
    `an:n${password}`,
    `an:n:${password}`,
    `ANN:${password}`,
    `Ann:${password}`,
    `ann::${password}`,
    `ann:${password}:`,
  ];
  for (const pair of pairs) assert.equal(await ask(pair, '/articles'), refused, pair);
});

test('changing the password of one user does not affect another user with the same password', async (context) => {
  const { server, ask } = await opened(context, { users: { ann, bob } });
  const both = async (): Promise<string[]> => [
    await ask(rightPair, '/articles'),
    await ask(`bob:${password}`, '/articles'),
  ];
  assert.deepEqual(await both(), ['200', '200']);
  assert.equal(await ask(`bob:${password}`), '403 forbidden');
  server.service.replaceUsers({ ann: { ...ann, password: hashed('another') }, bob });
  assert.deepEqual(await both(), [refused, '200']);
});
