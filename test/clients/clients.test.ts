import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createService } from '../../src/index.ts';
import { rsa } from '../support/keys.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { keepSecret } from '../support/transcript.ts';

const user = { name: 'ann', secret: 'Q7-hushed-oauth-secret', password: 'Q7-hushed oauth:password' };
const client = { id: 'app', secret: 'Q7-hushed-client-secret' };
const consumer = { key: 'key1', secret: 'Q7-hushed-consumer-secret' };
const callback = 'https://client.example/cb?known=1';
for (const each of [user.secret, user.password, client.secret, consumer.secret]) keepSecret(each);

/** One library gives the URI that it was called back at, without its query. */
const plainCallback = 'https://client.example/back';
const redirectUris = [callback, plainCallback];
const service = createService({
  users: { [user.name]: { secret: user.secret, password: user.password } },
  clients: {
    [client.id]: {
      secret: client.secret,
      redirectUris,
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: ['read', 'write'],
      users: '*',
    },
    open: { redirectUris },
  },
  consumers: {
    [consumer.key]: {
      secret: consumer.secret,
      callbacks: [callback, 'oob'],
      methods: ['HMAC-SHA256', 'HMAC-SHA1', 'PLAINTEXT'],
      scopes: ['read', 'write'],
    },
    rsa: {
      rsaPublicKey: rsa.publicPem,
      callbacks: [callback],
      methods: ['RSA-SHA1'],
      scopes: ['read', 'write'],
    },
  },
});
const identity = makeIdentity();
const { url: base } = await service.listen({ tls: identity });
const directory = temporaryDirectory();
const ca = join(directory, 'ca.pem');
const rsaFile = join(directory, 'rsa.pem');
writeFileSync(ca, identity.cert);
writeFileSync(rsaFile, rsa.privatePem);
after(async () => {
  await service.close({ grace: 0 });
});

const here = import.meta.dirname;
const environment = {
  ...process.env,
  NODE_OPTIONS: '',
  NODE: process.execPath,
  NODE_EXTRA_CA_CERTS: ca,
  REQUESTS_CA_BUNDLE: ca,
  CA_FILE: ca,
  BASE: base,
  USER_NAME: user.name,
  USER_PASSWORD: user.password,
  APPROVE: join(here, 'approve.mjs'),
  CLIENT_ID: client.id,
  CLIENT_SECRET: client.secret,
  PUBLIC_ID: 'open',
  REDIRECT_URI: callback,
  PLAIN_REDIRECT_URI: plainCallback,
  CONSUMER_KEY: consumer.key,
  CONSUMER_SECRET: consumer.secret,
  CALLBACK: callback,
  RSA_KEY: 'rsa',
  RSA_FILE: rsaFile,
  PYTHONDONTWRITEBYTECODE: '1',
};

/** What runs a program, and how it is seen whether it and its library are there. */
interface Runner {
  readonly command: string;
  readonly given: (program: string) => readonly string[];
  readonly probe: (library: string) => readonly string[];
}

const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const runners: Readonly<Record<string, Runner>> = {
  mjs: {
    command: process.execPath,
    given: (program) => [program],
    probe: (library) => [
      '-e',
      `require('node:fs').statSync(${JSON.stringify(join(here, 'node_modules', library))})`,
    ],
  },
  py: {
    command: python,
    given: (program) => [program],
    probe: (library) => ['-c', `import ${library}, requests`],
  },
  sh: { command: 'sh', given: (program) => [program], probe: (library) => ['-c', `command -v ${library}`] },
  pl: { command: 'perl', given: (program) => [program], probe: (library) => [`-M${library}`, '-e', '1'] },
  rb: { command: 'ruby', given: (program) => [program], probe: (library) => ['-e', `require '${library}'`] },
};

function isInstalled({ command, probe }: Runner, library: string): boolean {
  try {
    execFileSync(command, probe(library), { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const run = promisify(execFile);

/** Each client: its program here, the library that it is of, and how many steps it gets through. */
const programs: readonly (readonly [program: string, library: string, steps: number])[] = [
  ['oauth4webapi.mjs', 'oauth4webapi', 10],
  ['openid-client.mjs', 'openid-client', 8],
  ['simple-oauth2.mjs', 'simple-oauth2', 10],
  ['oauth.mjs', 'oauth', 5],
  ['oauth-1.0a.mjs', 'oauth-1.0a', 6],
  ['requests_oauthlib_2.py', 'requests_oauthlib', 6],
  ['requests_oauthlib_1.py', 'requests_oauthlib', 11],
  ['authlib_2.py', 'authlib', 7],
  ['authlib_1.py', 'authlib', 6],
  ['curl.sh', 'curl', 3],
  ['net-oauth.pl', 'Net::OAuth', 2],
  ['ruby-oauth.rb', 'oauth', 2],
];

describe('an independent client completes every flow that it supports', {
  concurrency: 2,
}, () => {
  for (const [program, library, steps] of programs) {
    test(program, async (context) => {
      const runner = runners[program.slice(program.lastIndexOf('.') + 1)];
      assert.ok(runner !== undefined);
      if (!isInstalled(runner, library)) return context.skip(`${library} is not installed`);
      const { stdout } = await run(runner.command, runner.given(join(here, program)), { env: environment });
      const done: unknown = JSON.parse(stdout);
      assert.ok(Array.isArray(done));
      assert.equal(done.length, steps, stdout);
    });
  }
});

test('each program of the table exists', () => {
  for (const [program] of programs) assert.ok(readFileSync(join(here, program), 'utf8').length > 100);
});
