import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRequest } from '../src/http/message.ts';
import { action } from '../src/index.ts';
import { createControllableService } from '../src/service/service.ts';
import { call, run, startProcess } from './support/cli/command.ts';
import { makeIdentity, transport } from './support/net/transport.ts';
import { exchange } from './support/net/wire.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';
import { searchTranscript } from './support/transcript.ts';

const secret = 'Q7-unspoken-signing-secret';
const password = 'Q7-unspoken-password';
const guess = 'Q7-unspoken-guess';
const token = 'Q7-unspoken-token';
const key = 'c5'.repeat(32);
const pair = `ann:${password}`;

/** What nobody may say: secrets, and every signature that is made or received here. */
const unspoken = new Set([secret, password, guess, token, key, Buffer.from(pair).toString('base64')]);

function assertUnspoken(text: string, where: string): void {
  for (const each of unspoken) {
    for (const form of [
      each,
      Buffer.from(each).toString('base64').slice(0, -3),
      Buffer.from(each).toString('hex'),
    ])
      assert.equal(text.includes(form), false, `${JSON.stringify(each)} is in ${where}: ${text}`);
  }
}

function sign(message: string, by = secret): string {
  const signature = createHmac('sha256', by).update(message).digest('base64');
  unspoken.add(signature);
  return signature;
}

const target = '/users/ann/financialrecords';
const now = new Date().toUTCString();
let drawn = 0;

/** A full signature of the message as it should be, or of another one. */
function signatureLines(
  message?: (stamp: string, nonce: string) => string,
  by = secret,
  date = now,
): string[] {
  drawn += 1;
  const nonce = `n${drawn}`;
  const stamp = date.replaceAll(' ', '');
  const right = `GET+${target}+${stamp}+${nonce}`;
  sign(right); // what would have been right may not be told either
  return [`Authentication: hmac ann:${nonce}:${sign(message?.(stamp, nonce) ?? right, by)}`, `Date: ${date}`];
}

const basic = (text: string): string => {
  const credentials = Buffer.from(text).toString('base64');
  unspoken.add(credentials);
  return `Authorization: Basic ${credentials}`;
};

/** Every kind of refusal that credentials can have, and some that they are innocent of. */
function refusals(): string[] {
  const get = (...lines: string[]): string => request('GET', target, lines);
  const again = signatureLines();
  return [
    get(),
    get(...again),
    get(...again),
    get(...signatureLines(undefined, guess)),
    get(...signatureLines(undefined, secret, 'Thu, 01 Jan 1970 00:00:00 GMT')),
    get(...signatureLines((stamp, nonce) => `get+${target}+${stamp}+${nonce}`)),
    get(...signatureLines((stamp, nonce) => `GET+${target}/+${stamp}+${nonce}`)),
    get(...signatureLines(() => `GET+${target}`)),
    get(...signatureLines((_, nonce) => `GET+${target}+${now}+${nonce}`)),
    get(...signatureLines().slice(0, 1)),
    get(...signatureLines(), 'Date: now'),
    get(...signatureLines(), 'X-Date: yesterday'),
    get(...signatureLines(), basic(pair)),
    get(...signatureLines(), ...signatureLines()),
    get(`Authentication: hmac nobody:${sign('x')}`),
    get(`Authentication: hmac ann:${sign(`PUT+${target}`)}`),
    get(`Authentication: hmac ann:${sign('x').slice(0, -1)}`),
    get(`Authentication: hmac ann:${Buffer.from(sign('x'), 'base64').toString('hex')}`),
    get(`Authentication: hmac ann:a:b:c:${sign('x')}`),
    get(`Authentication: hmac ${secret}`),
    get(`Authentication: hmac ${secret}:${sign('x')}`),
    get(`Authentication: ${secret}`),
    get(`Authentication: Basic ${Buffer.from(pair).toString('base64')}`),
    get(`Authorization: Bearer ${token}`),
    get(`Authorization: ${token}`),
    get(`Authorization: OAuth oauth_token="${token}"`),
    get(`Authorization: Digest username="ann", response="${token}"`),
    get(basic(pair)),
    get(basic(`ann:${guess}`)),
    get(basic(`nobody:${guess}`)),
    get(basic(`${guess}`)),
    get(basic(`:${guess}`)),
    get(basic(`ann:${guess}\n`)),
    get(`${basic(pair)}x`),
    get(basic(`ann:${guess}`).slice(0, -1)),
    get(`Authorization: Basic ann:${password}`),
    get(`Proxy-Authorization: Basic ${Buffer.from(pair).toString('base64')}`, `Cookie: token=${token}`),
    get(...signatureLines(), `Content-Digest: ${token}`),
    get(basic(pair), `Accept: ${token}`),
    get(basic(pair), `If-Match: ${token}`, 'If-Match: '),
    get(`X-${token}`),
    get(`Authorization : Bearer ${token}`),
    get(`Authorization: Bearer\r\n ${token}`),
    get(`Expect: ${token}`),
    get(`Transfer-Encoding: ${token}`),
    get(`Authorization: Bearer ${token.padEnd(40_000, 'x')}`),
    request('GET', `/articles?access_token=${token}`, []),
    request('GET', `/articles?limit=${token}`, []),
    request('GET', `/nothing?access_token=${token}`, [basic(pair)]),
    request('GET', `http://ann:${password}@localhost/articles`, []),
    request('GET', `https://localhost/nothing?${token}#${token}`, []),
    request('DELETE', '/articles/1', [`Authentication: hmac ann:${sign('DELETE+/articles/1')}`]),
    request('PUT', '/articles/1', [basic(`ann:${guess}`), 'Content-Length: 5'], token),
    request('POST', '/articles', [basic(pair), 'Content-Type: application/xml'], `<article>${token}`),
    request('POST', '/articles', [basic(pair), 'Content-Type: application/json'], `{"title": ${token}}`),
    request('POST', '/articles', [basic(pair), `Content-Type: ${token}`], token),
    request(
      'POST',
      '/articles',
      [basic(pair), `Content-Encoding: ${token}`, 'Content-Type: application/xml'],
      token,
    ),
    request('PUT', '/articles/1', [...signatureLines(), 'Content-Type: application/xml'], token),
  ];
}

function request(method: string, path: string, lines: readonly string[], content?: string): string {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...lines];
  if (content !== undefined && !lines.some((line) => line.startsWith('Content-Length')))
    head.push(`Content-Length: ${content.length}`);
  return `${head.join('\r\n')}\r\n\r\n${content ?? ''}`;
}

/** Every file in a directory and below. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
}

const port = (url: string): number => Number(new URL(url).port);

for (const [form, explain] of [
  ['json', true],
  ['json', false],
  ['pretty', true],
  ['pretty', false],
] as const) {
  test(`a server ${explain ? 'that explains' : 'that does not explain'}, with a ${form} log, shows no secret`, async () => {
    const data = join(temporaryDirectory(), 'data');
    const identity = makeIdentity();
    const [cert, own] = [`${data}.cert.pem`, `${data}.key.pem`];
    writeFileSync(cert, identity.cert);
    writeFileSync(own, identity.key, { mode: 0o600 });
    const added = await call(['user', 'add', 'bob', '--data', data]);
    assert.equal(added.status, 0);
    for (const [made] of added.stdout.matchAll(/[A-Za-z0-9_-]{40,}/g)) unspoken.add(made);
    const config = `${data}.json`;
    writeFileSync(config, JSON.stringify({ users: { ann: { secret, password } } }), { mode: 0o600 });
    const args = ['--port', '0', '--tls-port', '0', '--tls-cert', cert, '--tls-key', own, '--config', config];
    const server = await startProcess(
      [...args, '--data', data, '--log', form, '--max-auth-failures', '0', ...(explain ? ['--explain'] : [])],
      {
        environment: { COUNTERSIGN_KEY: key },
      },
    );
    let replies = 0;
    for (const [url, tls] of [
      [server.url, undefined],
      [server.secureUrl, identity],
    ] as const) {
      transport.tls = tls;
      for (const bytes of refusals()) {
        for (const reply of await exchange(port(url), bytes)) {
          replies += 1;
          assertUnspoken(JSON.stringify([reply.reason, reply.fields, reply.text]), `the reply to ${bytes}`);
        }
      }
    }
    transport.tls = undefined;
    assert.ok(replies >= 100);
    server.signal('SIGTERM');
    const { status, stdout, stderr } = await server.ended;
    assert.equal(status, 0);
    assert.ok(stderr.split('\n').length >= 100, stderr);
    assertUnspoken(stdout, 'standard output');
    assertUnspoken(stderr, 'standard error');
    for (const path of filesIn(data)) assertUnspoken(readFileSync(path, 'latin1'), path);
  });
}

/** Runs a command that must fail, and gives what it said. */
async function failing(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const doing = args[0] === 'serve' ? run : call;
  const { status, stdout, stderr } = await doing(args, { environment });
  assert.notEqual(status, 0, args.join(' '));
  return stdout + stderr;
}

test('a command that fails reports the reason, and shows no secret', async () => {
  const directory = temporaryDirectory();
  const data = join(directory, 'data');
  mkdirSync(data, { mode: 0o700 });
  const serve = ['serve', '--port', '0', '--no-tls', '--data', data];
  const keyFile = join(directory, 'key');
  writeFileSync(keyFile, `${secret}\n`, { mode: 0o600 });
  const outputs = [
    await failing([...serve, `--secret=${secret}`]),
    await failing([...serve, '--secret', secret]),
    await failing([...serve, `--password=${password}`]),
    await failing([...serve, '--key-file', keyFile]),
    await failing([...serve, '--control-port', '0'], { COUNTERSIGN_CONTROL_TOKEN: `${token} ${token}` }),
    await failing(serve, { COUNTERSIGN_KEY: secret }),
    await failing(['check', '--data', data], { COUNTERSIGN_KEY: `${key}0` }),
    await failing(['user', 'add', 'ann', '--data', data, `--password=${password}`]),
    await failing(['sign', 'GET', 'http://localhost/', '--user', 'ann', `--secret=${secret}`]),
    await failing(['sign', 'GET', `http://ann:${password}@localhost/`, '--user', 'ann'], {
      COUNTERSIGN_SECRET: secret,
    }),
    await failing(['sign', 'GET', 'not a url', '--user', 'ann'], { COUNTERSIGN_SECRET: secret }),
    await failing(['sign', 'GET', 'http://localhost/', '--user', 'a:b'], { COUNTERSIGN_SECRET: secret }),
  ];
  const configurations = [
    `{"users":{"ann":{"secret":"${secret}}}}`,
    `{"users":{"ann":{"secret":"${secret}",}}}`,
    `{"users":{"ann":{"secret":${secret}}}}`,
    `{"users":{"ann":{"secrte":"${secret}"}}}`,
    `{"users":{"ann":{"secret":["${secret}"]}}}`,
    `{"users":{"ann":{"secret":"${secret}","password":["${password}"]}}}`,
    `{"users":{"ann":{"secret":"${secret}","password":{"hash":"${password}"}}}}`,
    `{"users":{"ann":"${secret}"}}`,
    `{"users":"${secret}"}`,
    `{"users":["${secret}"]}`,
    `{"clients":{"app":{"secret":["${secret}"]}}}`,
    `{"clients":{"app":{"secret":{"plain":"${secret}"}}}}`,
    `{"clients":{"app":{"secret":"${secret}","grants":["implicit"]}}}`,
    `{"consumers":{"key":{"secret":"${secret}","methods":"${secret}"}}}`,
    `{"consumers":{"key":{"secret":"${secret}","callbacks":["${secret}"],"rsaPublicKey":"${secret}"}}}`,
    `{"users":{"ann":{"secret":"${secret}","password":"${password}\\u0000"}}}`,
    `{"users":{"ann":{"secret":"${secret}","secret":"${password}"}}}`,
    secret,
  ];
  for (const [at, text] of configurations.entries()) {
    const path = join(directory, `configuration-${at}.json`);
    writeFileSync(path, text, { mode: 0o600 });
    outputs.push(await failing(['check', '--memory', '--config', path]));
  }
  for (const output of outputs) {
    assert.match(output, /^countersign: ./m);
    assertUnspoken(output, 'an error');
  }
});

test('a damaged users file, or one with another key, is rejected without showing its secrets', async () => {
  const directory = temporaryDirectory();
  const data = join(directory, 'data');
  const { stdout, stderr, status } = await call(['user', 'add', 'ann', '--data', data], {
    environment: { COUNTERSIGN_KEY: key },
  });
  assert.equal(status, 0, stderr);
  const made = Array.from(`${stdout}${stderr}`.matchAll(/[A-Za-z0-9_-]{40,}/g), ([each]) => each);
  assert.ok(made.length > 0, stdout);
  const plain = join(directory, 'plain');
  const second = await call(['user', 'add', 'ann', '--data', plain]);
  made.push(
    ...Array.from(`${second.stdout}${second.stderr}`.matchAll(/[A-Za-z0-9_-]{40,}/g), ([each]) => each),
  );
  const outputs = [
    await failing(['check', '--data', data], { COUNTERSIGN_KEY: 'd6'.repeat(32) }),
    await failing(['check', '--data', data]),
  ];
  const path = join(plain, 'users.json');
  const whole = readFileSync(path, 'utf8');
  const { length } = whole;
  for (const damaged of [
    whole.slice(0, length / 2),
    whole.slice(0, -3),
    whole.replace('"', ''),
    whole.replace(/"secrets?"/, '"secrte"'),
    whole.replace(/: *"([A-Za-z0-9_-]{40,})"/, ': $1'),
    whole.replace(/: *"([A-Za-z0-9_-]{40,})"/, ': ["$1"]'),
    `${whole}${whole}`,
  ]) {
    assert.notEqual(damaged, whole);
    writeFileSync(path, damaged, { mode: 0o600 });
    outputs.push(await failing(['check', '--data', plain]));
  }
  for (const output of outputs) for (const each of made) assert.equal(output.includes(each), false, output);
});

test('an internal error is reported only to onError, not in the response or the access log', async () => {
  const faults: unknown[] = [];
  const logged: unknown[] = [];
  const service = createControllableService({
    users: { ann: { secret } },
    explain: true,
    onError: (error) => faults.push(error),
    onRequest: (entry) => logged.push(entry),
    resources: {
      '/fault': {
        GET: action('anyone', async () => {
          throw new Error(`the database said ${token}`);
        }),
      },
    },
  });
  for (const fields of [[], [['Accept', 'application/json']]] as [string, string][][]) {
    const reply = await service.respond(createRequest({ method: 'GET', target: '/fault', headers: fields }));
    assert.equal(reply.status, 500);
    assertUnspoken(JSON.stringify([reply.headers, String(reply.body)]), 'the reply');
  }
  assert.equal(faults.length, 2);
  assertUnspoken(JSON.stringify(logged), 'the log');
  await service.close({ grace: 0 });
});

test('the search of a transcript finds secrets and signatures that were shown', () => {
  const directory = temporaryDirectory();
  const path = join(directory, '1.txt');
  const mark = '\u0001secret ';
  appendFileSync(path, `${mark}a long secret\n${mark}${sign('x')}\nHTTP/1.1 401\nnothing\n`);
  assert.deepEqual(searchTranscript(directory).leaks, []);
  assert.equal(searchTranscript(directory).secrets, 2);
  appendFileSync(join(directory, '2.txt'), `Authentication: hmac ann:${sign('x')}\n`);
  assert.equal(searchTranscript(directory).leaks.length, 1);
  appendFileSync(path, 'it was a long secret indeed\n');
  assert.equal(searchTranscript(directory).leaks.length, 2);
});
