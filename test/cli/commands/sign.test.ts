import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { call, type Given, run } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const environment = { COUNTERSIGN_SECRET: 'secret' };

/** The digest as openssl has it. */
function openssl(message: string, secret = 'secret'): string {
  const mac = [
    'dgst',
    '-sha256',
    '-mac',
    'HMAC',
    '-macopt',
    `hexkey:${Buffer.from(secret).toString('hex')}`,
    '-binary',
  ];
  return execFileSync('openssl', mac, { input: message }).toString('base64');
}

function parseFields(output: string): Map<string, string> {
  const lines = output.trimEnd().split('\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
}

test('the full form signs method, target, date and nonce as openssl does', async () => {
  const args = ['sign', 'GET', 'http://127.0.0.1:8080/users/foo/financialrecords', '--user', 'foo'];
  const { status, stdout } = await call([...args, '--date', '20 apr 2013 12:59:24', '--nonce', '123456'], {
    environment,
  });
  assert.equal(status, 0);
  const digest = openssl('GET+/users/foo/financialrecords+20apr201312:59:24+123456');
  assert.equal(stdout, `Date: 20 apr 2013 12:59:24\nAuthentication: hmac foo:123456:${digest}\n`);
});

test('the simple form signs method and target with its query, and accepts the secret on standard input', async () => {
  const args = ['sign', 'GET', 'http://127.0.0.1:8080/users/foo?a=b%2Fc', '--user=foo', '--simple'];
  const { status, stdout } = await run(args, { input: 'secret\nmore\n' });
  assert.equal(status, 0);
  assert.equal(stdout, `Authentication: hmac foo:${openssl('GET+/users/foo?a=b%2Fc')}\n`);
});

test('content is signed by its digest, from a file or from standard input', async () => {
  const file = join(temporaryDirectory(), "it's content.xml");
  writeFileSync(file, '<article/>');
  const expected = `sha-256=:${execFileSync('openssl', ['dgst', '-sha256', '-binary', file]).toString('base64')}:`;
  for (const [content, input] of [
    [file, ''],
    ['-', '<article/>'],
  ] as const) {
    const args = ['sign', 'POST', 'http://h/articles', '--user', 'foo', '--nonce', 'n', '--date', 'd'];
    const { stdout } = await call([...args, '--content', content], { environment, input });
    const fields = parseFields(stdout);
    assert.equal(fields.get('Content-Digest'), expected);
    assert.equal(fields.get('Authentication'), `hmac foo:n:${openssl(`POST+/articles+d+n+${expected}`)}`);
  }
});

test('a user name outside ASCII is printed as UTF-8', async () => {
  const { stdout } = await call(['sign', 'GET', 'http://h/', '--user', 'Zoë', '--simple'], { environment });
  assert.equal(stdout, `Authentication: hmac Zoë:${openssl('GET+/')}\n`);
});

test('sign reports the URL that it signs if it differs from the given URL', async () => {
  for (const [url, said] of [
    [
      'http://h:80/a/../b?x="1"#y',
      'countersign: the signature is for http://h/b?x=%221%22; send the request to exactly this URL\n',
    ],
    ['http://h:8080', ''],
    ['http://h/a?b#c', ''],
    ["http://h/a?b='c'", ''],
    ['http://h/a?', ''],
    [
      'http://h/a/%2E%2e/b',
      'countersign: the signature is for http://h/b; send the request to exactly this URL\n',
    ],
  ] as const) {
    const { stderr } = await call(['sign', 'GET', url, '--user', 'foo'], { environment });
    assert.equal(stderr, said);
  }
});

test('the target is signed unchanged, octet for octet', async () => {
  for (const [written, target] of [
    ["http://h/a?b='c'", "/a?b='c'"],
    ['http://h/a?', '/a?'],
    ['http://h?x', '/?x'],
    ['http://h/%7e|{}', '/%7e|{}'],
  ] as const) {
    const { stdout } = await call(['sign', 'GET', written, '--user', 'foo', '--simple'], { environment });
    const digest = createHmac('sha256', environment.COUNTERSIGN_SECRET)
      .update(`GET+${target}`)
      .digest('base64');
    assert.equal(stdout, `Authentication: hmac foo:${digest}\n`);
  }
});

test('the curl command sends the signed request, even with special characters of the shell', async () => {
  const received: {
    method: string | undefined;
    url: string | undefined;
    headers: IncomingHttpHeaders;
    body: string;
  }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ method: request.method, url: request.url, headers: request.headers, body });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const file = join(temporaryDirectory(), "it's $HOME.xml");
  writeFileSync(file, '<a>é</a>\n');
  const url = `http://127.0.0.1:${address.port}/a'b?c=[1-3]&d=$(id)`;
  const args = ['sign', 'PUT', url, '--user', "o'neil", '--nonce', 'n', '--content', file, '--curl'];
  const { stdout } = await call(args, { environment });
  await promisify(execFile)('sh', ['-c', stdout]);
  server.close();
  const [request] = received;
  assert.equal(request?.method, 'PUT');
  assert.equal(request?.headers['content-type'], 'application/xml');
  assert.equal(request?.body, '<a>é</a>\n');
  const date = request?.headers.date?.replaceAll(' ', '');
  const message = `PUT+${request?.url}+${date}+n+${request?.headers['content-digest']}`;
  assert.equal(request?.headers['authentication'], `hmac o'neil:n:${openssl(message)}`);
});

describe('a secret that cannot be read is rejected with exit status 2', () => {
  const cases: readonly [more: string[], reason: RegExp, given: Given][] = [
    [[], /COUNTERSIGN_SECRET must not be empty/, { environment: { COUNTERSIGN_SECRET: '' } }],
    [[], /no secret: set/, { input: '\nsecret\n' }],
    [
      ['--content', '-'],
      /COUNTERSIGN_SECRET must be set if the content is read from standard input/,
      { input: 'x' },
    ],
  ];
  for (const [more, reason, given] of cases) {
    test(reason.source, async () => {
      const args = ['sign', 'GET', 'http://127.0.0.1:8080/a', '--user', 'u', ...more];
      const { status, stdout, stderr } = await call(args, given);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, new RegExp(`^countersign: .*${reason.source}.*\n$`));
    });
  }
});

test('sign exits with 1 if the content cannot be read', async () => {
  const args = ['sign', 'PUT', 'http://h/', '--user', 'u', '--content', '/nonexistent/file'];
  const { status, stderr } = await call(args, { environment });
  assert.equal(status, 1);
  assert.match(stderr, /the content cannot be read: .*ENOENT/);
});
