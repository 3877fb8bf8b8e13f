import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { open } from '../../support/net/wire.ts';
import { article } from '../../support/service/open-service.ts';
import {
  computeSignature,
  date,
  formatOutcome,
  formatRequest,
  fullLines,
  fullSignature,
  openTestServer,
  outcome,
  signed,
} from '../../support/service/test-server.ts';

const testServer = await openTestServer();
after(() => testServer.close());

const place = { verb: 'PUT', target: '/articles/1' };
const content = article('Signed');
const changed = article('Change');
const computeDigest = (algorithm: 'sha256' | 'sha512' | 'md5', of: string): string =>
  createHash(algorithm).update(of, 'latin1').digest('base64');
const sha256 = (of: string): string => `sha-256=:${computeDigest('sha256', of)}:`;
const sha512 = (of: string): string => `sha-512=:${computeDigest('sha512', of)}:`;

/** What is signed and sent of a digest, what is sent as content, and what comes of it. */
interface Sent {
  readonly signs?: string;
  readonly lines: readonly string[];
  readonly sends: string;
  readonly outcome: string;
  /** Whether the signature is good, so that the nonce is taken though the content is refused. */
  readonly taken?: boolean;
}

function bytesFor({ signs, lines, sends }: Sent, nonce: string): string {
  const signature = fullSignature({ ...place, nonce, ...(signs === undefined ? {} : { signBody: signs }) });
  const own = [`Authentication: hmac ann:${nonce}:${signature}`, `Date: ${date}`];
  return formatRequest({ ...place, lines: [...own, ...lines], content: sends });
}

const good = sha256(content);
const badDigest = '401 credentials-refused';
const mismatch = '400 digest-mismatch';

const attempts: Readonly<Record<string, Sent>> = {
  'content that changed under its digest': {
    signs: good,
    lines: [`Content-Digest: ${good}`],
    sends: changed,
    outcome: mismatch,
    taken: true,
  },
  'content and its digest, both changed': {
    signs: good,
    lines: [`Content-Digest: ${sha256(changed)}`],
    sends: changed,
    outcome: badDigest,
  },
  'a digest that was removed': { signs: good, lines: [], sends: changed, outcome: badDigest },
  'a Content-MD5 in the place of a Content-Digest': {
    signs: good,
    lines: [`Content-MD5: ${computeDigest('md5', changed)}`],
    sends: changed,
    outcome: badDigest,
  },
  'a Content-MD5 of other content beside a signed digest': {
    signs: good,
    lines: [`Content-Digest: ${good}`, `Content-MD5: ${computeDigest('md5', changed)}`],
    sends: content,
    outcome: mismatch,
    taken: true,
  },
  'a signed Content-MD5 that an unsigned Content-Digest is put before': {
    signs: computeDigest('md5', content),
    lines: [`Content-Digest: ${sha256(changed)}`, `Content-MD5: ${computeDigest('md5', content)}`],
    sends: changed,
    outcome: badDigest,
  },
  'a Content-MD5 of changed content': {
    signs: computeDigest('md5', content),
    lines: [`Content-MD5: ${computeDigest('md5', content)}`],
    sends: changed,
    outcome: mismatch,
    taken: true,
  },
  'a digest in another algorithm that the server ignores': {
    signs: `crc32c=:${Buffer.alloc(4).toString('base64')}:`,
    lines: [`Content-Digest: crc32c=:${Buffer.alloc(4).toString('base64')}:`],
    sends: content,
    outcome: '400 malformed-field',
    taken: true,
  },
  'a Repr-Digest, which is not signed, in the place of a signed Content-Digest': {
    signs: good,
    lines: [`Repr-Digest: ${good}`],
    sends: changed,
    outcome: badDigest,
  },
  'other content that unpacks to what was signed': {
    signs: good,
    lines: [`Content-Digest: ${good}`, 'Content-Encoding: gzip'],
    sends: gzipSync(content).toString('latin1'),
    outcome: mismatch,
    taken: true,
  },
};

for (const [name, sent] of Object.entries(attempts)) {
  test(`${name} is refused: ${sent.outcome}`, async () => {
    const nonce = testServer.freshNonce();
    const resources = async (): Promise<string> => (await testServer.state()).replace(/\d+ nonces$/, '');
    const before = await resources();
    assert.equal(await outcome(testServer.port, bytesFor(sent, nonce)), sent.outcome);
    assert.equal(await resources(), before);
    // Whoever signed has used the nonce up, even if the content is no good.
    assert.equal(
      await outcome(testServer.port, signed({ nonce })),
      sent.taken ? '401 nonce-replayed' : '200',
    );
  });
}

test('content that matches its signed digest is accepted with each algorithm and with both', async () => {
  for (const [field, value] of [
    ['Content-Digest', good],
    ['Content-Digest', sha512(content)],
    ['Content-Digest', `${good}, ${sha512(content)}`],
    ['Content-MD5', computeDigest('md5', content)],
  ] as const) {
    const sent = { signs: value, lines: [`${field}: ${value}`], sends: content, outcome: '200' };
    assert.equal(await outcome(testServer.port, bytesFor(sent, testServer.freshNonce())), '200', value);
  }
});

test('a service that requires a digest refuses unsigned content, also in chunks', async (context) => {
  const server = await openTestServer({ requireBodyDigest: true });
  context.after(() => server.close());
  const before = await server.state();
  const lines = fullLines({ ...place, nonce: 'n' });
  assert.equal(
    await outcome(server.port, formatRequest({ ...place, lines, content })),
    '401 digest-required',
  );
  const chunked = [...lines, 'Content-Type: application/xml', 'Transfer-Encoding: chunked'];
  const bytes = `${formatRequest({ ...place, lines: chunked })}${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`;
  assert.equal(await outcome(server.port, bytes), '401 digest-required');
  assert.equal(await server.state(), before);
  const sent = { signs: good, lines: [`Content-Digest: ${good}`], sends: content, outcome: '200' };
  assert.equal(await outcome(server.port, bytesFor(sent, 'n')), '200');
});

test('a request with a wrong signature is refused before its content is sent', async () => {
  const before = await testServer.state();
  for (const length of [
    'Content-Length: 1048576',
    'Content-Length: 104857600',
    'Transfer-Encoding: chunked',
  ]) {
    const wire = await open(testServer.port);
    const lines = [
      `Authentication: hmac ann:n:${computeSignature('no')}`,
      `Date: ${date}`,
      'Content-Type: application/xml',
      length,
    ];
    await wire.send(formatRequest({ ...place, lines }));
    const reply = await wire.reply();
    assert.equal(`${formatOutcome(reply)} ${reply.field('Connection')}`, `${badDigest} close`);
    await wire.close();
  }
  assert.equal(await testServer.state(), before);
});

test('a signed request with incomplete content changes nothing, and its nonce is claimed', async () => {
  const nonce = testServer.freshNonce();
  const before = (await testServer.state()).replace(/\d+ nonces$/, '');
  const bytes = bytesFor(
    { signs: good, lines: [`Content-Digest: ${good}`], sends: content, outcome: '' },
    nonce,
  );
  assert.equal(await outcome(testServer.port, bytes.slice(0, -4)), '400 content-incomplete');
  assert.equal((await testServer.state()).replace(/\d+ nonces$/, ''), before);
  assert.equal(await outcome(testServer.port, bytes), '401 nonce-replayed');
});
