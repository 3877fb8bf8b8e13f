import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { open } from '../support/net/wire.ts';
import { openTestServer } from '../support/service/test-server.ts';

const consumers = { printer: { secret: 'printer-secret-0123456789', callbacks: ['oob'] } };
const form = 'oauth_consumer_key=printer&a=b';
const digest = `Content-Digest: sha-256=:${createHash('sha256').update(form).digest('base64')}:`;

/** The reply to a request over TLS, as a proxy says, of which no more is sent than this. */
async function replyTo(context: TestContext, start: string, lines: readonly string[], content = '') {
  const server = await openTestServer({ consumers, trustProxy: ['127.0.0.0/8'] });
  context.after(() => server.close());
  const wire = await open(server.port);
  const head = [`${start} HTTP/1.1`, 'Host: localhost', 'X-Forwarded-Proto: https', ...lines];
  await wire.send(`${head.join('\r\n')}\r\n\r\n${content}`);
  const reply = await wire.reply();
  await wire.close();
  return reply;
}

const formLine = 'Content-Type: application/x-www-form-urlencoded';

const withheld: readonly (readonly [
  name: string,
  start: string,
  lines: readonly string[],
  status: number,
])[] = [
  ['a GET with a digest', 'GET /articles', [digest, 'Content-Length: 1000'], 200],
  ['a GET with a digest and a form', 'GET /articles', [digest, formLine, 'Content-Length: 1000'], 200],
  ['a form that is too long to be signed', 'POST /articles', [formLine, 'Content-Length: 65537'], 401],
  [
    'a form for a consumer that is too long',
    'POST /oauth1/request_token',
    [formLine, 'Content-Length: 65537'],
    413,
  ],
];

for (const [name, start, lines, status] of withheld) {
  test(`${name} gets a response although its content never arrives`, async (context) => {
    assert.equal((await replyTo(context, start, lines)).status, status);
  });
}

test('the request token endpoint reads the parameters of a form with a digest', async (context) => {
  const lines = [digest, formLine, `Content-Length: ${form.length}`];
  const { text } = await replyTo(context, 'POST /oauth1/request_token', lines, form);
  assert.match(text, /oauth_problem=parameter_absent/);
  assert.doesNotMatch(text, /oauth_consumer_key/);
});
