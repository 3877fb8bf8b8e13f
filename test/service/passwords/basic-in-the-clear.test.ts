import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import {
  formatRequest,
  openTestServer,
  outcome,
  password,
  refuses,
  secrets,
} from '../../support/service/test-server.ts';

const testServer = await openTestServer();
const believing = await openTestServer({ trustProxy: ['127.0.0.1/32'] });
after(() => Promise.all([testServer.close(), believing.close()]));

const unread = '403 tls-required';
const right = `Authorization: Basic ${Buffer.from(`ann:${password}`).toString('base64')}`;
const wrong = `Authorization: Basic ${Buffer.from('ann:wrong').toString('base64')}`;

const claims: Readonly<Record<string, readonly string[]>> = {
  'X-Forwarded-Proto': ['X-Forwarded-Proto: https'],
  Forwarded: ['Forwarded: proto=https'],
  'both of them': ['Forwarded: proto=https', 'X-Forwarded-Proto: https'],
  'X-Forwarded-Proto in capitals': ['X-FORWARDED-PROTO: HTTPS'],
  'a loopback address in Forwarded': ['Forwarded: for=127.0.0.1;proto=https'],
  'X-Forwarded-Ssl': ['X-Forwarded-Ssl: on'],
  'X-Url-Scheme': ['X-Url-Scheme: https'],
  'Front-End-Https': ['Front-End-Https: on'],
  'Upgrade-Insecure-Requests': ['Upgrade-Insecure-Requests: 1'],
};

refuses(testServer, [
  ['the right password over plain HTTP', () => formatRequest({ lines: [right] }), unread],
  ['a wrong password over plain HTTP', () => formatRequest({ lines: [wrong] }), unread],
  ['invalid base64 over plain HTTP', () => formatRequest({ lines: ['Authorization: Basic %%%'] }), unread],
  ['a Basic of nothing over plain HTTP', () => formatRequest({ lines: ['Authorization: Basic'] }), unread],
  ['the right password in HTTP/1.0', () => formatRequest({ version: '1.0', lines: [right] }), unread],
  [
    'the right password for an absolute form of https',
    () => formatRequest({ target: 'https://localhost/users/ann/financialrecords', lines: [right] }),
    unread,
  ],
  ['a bearer token over plain HTTP', () => formatRequest({ lines: ['Authorization: Bearer x'] }), unread],
  ['OAuth 1.0a over plain HTTP', () => formatRequest({ lines: ['Authorization: OAuth x="y"'] }), unread],
  ...Object.entries(claims).map(
    ([name, lines]) =>
      [
        `the right password from a stranger who claims https by ${name}`,
        () => formatRequest({ lines: [right, ...lines] }),
        unread,
      ] as const,
  ),
]);

/** What a trusted proxy says that cannot be believed: it leaves the request in the clear. */
const doubtful: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  http: ['X-Forwarded-Proto: http'],
  'http in Forwarded': ['Forwarded: proto=http'],
  'two fields that differ': ['Forwarded: proto=http', 'X-Forwarded-Proto: https'],
  'two fields that differ the other way': ['Forwarded: proto=https', 'X-Forwarded-Proto: http'],
  'two lines that differ': ['X-Forwarded-Proto: https', 'X-Forwarded-Proto: http'],
  'a list that ends in http': ['X-Forwarded-Proto: https, http'],
  'a list that begins with http': ['X-Forwarded-Proto: http, https'],
  'a hop of http behind one of https': ['Forwarded: for=192.0.2.1;proto=https, for=127.0.0.1;proto=http'],
  'contradicting clients': ['Forwarded: for=192.0.2.1;proto=https', 'X-Forwarded-For: 192.0.2.2'],
  'an unknown scheme': ['X-Forwarded-Proto: httpss'],
  'an empty scheme': ['X-Forwarded-Proto:'],
  'a scheme in quotes': ['X-Forwarded-Proto: "https"'],
  'a Forwarded that is malformed': ['Forwarded: proto=https;;=;'],
  'the scheme twice in one hop': ['Forwarded: proto=https;proto=http'],
};

refuses(
  believing,
  Object.entries(doubtful).map(
    ([name, lines]) =>
      [
        `the right password where a trusted proxy says ${name}`,
        () => formatRequest({ lines: [right, ...lines] }),
        unread,
      ] as const,
  ),
);

test('a password is compared if a trusted proxy declares https', async () => {
  for (const line of [
    'X-Forwarded-Proto: https',
    'Forwarded: proto=https',
    'Forwarded: For="[2001:db8::1]:4711";Proto=HTTPS',
  ]) {
    assert.equal(await outcome(believing.port, formatRequest({ lines: [right, line] })), '200', line);
    assert.equal(
      await outcome(believing.port, formatRequest({ lines: [wrong, line] })),
      '401 credentials-refused',
      line,
    );
  }
});

test('fields of a proxy outside the trusted network are ignored', async (context) => {
  for (const trustProxy of [['127.0.0.2/32'], ['10.0.0.0/8', '::1/128'], ['127.0.0.128/25']]) {
    const server = await openTestServer({ trustProxy });
    context.after(() => server.close());
    for (const lines of Object.values(claims))
      assert.equal(await outcome(server.port, formatRequest({ lines: [right, ...lines] })), unread);
  }
});

test('a password over plain HTTP is never compared', async (context) => {
  const compared: string[] = [];
  const server = await openTestServer({
    maxAuthFailures: 1,
    onError: (error) => compared.push(String(error)),
  });
  context.after(() => server.close());
  for (let time = 0; time < 20; time += 1)
    assert.equal(
      await outcome(server.port, formatRequest({ lines: [time % 2 === 0 ? right : wrong] })),
      unread,
    );
  assert.deepEqual(compared, []);
});

test('challenges over plain HTTP do not offer Basic', async () => {
  const reply = await fetch(`http://127.0.0.1:${testServer.port}/users/ann/financialrecords`);
  assert.equal(reply.status, 401);
  assert.match(reply.headers.get('WWW-Authenticate') ?? '', /^hmac /);
  assert.doesNotMatch(reply.headers.get('WWW-Authenticate') ?? '', /Basic|OAuth|Bearer/);
});

test('a wrong and a correct password over plain HTTP get identical responses', async () => {
  const replyTo = async (line: string): Promise<string> => {
    const reply = await fetch(`http://127.0.0.1:${testServer.port}/users/ann/financialrecords`, {
      headers: { Authorization: line.slice('Authorization: '.length) },
    });
    return `${JSON.stringify([...reply.headers])}${await reply.text()}`;
  };
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  assert.equal(hash(await replyTo(right)), hash(await replyTo(wrong)));
  assert.equal((await replyTo(right)).includes(secrets.ann), false);
});
