import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { formatRequest, password, signed } from '../support/service/test-server.ts';
import { basic, countHashes, each, openBothWays, outcomeFrom, type Way } from './passwords.ts';

/** This host, which is trusted here, and another network behind it in which further proxies are. */
const trustProxy = ['127.0.0.1/32', '10.0.0.0/8', 'fd00::/8'];
const skip = process.platform === 'linux' ? false : 'the loopback has one address here';

const server = await openBothWays({ trustProxy });
after(() => server.close());

const unread = '403 tls-required';
const refused = '401 credentials-refused';
const blocked = '429 too-many-failures';
const right = basic(`ann:${password}`);
const wrong = basic('ann:wrong');
const client = '192.0.2.1';

/** What is told of the request, and whether a password may then be read: on a connection in the clear, and on one of TLS. */
const rows: readonly (readonly [name: string, lines: readonly string[], plain: boolean, secure: boolean])[] =
  [
    ['nothing', [], false, true],
    ['https', ['X-Forwarded-Proto: https'], true, true],
    ['HTTPS in capitals', ['X-FORWARDED-PROTO: HTTPS'], true, true],
    ['http', ['X-Forwarded-Proto: http'], false, false],
    ['white space around https', ['X-Forwarded-Proto: \t https \t'], true, true],
    ['https twice in a list', ['X-Forwarded-Proto: https, https'], false, false],
    ['https, then nothing', ['X-Forwarded-Proto: https,'], false, false],
    ['https in two lines', ['X-Forwarded-Proto: https', 'X-Forwarded-Proto: https'], false, false],
    ['https, then an empty line of it', ['X-Forwarded-Proto: https', 'X-Forwarded-Proto:'], false, false],
    ['https with a parameter', ['X-Forwarded-Proto: https;q=1'], false, false],
    ['https with a slash', ['X-Forwarded-Proto: https://'], false, false],
    ['https with a NBSP behind', ['X-Forwarded-Proto: https\xa0'], false, false],
    ['https in percents', ['X-Forwarded-Proto: %68ttps'], false, false],
    ['wss', ['X-Forwarded-Proto: wss'], false, false],
    ['on', ['X-Forwarded-Proto: on'], false, false],
    ['a field with an underscore', ['X_Forwarded_Proto: https'], false, true],
    ['X-Forwarded-Scheme', ['X-Forwarded-Scheme: https'], false, true],
    ['X-Forwarded-Port 443', ['X-Forwarded-Port: 443'], false, true],
    ['https in Forwarded', ['Forwarded: proto=https'], true, true],
    ['https in Forwarded, quoted', ['Forwarded: proto="https"'], true, true],
    ['https in Forwarded, each letter escaped', ['Forwarded: proto="\\h\\t\\t\\p\\s"'], true, true],
    ['https in Forwarded, in single quotes', ["Forwarded: proto='https'"], false, false],
    ['https in Forwarded, the quote open', ['Forwarded: proto="https'], false, false],
    ['https in Forwarded behind a space', ['Forwarded: proto= https'], false, false],
    ['https and http in one hop', ['Forwarded: proto=https;Proto=http'], false, false],
    [
      'https of the client, http of the next hop',
      [`Forwarded: for=${client};proto=https, for=10.0.0.2;proto=http`],
      false,
      false,
    ],
    [
      'http of the client, https of the next hop',
      [`Forwarded: for=${client};proto=http, for=10.0.0.2;proto=https`],
      false,
      false,
    ],
    ['https of both hops', [`Forwarded: for=${client};proto=https, for=10.0.0.2;proto=https`], true, true],
    [
      'https of both hops in two lines',
      [`Forwarded: for=${client};proto=https`, 'Forwarded: for=10.0.0.2;proto=https'],
      true,
      true,
    ],
    [
      'https of the last hop, nothing of the client',
      [`Forwarded: for=${client}, for=10.0.0.2;proto=https`],
      false,
      false,
    ],
    [
      'https that the client wrote before what the proxy saw',
      [`Forwarded: for=10.0.0.2;proto=https, for=${client};proto=http`],
      false,
      false,
    ],
    [
      'https that the client wrote in an open quote',
      [`Forwarded: for="10.0.0.2;proto=https, for=${client};proto=http`],
      false,
      false,
    ],
    [
      'https that the client wrote inside of quotes',
      [`Forwarded: by="x, for=${client};proto=https", for=${client};proto=http`],
      false,
      false,
    ],
    [
      'https by one field, http by the other',
      ['Forwarded: proto=https', 'X-Forwarded-Proto: http'],
      false,
      false,
    ],
    [
      'http by one field, https by the other',
      ['Forwarded: proto=http', 'X-Forwarded-Proto: https'],
      false,
      false,
    ],
    [
      'https by both, of different clients',
      [`Forwarded: for=${client};proto=https`, 'X-Forwarded-Proto: https', 'X-Forwarded-For: 192.0.2.2'],
      false,
      false,
    ],
    [
      'https by both, of one client',
      [`Forwarded: for=${client};proto=https`, 'X-Forwarded-Proto: https', `X-Forwarded-For: ${client}`],
      true,
      true,
    ],
    [
      'https by one field, nonsense by the other',
      ['X-Forwarded-Proto: https', 'Forwarded: ;;='],
      false,
      false,
    ],
    ['https, and an invalid address', ['X-Forwarded-Proto: https', 'X-Forwarded-For: ,'], false, false],
    ['https, and a hidden client', ['Forwarded: for=_hidden;proto=https'], true, true],
    ['https, and a client with a zone', ['Forwarded: for="[fe80::1%25eth0]";proto=https'], false, false],
  ];

for (const secure of [false, true]) {
  const over = secure ? 'TLS' : 'plain HTTP';
  each(
    rows.map(([name, lines, plain, overTls]) => {
      const read = secure ? overTls : plain;
      return [
        `a trusted proxy over ${over} that tells ${name} ${read ? 'lets' : 'lets no'} passwords be read`,
        lines,
        read,
      ] as const;
    }),
    async (_, [, lines, read]) => {
      const outcomeWith = (line: string): Promise<string> =>
        outcomeFrom(server, formatRequest({ lines: [line, ...lines] }), { secure });
      const before = await server.state();
      assert.equal(await outcomeWith(wrong), read ? refused : unread);
      assert.equal(await outcomeWith(right), read ? '200' : unread);
      assert.equal(await server.state(), before);
    },
  );
}

test('forwarded fields of an untrusted peer are ignored, and no password is hashed', {
  skip,
}, async (context) => {
  const hashesSince = countHashes(context);
  for (const [name, lines] of rows)
    assert.equal(
      await outcomeFrom(server, formatRequest({ lines: [right, ...lines] }), { from: '127.0.0.2' }),
      unread,
      name,
    );
  assert.equal(hashesSince(), 0);
});

test('without a trusted proxy, forwarded fields do not change the transport of a request', async (context) => {
  const alone = await openBothWays();
  context.after(() => alone.close());
  for (const [name, lines] of rows) {
    const bytes = formatRequest({ lines: [right, ...lines] });
    assert.equal(await outcomeFrom(alone, bytes, { secure: true }), '200', name);
    assert.equal(await outcomeFrom(alone, bytes), unread, name);
  }
});

test('a signed request is accepted once, whatever fields a proxy adds', async () => {
  for (const [name, lines] of rows) {
    const nonce = server.freshNonce();
    const bytes = signed({ nonce }).replace('\r\n\r\n', ['', ...lines, '', ''].join('\r\n'));
    assert.equal(await outcomeFrom(server, bytes), '200', name);
    assert.equal(await outcomeFrom(server, bytes, { secure: true }), '401 nonce-replayed', name);
  }
});

/** A server that takes two failures of a peer, and what it answers to guesses, and to a right signature, told so. */
async function counting(context: TestContext, way: Way = {}) {
  const limited = await openBothWays({ trustProxy, maxAuthFailures: 2 });
  context.after(() => limited.close());
  let guesses = 0;
  const told = (bytes: string, lines: readonly string[], by: Way = way): Promise<string> =>
    outcomeFrom(limited, bytes.replace('\r\n\r\n', ['', ...lines, '', ''].join('\r\n')), by);
  return {
    guess(...lines: string[]): Promise<string> {
      guesses += 1;
      return told(signed({ nonce: `g${guesses}`, user: `u${guesses}`, secret: 'a guess' }), lines);
    },
    sign: (...lines: string[]): Promise<string> => told(signed({ nonce: limited.freshNonce() }), lines),
    signByProxy: (...lines: string[]): Promise<string> =>
      told(signed({ nonce: limited.freshNonce() }), lines, {}),
  };
}

/** How the proxy tells of its client, with what the client wrote in front of it. */
const tellings: readonly (readonly [
  name: string,
  lines: (client: string, before: string) => readonly string[],
])[] = [
  ['X-Forwarded-For', (from, before) => [`X-Forwarded-For: ${before}, ${from}`]],
  [
    'X-Forwarded-For in a second line',
    (from, before) => [`X-Forwarded-For: ${before}`, `X-Forwarded-For: ${from}`],
  ],
  ['Forwarded', (from, before) => [`Forwarded: for=${before}, for=${from}`]],
  [
    'Forwarded in a second line',
    (from, before) => [`Forwarded: for=${before}`, `Forwarded: for=${from};proto=https`],
  ],
  [
    'both',
    (from, before) => [`Forwarded: for=${before}, for=${from}`, `X-Forwarded-For: ${before}, ${from}`],
  ],
  ['X-Forwarded-For of two proxies', (from, before) => [`X-Forwarded-For: ${before}, ${from}, 10.9.9.9`]],
  ['Forwarded of two proxies', (from, before) => [`Forwarded: for=${before}, for=${from}, for=10.9.9.9`]],
];

each(
  tellings.map(
    ([name, lines]) => [`by ${name} failures are the client's, whatever it wrote in front`, lines] as const,
  ),
  async (context, [, lines]) => {
    const { guess, sign } = await counting(context);
    assert.equal(await guess(...lines(client, '198.51.100.1')), refused);
    assert.equal(await guess(...lines(client, '198.51.100.2')), refused);
    assert.equal(await guess(...lines(client, '198.51.100.3')), blocked);
    for (const before of ['198.51.100.9', '127.0.0.1', '10.0.0.1', client])
      assert.equal(await sign(...lines(client, before)), blocked, before);
    assert.equal(await sign(...lines('192.0.2.2', client)), '200');
    assert.equal(await sign(), '200');
  },
);

test('failures count for the proxy if it names no client', async (context) => {
  const { guess, sign } = await counting(context);
  assert.equal(await guess('Forwarded: for=unknown;proto=https'), refused);
  assert.equal(await guess('Forwarded: for=198.51.100.1, for=_hidden'), refused);
  assert.equal(await guess('X-Forwarded-For: 198.51.100.2, nobody'), blocked);
  assert.equal(await sign(), blocked);
  assert.equal(await sign(`X-Forwarded-For: ${client}`), '200');
});

test('failures count for the proxy if its fields name different clients', async (context) => {
  const { guess, sign } = await counting(context);
  const lines = (made: number): string[] => [
    `Forwarded: for=198.51.100.${made}`,
    `X-Forwarded-For: ${client}`,
  ];
  assert.deepEqual(
    [await guess(...lines(1)), await guess(...lines(2)), await guess(...lines(3))],
    [refused, refused, blocked],
  );
  assert.equal(await sign(...lines(4)), blocked);
});

test('over TLS, failures of an untrusted peer count for its own address', {
  skip,
}, async (context) => {
  const { guess, sign, signByProxy } = await counting(context, { secure: true, from: '127.0.0.2' });
  const lines = [`X-Forwarded-For: ${client}`, `Forwarded: for=${client};proto=https`];
  assert.deepEqual([await guess(...lines), await guess(), await sign(...lines)], [refused, refused, blocked]);
  assert.equal(await signByProxy(`X-Forwarded-For: ${client}`), '200');
});
