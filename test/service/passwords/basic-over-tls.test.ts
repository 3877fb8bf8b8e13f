import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeIdentity, transport } from '../../support/net/transport.ts';
import { open } from '../../support/net/wire.ts';
import { article } from '../../support/service/open-service.ts';
import {
  type Attempt,
  formatOutcome,
  formatRequest,
  fullLines,
  openTestServer,
  outcome,
  password,
  refuses,
  secrets,
} from '../../support/service/test-server.ts';

transport.tls = makeIdentity();

const testServer = await openTestServer();
after(() => testServer.close());

const malformed = '400 malformed-credentials';
const refused = '401 credentials-refused';
const several = '400 several-credentials';

const right = Buffer.from(`ann:${password}`).toString('base64');

/** The credentials in base64, of text in UTF-8 or of bytes. */
const basic = (pair: string | Uint8Array): string =>
  `Authorization: Basic ${Buffer.from(pair).toString('base64')}`;

const pair = (name: string, credentials: string | Uint8Array, outcome = refused): Attempt => [
  name,
  () => formatRequest({ lines: [basic(credentials)] }),
  outcome,
];

const lines = (name: string, sent: readonly string[], outcome: string): Attempt => [
  name,
  () => formatRequest({ lines: sent }),
  outcome,
];

refuses(testServer, [
  pair('a wrong password', 'ann:wrong'),
  pair('an empty password', 'ann:'),
  pair('a password up to its colon', `ann:${password.split(':', 1)}`),
  pair('a password without its last letter', `ann:${password.slice(0, -1)}`),
  pair('a password with a letter more', `ann:${password}x`),
  pair('a password in capitals', `ann:${password.toUpperCase()}`),
  pair('a password with a space before it', `ann: ${password}`),
  pair('a password with a space behind it', `ann:${password} `),
  pair('a password with a line feed behind it', `ann:${password}\n`, malformed),
  pair('a password with CR and LF behind it', `ann:${password}\r\n`, malformed),
  pair('a password with a NUL behind it', `ann:${password}\0`, malformed),
  pair('a password with a NUL and more behind it', `ann:${password}\0x`, malformed),
  pair('a password with a control character of C1', `ann:${password}\u0085`, malformed),
  pair('a password with DEL behind it', `ann:${password}\x7f`, malformed),
  pair('a password twice', `ann:${password}${password}`),
  pair('the signing secret as a password', `ann:${secrets.ann}`),
  pair('a password of 6 KiB', `ann:${'x'.repeat(6144)}`),
  pair('no user', `:${password}`, malformed),
  pair('no colon', `ann${password.replaceAll(':', '')}`, malformed),
  pair('nothing but a colon', ':', malformed),
  pair('no credentials', '', malformed),
  pair('a user who is not there', `nobody:${password}`),
  pair('a user in capitals', `ANN:${password}`),
  pair('a user with a space behind', `ann :${password}`),
  pair('a user with a NUL', `ann\0:${password}`, malformed),
  pair('a user of 129 bytes', `${'a'.repeat(129)}:x`, malformed),
  pair('the user __proto__', '__proto__:x'),
  pair('the user constructor', 'constructor:undefined'),
  pair('the user of another alphabet', `\u0430nn:${password}`),
  pair('the user in full width', `\uff41\uff4e\uff4e:${password}`),
  pair('the user behind a byte order mark', `\ufeffann:${password}`),
  pair('a user without a password', 'bob:'),
  pair('a user without a password and his secret', `bob:${secrets.bob}`),
  pair('a user without a password, undefined', 'bob:undefined'),
  pair('bytes of latin1', Buffer.from('ann:gr\u00fc\u00df', 'latin1'), malformed),
  pair('bytes of overlong UTF-8', Buffer.from('\xc1\xa1nn:x', 'latin1'), malformed),
  pair('a surrogate in UTF-8', Buffer.from('ann:\xed\xa0\x80', 'latin1'), malformed),
  pair('UTF-16', Buffer.from(`ann:${password}`, 'utf16le'), malformed),
  lines('base64 without its padding', [`Authorization: Basic ${right.replace(/=+$/, '')}`], malformed),
  lines('base64 with more padding', [`Authorization: Basic ${right}=`], malformed),
  lines('base64url', [`Authorization: Basic ${Buffer.from('ann:???>>>').toString('base64url')}`], malformed),
  lines(
    'base64 with a space in it',
    [`Authorization: Basic ${right.slice(0, 8)} ${right.slice(8)}`],
    malformed,
  ),
  lines('base64 with a stray bit', [`Authorization: Basic ${strayBit(right)}`], malformed),
  lines('base64 of base64', [`Authorization: Basic ${Buffer.from(right).toString('base64')}`], malformed),
  lines('user and password as they are', [`Authorization: Basic ann:${password}`], malformed),
  lines('percent-encoding', [`Authorization: Basic ${encodeURIComponent(right)}%3D`], malformed),
  lines('8 KiB of base64', [`Authorization: Basic ${'QUFB'.repeat(2048)}`], malformed),
  lines('17 KiB of base64', [`Authorization: Basic ${'QUFB'.repeat(4352)}`], '431 header-too-large'),
  lines('a scheme alone', ['Authorization: Basic'], malformed),
  lines('a realm beside it', [`Authorization: Basic ${right}, realm="x"`], malformed),
  lines(
    'Authorization twice, the same',
    [`Authorization: Basic ${right}`, `Authorization: Basic ${right}`],
    several,
  ),
  lines(
    'Authorization twice, the first one bad',
    ['Authorization: Basic eDp5', `Authorization: Basic ${right}`],
    several,
  ),
  lines('both in one line', [`Authorization: Basic ${right}, Basic ${right}`], malformed),
  lines('Basic in Authentication', [`Authentication: Basic ${right}`], malformed),
  lines(
    'Basic in Proxy-Authorization',
    [`Proxy-Authorization: Basic ${right}`],
    '401 authentication-required',
  ),
  lines('a folded line', [`Authorization: Basic\r\n ${right}`], '400 malformed-request'),
  lines('another scheme with it', [`Authorization: Bearer ${right}`], '401 scheme-not-offered'),
  lines('Digest with it', [`Authorization: Digest ${right}`], '401 scheme-not-offered'),
  [
    'a good password beside a good signature',
    (nonce) => formatRequest({ lines: [`Authorization: Basic ${right}`, ...fullLines({ nonce })] }),
    several,
  ],
  [
    'a good password beside a bad signature',
    (nonce) =>
      formatRequest({ lines: [`Authorization: Basic ${right}`, ...fullLines({ nonce, secret: 'x' })] }),
    several,
  ],
  [
    'a user and a password in the target',
    () => formatRequest({ target: `https://ann:Q7@localhost/users/ann/financialrecords` }),
    '400 malformed-target',
  ],
]);

/** The last letter before one `=` has two bits, before two of them four, that no byte has. */
function strayBit(base64: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const end = base64.indexOf('=');
  assert.ok(end > 0);
  return `${base64.slice(0, end - 1)}${alphabet.charAt(alphabet.indexOf(base64.charAt(end - 1)) + 1)}${base64.slice(end)}`;
}

test('a correct password that contains a colon is accepted, with the scheme in any case', async () => {
  for (const scheme of ['Basic', 'basic', 'BASIC', 'Basic  '])
    assert.equal(
      await outcome(testServer.port, formatRequest({ lines: [`Authorization: ${scheme} ${right}`] })),
      '200',
    );
});

test('a password is accepted in both Unicode normalizations', async (context) => {
  const server = await openTestServer({
    users: { ann: { secret: secrets.ann, password: 'Q7-hushed-gr\u00fcn' } },
  });
  context.after(() => server.close());
  const with_ = (text: string): Promise<string> =>
    outcome(server.port, formatRequest({ lines: [basic(`ann:${text}`)] }));
  assert.equal(await with_('Q7-hushed-gru\u0308n'), '200');
  assert.equal(await with_('Q7-hushed-gr\u00fcn'), '200');
  assert.equal(await with_('Q7-hushed-grun'), refused);
});

test('a cached password is refused once its user was changed or removed', async (context) => {
  const server = await openTestServer();
  context.after(() => server.close());
  const wire = await open(server.port);
  const ask = async (text: string): Promise<string> => {
    await wire.send(formatRequest({ lines: [basic(`ann:${text}`)] }));
    return formatOutcome(await wire.reply());
  };
  assert.deepEqual([await ask(password), await ask(password)], ['200', '200']);
  const fresh = 'Q7-hushed-other';
  server.service.replaceUsers({ ann: { secret: secrets.ann, password: fresh } });
  assert.deepEqual([await ask(password), await ask(fresh), await ask(fresh)], [refused, '200', '200']);
  server.service.replaceUsers({
    ann: { secrets: [{ secret: secrets.ann }], password: { plain: fresh }, disabled: true },
  });
  assert.equal(await ask(fresh), refused);
  server.service.replaceUsers({ ann: { secrets: [{ secret: secrets.ann }] } });
  assert.equal(await ask(fresh), refused);
  server.service.replaceUsers({});
  assert.equal(await ask(fresh), refused);
  await wire.close();
});

test('a request with a password has only the permissions of its user', async () => {
  const target = '/users/bob/financialrecords';
  assert.equal(
    await outcome(testServer.port, formatRequest({ target, lines: [basic(`ann:${password}`)] })),
    '403 forbidden',
  );
  const before = await testServer.state();
  const change = { verb: 'PUT', target: '/articles/1', content: article('Wrong') };
  assert.equal(
    await outcome(testServer.port, formatRequest({ ...change, lines: [basic('ann:wrong')] })),
    refused,
  );
  assert.equal(await testServer.state(), before);
});
