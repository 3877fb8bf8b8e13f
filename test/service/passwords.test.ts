import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  formatRequest,
  fullLines,
  fullSignature,
  password,
  secrets,
  signed,
} from '../support/service/test-server.ts';
import { basic, countHashes, each, hashed, openBothWays, outcomeFrom, replyTo } from './passwords.ts';

const users = {
  ann: { secrets: [{ secret: secrets.ann }], password: hashed(password) },
  bob: { secrets: [{ secret: secrets.bob }], password: hashed('Q7-hushed-bob', 'another salt, 16') },
  cid: { secrets: [{ secret: 'Q7-hushed-cid-secret' }] },
  dot: { secrets: [{ secret: 'Q7-hushed-dot-secret' }], password: hashed('Q7-hushed-dot'), disabled: true },
};

const server = await openBothWays({ users });
after(() => server.close());

const refused = '401 credentials-refused';
const malformed = '400 malformed-credentials';
const unread = '403 tls-required';

/** What is sent besides the rest of the request, what comes of it, and how many hashes that costs the server. */
type Row = readonly [name: string, lines: readonly string[], outcome: string, hashes: number];

const right = basic(`ann:${password}`);

/** Credentials that are sent over TLS, and over plain HTTP where nobody looks at any of them. */
const rows: readonly Row[] = [
  ['a wrong password', [basic('ann:wrong')], refused, 1],
  ['an empty password', [basic('ann:')], refused, 1],
  ['the password of another user', [basic('ann:Q7-hushed-bob')], refused, 1],
  ['a right password under the name of another user', [basic(`bob:${password}`)], refused, 1],
  ['an unknown user', [basic(`eve:${password}`)], refused, 1],
  ['a user without a password', [basic('cid:')], refused, 1],
  ['a disabled user with the right password', [basic('dot:Q7-hushed-dot')], refused, 1],
  ['the hash instead of the password', [basic(`ann:${users.ann.password.hash}`)], refused, 1],
  ['the hash of the decoy', [basic(`cid:${Buffer.alloc(32).toString('base64')}`)], refused, 1],
  ['the signing secret', [basic(`ann:${secrets.ann}`)], refused, 1],
  ['a good digest as password', [basic(`ann:${fullSignature({ nonce: 'd' })}`)], refused, 1],
  [
    'a nonce and a good digest as password',
    [basic(`ann:d:${fullSignature({ nonce: 'd' })}`), 'Date: 29 feb 2024 12:00:00'],
    refused,
    1,
  ],
  ['6 KiB of password', [basic(`ann:${'p'.repeat(6144)}`)], refused, 1],
  ['a password without its last letter', [basic(`ann:${password.slice(0, -1)}`)], refused, 1],
  ['a password with a space behind', [basic(`ann:${password} `)], refused, 1],
  ['a user in capitals', [basic(`ANN:${password}`)], refused, 1],
  ['a user with a space behind', [basic(`ann :${password}`)], refused, 1],
  ['the user __proto__', [basic('__proto__:x')], refused, 1],
  ['the user of another alphabet', [basic(`\u0430nn:${password}`)], refused, 1],
  ['a realm beside it', [`${right}, realm="x"`], malformed, 0],
  ['both in one line', [`${right}, Basic ${right.slice('Authorization: Basic '.length)}`], malformed, 0],
  ['percent-encoding', [`${right}%3D`], malformed, 0],
  ['no colon', [basic('ann')], malformed, 0],
  ['no user', [basic(':wrong')], malformed, 0],
  ['a line feed behind the password', [basic(`ann:${password}\n`)], malformed, 0],
  ['a NUL behind the password', [basic(`ann:${password}\0`)], malformed, 0],
  ['bytes of latin1', [basic(Buffer.from('ann:p\xe4ss', 'latin1'))], malformed, 0],
  ['no base64', ['Authorization: Basic !'], malformed, 0],
  ['a tab in base64', [right.replace(/.{8}$/, (end) => `\t${end}`)], malformed, 0],
  ['a tab before base64', [right.replace('Basic ', 'Basic \t')], malformed, 0],
  ['base64 in quotes', [right.replace('Basic ', 'Basic "').concat('"')], malformed, 0],
  ['Basic with nothing', ['Authorization: Basic'], malformed, 0],
];

/** What nobody takes for the scheme of passwords: it is judged alike on every connection. */
const others: readonly Row[] = [
  ['a colon behind the scheme', [right.replace('Basic ', 'Basic: ')], malformed, 0],
  ['the pair as the scheme', ['Authorization: ann:wrong'], malformed, 0],
  ['the scheme in quotes', [right.replace('Basic', '"Basic"')], malformed, 0],
  ['no space behind the scheme', [right.replace('Basic ', 'Basic')], malformed, 0],
  ['nothing at all', ['Authorization:'], malformed, 0],
  ['spaces alone', ['Authorization:    '], malformed, 0],
  ['a password as a digest', [`Authentication: hmac ann:${password}`], malformed, 0],
  ['it with Authentication beside it', [right, 'Authentication: hmac ann:x'], '400 several-credentials', 0],
  ['it before Authentication with nothing', [right, 'Authentication:'], '400 several-credentials', 0],
  ['it behind an empty line of its own', ['Authorization:', right], '400 several-credentials', 0],
  ['it twice', [right, right], '400 several-credentials', 0],
  ['it beside a good signature', [right, ...fullLines({ nonce: 'd' })], '400 several-credentials', 0],
  ['Basic in Authentication', [right.replace('Authorization', 'Authentication')], malformed, 0],
  ['Basic in Proxy-Authorization', [`Proxy-${right}`], '401 authentication-required', 0],
  ['a folded line', [right.replace('Basic ', 'Basic\r\n ')], '400 malformed-request', 0],
  ['17 KiB of base64', [`Authorization: Basic ${'QUFB'.repeat(4352)}`], '431 header-too-large', 0],
];

const named = (over: string, list: readonly Row[]): Row[] =>
  list.map(([name, ...rest]) => [`${over} ${name}`, ...rest]);
const unreadRows = rows.map(([name, lines]): Row => [name, lines, unread, 0]);

for (const [over, secure, list] of [
  ['over TLS', true, [...rows, ...others]],
  ['over plain HTTP', false, [...unreadRows, ...others]],
] as const) {
  each(named(over, list), async (context, [, lines, outcome, hashes]) => {
    const before = await server.state();
    const hashesSince = countHashes(context);
    assert.equal(await outcomeFrom(server, formatRequest({ lines }), { secure }), outcome);
    assert.equal(hashesSince(), hashes);
    assert.equal(await server.state(), before);
  });
}

test('a request with a password claims no nonce', async () => {
  assert.equal(await outcomeFrom(server, signed({ nonce: 'd' })), '200');
});

test('a correct password is hashed once, and is still refused over plain HTTP afterwards', async (context) => {
  const fresh = await openBothWays({ users });
  context.after(() => fresh.close());
  const hashesSince = countHashes(context);
  const bytes = formatRequest({ lines: [right] });
  const over = async (secure: boolean): Promise<[string, number]> => [
    await outcomeFrom(fresh, bytes, { secure }),
    hashesSince(),
  ];
  assert.deepEqual(await over(false), [unread, 0]);
  assert.deepEqual(await over(true), ['200', 1]);
  assert.deepEqual(await over(true), ['200', 0]);
  assert.deepEqual(await over(false), [unread, 0]);
  assert.deepEqual(await over(true), ['200', 0]);
});

test('the response to a wrong password does not depend on whether the user exists, is disabled or has a password', async () => {
  const replies = await Promise.all(
    ['ann:wrong', 'eve:wrong', 'cid:wrong', 'dot:wrong', 'dot:Q7-hushed-dot'].map(async (pair) => {
      const reply = await replyTo(server, formatRequest({ lines: [basic(pair)] }), { secure: true });
      return `${reply.status} ${JSON.stringify(reply.fields)} ${reply.text}`;
    }),
  );
  assert.equal(new Set(replies).size, 1);
});
