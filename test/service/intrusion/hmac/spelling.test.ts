import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type Attempt,
  computeSignature,
  date,
  formatOutcome,
  formatRequest,
  fullLines,
  fullSignature,
  openGuarded,
  outcome,
  refuses,
  secrets,
  signed,
  target,
} from '../../../support/intrusion/guarded.ts';
import { open } from '../../../support/net/wire.ts';
import { article } from '../../../support/service/guest.ts';

const testServer = await openGuarded();
after(() => testServer.close());

const malformed = '400 malformed-credentials';
const several = '400 several-credentials';
const badDigest = '401 credentials-refused';

/** The right signature, its digest written in another way. */
const digestAs = (name: string, write: (digest: string) => string, outcome = malformed): Attempt => [
  `a digest ${name}`,
  (nonce) =>
    formatRequest({
      lines: [`Authentication: hmac ann:${nonce}:${write(fullSignature({ nonce }))}`, `Date: ${date}`],
    }),
  outcome,
];

/** The last character before the padding has two bits that no byte has: the other letters that stand for the same bytes. */
function strayBits(digest: string, bits: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const last = alphabet.indexOf(digest.charAt(42));
  return `${digest.slice(0, 42)}${alphabet.charAt(last + bits)}=`;
}

const bytes = (digest: string): Buffer => Buffer.from(digest, 'base64');

refuses(testServer, [
  digestAs('without its padding', (digest) => digest.slice(0, -1)),
  digestAs('with more padding', (digest) => `${digest}=`),
  digestAs('without its last byte', (digest) => bytes(digest).subarray(0, 31).toString('base64')),
  digestAs('of 16 bytes', (digest) => bytes(digest).subarray(0, 16).toString('base64')),
  digestAs('with a byte more', (digest) => Buffer.concat([bytes(digest), Buffer.of(0)]).toString('base64')),
  digestAs('of no bytes', () => ''),
  digestAs('in hexadecimal', (digest) => bytes(digest).toString('hex')),
  digestAs('in the base64 of its hexadecimal', (digest) =>
    Buffer.from(bytes(digest).toString('hex')).toString('base64'),
  ),
  digestAs('in base64url', (digest) => bytes(digest).toString('base64url')),
  digestAs('with one stray bit', (digest) => strayBits(digest, 1)),
  digestAs('with the other stray bit', (digest) => strayBits(digest, 2)),
  digestAs('with both stray bits', (digest) => strayBits(digest, 3)),
  digestAs('in capitals', (digest) => digest.slice(0, 42).toUpperCase() + digest.slice(42), badDigest),
  digestAs('with a space in it', (digest) => `${digest.slice(0, 20)} ${digest.slice(20)}`),
  digestAs('with a tab in it', (digest) => `${digest.slice(0, 20)}\t${digest.slice(20)}`),
  digestAs('in quotes', (digest) => `"${digest}"`),
  digestAs('with a comma after it', (digest) => `${digest},`),
  digestAs('with a parameter after it', (digest) => `${digest};a=1`),
  digestAs('with its padding percent-encoded', (digest) => digest.replace('=', '%3D')),
  digestAs('of nothing but zero bytes', () => Buffer.alloc(32).toString('base64'), badDigest),
  digestAs(
    'with its bits turned over',
    (digest) => Buffer.from(bytes(digest).map((byte) => byte ^ 0xff)).toString('base64'),
    badDigest,
  ),
  digestAs(
    'with one bit changed',
    (digest) =>
      bytes(digest)
        .fill((bytes(digest)[31] ?? 0) ^ 1, 31)
        .toString('base64'),
    badDigest,
  ),
  digestAs('backwards', (digest) => bytes(digest).reverse().toString('base64'), badDigest),
]);

/** A nonce that is signed as it is sent, and is none. */
const nonceAs = (name: string, write: (nonce: string) => string): Attempt => [
  `a nonce ${name}`,
  (nonce) => {
    const sent = write(nonce);
    return formatRequest({
      lines: [`Authentication: hmac ann:${sent}:${fullSignature({ nonce: sent })}`, `Date: ${date}`],
    });
  },
  malformed,
];

refuses(testServer, [
  nonceAs('with a plus', (nonce) => `${nonce}+1`),
  nonceAs('of a plus alone', () => '+'),
  nonceAs('with an encoded plus', (nonce) => `${nonce}%2B1`),
  nonceAs('that is percent-encoded', (nonce) => nonce.replace('n', '%6e')),
  nonceAs('of no character', () => ''),
  nonceAs('of 129 characters', (nonce) => nonce.padEnd(129, 'x')),
  nonceAs('of 8 KiB', (nonce) => nonce.padEnd(8192, 'x')),
  nonceAs('with a colon', (nonce) => `${nonce}:1`),
  nonceAs('with a slash', (nonce) => `${nonce}/1`),
  nonceAs('with an equals sign', (nonce) => `${nonce}=`),
  nonceAs('with a space', (nonce) => `${nonce} 1`),
  nonceAs('with a quote', (nonce) => `"${nonce}"`),
  nonceAs('with an umlaut', (nonce) => `${nonce}\u00fc`),
  nonceAs('with a letter of another alphabet', (nonce) => `${nonce}\u00d0\u00b0`),
]);

/** The header lines that carry a good signature, changed. */
const linesAs = (
  name: string,
  write: (credentials: string, nonce: string) => readonly string[],
  outcome: string,
): Attempt => [
  name,
  (nonce) =>
    formatRequest({
      lines: [...write(`hmac ann:${nonce}:${fullSignature({ nonce })}`, nonce), `Date: ${date}`],
    }),
  outcome,
];

refuses(testServer, [
  linesAs(
    'Authentication twice, the same',
    (good) => [`Authentication: ${good}`, `Authentication: ${good}`],
    several,
  ),
  linesAs(
    'Authentication twice, the second one bad',
    (good) => [`Authentication: ${good}`, 'Authentication: hmac x:y'],
    several,
  ),
  linesAs(
    'Authentication twice, the first one bad',
    (good) => ['Authentication: hmac x:y', `Authentication: ${good}`],
    several,
  ),
  linesAs(
    'Authentication twice, the second one empty',
    (good) => [`Authentication: ${good}`, 'Authentication:'],
    several,
  ),
  linesAs('Authorization twice', (good) => [`Authorization: ${good}`, `Authorization: ${good}`], several),
  linesAs(
    'Authorization and Authentication, both good',
    (good) => [`Authorization: ${good}`, `Authentication: ${good}`],
    several,
  ),
  linesAs(
    'Authorization with Basic beside a good Authentication',
    (good) => ['Authorization: Basic YTpi', `Authentication: ${good}`],
    several,
  ),
  linesAs(
    'an empty Authorization beside a good Authentication',
    (good) => ['Authorization:', `Authentication: ${good}`],
    several,
  ),
  linesAs('two credentials on one line', (good) => [`Authentication: ${good}, ${good}`], malformed),
  linesAs('Authentication that is empty', () => ['Authentication:'], malformed),
  linesAs('Authentication of a scheme alone', () => ['Authentication: hmac'], malformed),
  linesAs('Authentication of a scheme and a space', () => ['Authentication: hmac '], malformed),
  linesAs('Authentication without a scheme', (good) => [`Authentication: ${good.slice(5)}`], malformed),
  linesAs(
    'a folded Authentication',
    (good) => [`Authentication: hmac\r\n ${good.slice(5)}`],
    '400 malformed-request',
  ),
  linesAs(
    'a folded Authentication that goes on with a tab',
    (good) => [`Authentication: hmac\r\n\t${good.slice(5)}`],
    '400 malformed-request',
  ),
  linesAs(
    'a space before the colon of Authentication',
    (good) => [`Authentication : ${good}`],
    '400 malformed-request',
  ),
  linesAs(
    'Authentication after a bare line feed',
    (good) => [`X-A: 1\nAuthentication: ${good}`],
    '400 malformed-request',
  ),
  linesAs('a tab behind the scheme', (good) => [`Authentication: ${good.replace(' ', '\t')}`], malformed),
  linesAs(
    'a scheme that ends in a colon',
    (good) => [`Authentication: ${good.replace(' ', ': ')}`],
    malformed,
  ),
  linesAs(
    'a scheme with a version',
    (good) => [`Authentication: ${good.replace('hmac', 'hmac-sha256')}`],
    malformed,
  ),
  linesAs(
    'another scheme in Authorization',
    (good) => [`Authorization: ${good.replace('hmac', 'hmac-sha256')}`],
    '401 scheme-not-offered',
  ),
  linesAs(
    'the signature in X-Authentication alone',
    (good) => [`X-Authentication: ${good}`],
    '401 authentication-required',
  ),
  linesAs(
    'the signature in Proxy-Authorization alone',
    (good) => [`Proxy-Authorization: ${good}`],
    '401 authentication-required',
  ),
  linesAs(
    'the signature in a cookie alone',
    (good) => [`Cookie: Authentication=${good}`],
    '401 authentication-required',
  ),
  linesAs('Basic in Authentication', () => ['Authentication: Basic YW5uOlE3'], malformed),
  linesAs('8 KiB of credentials', () => [`Authentication: hmac ${'a:'.repeat(4096)}`], malformed),
  linesAs(
    '8 KiB of user',
    () => [`Authentication: hmac ${'a'.repeat(8192)}:n:${'A'.repeat(43)}=`],
    malformed,
  ),
  linesAs(
    '17 KiB of credentials',
    () => [`Authentication: hmac ${'a'.repeat(17_408)}`],
    '431 header-too-large',
  ),
  linesAs('four parts', (good) => [`Authentication: ${good}:${good.slice(-44)}`], malformed),
  linesAs('one part', (good) => [`Authentication: hmac ${good.slice(-44)}`], malformed),
  linesAs(
    'named parameters',
    (_, nonce) => [`Authentication: hmac user="ann", nonce="${nonce}", digest="x"`],
    malformed,
  ),
  linesAs('the user in quotes', (good) => [`Authentication: ${good.replace('ann', '"ann"')}`], badDigest),
  linesAs('a space around the user', (good) => [`Authentication: ${good.replace('ann', 'ann ')}`], badDigest),
]);

/** Signed with ann's own secret, under a name that is not hers. */
const userAs = (name: string, user: string, outcome = badDigest): Attempt => [
  `the user ${name}`,
  (nonce) => signed({ nonce, user }),
  outcome,
];

refuses(testServer, [
  userAs('who is not there', 'nobody'),
  userAs('in capitals', 'ANN'),
  userAs('__proto__', '__proto__'),
  userAs('constructor', 'constructor'),
  userAs('toString', 'toString'),
  userAs('undefined', 'undefined'),
  userAs('without a name', '', malformed),
  userAs('with a colon', 'ann:ann', malformed),
  userAs('with an encoded colon', 'ann%3Aann'),
  userAs('percent-encoded', '%61nn'),
  userAs('with a NUL', 'ann\0', '400 malformed-request'),
  userAs('with a tab', 'ann\tx', malformed),
  userAs('with DEL', 'ann\x7f', '400 malformed-request'),
  userAs('in latin1', '\u00e4nn', malformed),
  userAs('in overlong UTF-8', '\xc1\xa1nn', malformed),
  userAs('with a surrogate', '\xed\xa0\x80', malformed),
  userAs('in cyrillic that looks the same', Buffer.from('\u0430nn').toString('latin1')),
  userAs('in full width', Buffer.from('\uff41\uff4e\uff4e').toString('latin1')),
  userAs('with a space that has no width', Buffer.from('ann\u200b').toString('latin1')),
  userAs('behind a byte order mark', Buffer.from('\ufeffann').toString('latin1')),
  userAs('with a wildcard', '*'),
  userAs('of a path', '../ann'),
  userAs('of 129 bytes', 'a'.repeat(129), malformed),
]);

test('the name of a scheme and of a field may be in any case, and hmac may stand in Authorization', async () => {
  for (const [name, scheme] of [
    ['AUTHENTICATION', 'HMAC'],
    ['authentication', 'Hmac'],
    ['Authorization', 'hmac'],
    ['aUTHORIZATION', 'hMAC'],
  ]) {
    const nonce = testServer.freshNonce();
    const lines = [`${name}: ${scheme} ann:${nonce}:${fullSignature({ nonce })}`, `Date: ${date}`];
    assert.equal(await outcome(testServer.port, formatRequest({ lines })), '200');
  }
});

test('several spaces may follow the scheme, as RFC 9110 has it', async () => {
  const nonce = testServer.freshNonce();
  const lines = [`Authentication: hmac   ann:${nonce}:${fullSignature({ nonce })}`, `Date: ${date}`];
  assert.equal(await outcome(testServer.port, formatRequest({ lines })), '200');
});

test('a target in absolute form is signed as it is sent', async () => {
  const absolute = `http://localhost${target}`;
  assert.equal(
    await outcome(testServer.port, signed({ target: absolute, nonce: testServer.freshNonce() })),
    '200',
  );
});

test('HTTP/1.0 is judged like HTTP/1.1', async () => {
  const nonce = testServer.freshNonce();
  const sending = (lines: readonly string[]) => formatRequest({ version: '1.0', lines });
  assert.equal(await outcome(testServer.port, sending([])), '401 authentication-required');
  const wrong = [`Authentication: hmac ann:${nonce}:${computeSignature('GET')}`, `Date: ${date}`];
  assert.equal(await outcome(testServer.port, sending(wrong)), badDigest);
  assert.equal(await outcome(testServer.port, sending(fullLines({ nonce }))), '200');
  assert.equal(await outcome(testServer.port, sending(fullLines({ nonce }))), '401 nonce-replayed');
});

test('a user of unicode is who was declared, in no other normalization', async (context) => {
  const server = await openGuarded({
    users: { ann: { secret: secrets.ann }, 'b\u00e4r': { secret: secrets.bob } },
  });
  context.after(() => server.close());
  const as = (user: string, nonce: string): string =>
    signed({ user: Buffer.from(user).toString('latin1'), nonce, secret: secrets.bob, target: '/articles' });
  assert.equal(await outcome(server.port, as('b\u00e4r', 'n1')), '200');
  assert.equal(await outcome(server.port, as('ba\u0308r', 'n2')), badDigest);
});

test('credentials in the trailer of a chunked body are none', async () => {
  const nonce = testServer.freshNonce();
  const before = await testServer.state();
  const put = { verb: 'PUT', target: '/articles/1', nonce };
  const head = formatRequest({
    ...put,
    lines: ['Content-Type: application/xml', 'Transfer-Encoding: chunked', 'Trailer: Authentication, Date'],
  });
  const content = article('Trailer');
  const body = `${content.length.toString(16)}\r\n${content}\r\n0\r\n${fullLines(put).join('\r\n')}\r\n\r\n`;
  assert.equal(await outcome(testServer.port, head + body), '401 authentication-required');
  assert.equal(await testServer.state(), before);
});

test('a refused body is not read as the next request', async () => {
  const before = await testServer.state();
  const inner = signed({ verb: 'DELETE', target: '/articles/1', nonce: testServer.freshNonce() });
  const wire = await open(testServer.port);
  const lines = [`Authentication: hmac ann:n:${computeSignature('no')}`, `Date: ${date}`];
  await wire.send(formatRequest({ verb: 'PUT', target: '/articles/1', lines, content: inner }));
  wire.finish();
  assert.deepEqual((await wire.rest()).map(formatOutcome), [badDigest]);
  assert.equal(await testServer.state(), before);
});
