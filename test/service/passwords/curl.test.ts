import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import { missing } from '../../support/net/program.ts';
import { password, target } from '../../support/service/test-server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { each, openBothWays } from '../passwords.ts';

const skip = missing('curl');
const run = promisify(execFile);

const authority = join(temporaryDirectory(), 'authority.pem');
const server = await openBothWays();
writeFileSync(authority, server.ca);
after(() => server.close());

/** The status that curl says, and how many requests it took. */
async function curl(secure: boolean, args: readonly string[]): Promise<string> {
  const origin = secure ? `https://localhost:${server.securePort}` : `http://127.0.0.1:${server.port}`;
  const fixed = ['--disable', '--silent', '--noproxy', '*', '--cacert', authority, '--output', '/dev/null'];
  const { stdout } = await run('curl', [
    ...fixed,
    '--write-out',
    '%{http_code}',
    ...args,
    `${origin}${target}`,
  ]);
  return stdout;
}

const right = `ann:${password}`;

/** What curl is told, and the status over TLS and over plain HTTP. */
const rows: readonly (readonly [name: string, args: readonly string[], secure: string, plain: string])[] = [
  ['the right password', ['--user', right], '200', '403'],
  ['the right password, said to be Basic', ['--basic', '--user', right], '200', '403'],
  // In the clear nobody asks for a password, so curl does not send one.
  ['the right password, by what the server asks for', ['--anyauth', '--user', right], '200', '401'],
  // By ALPN it would ask for http/1.0, which is not offered.
  ['the right password over HTTP/1.0', ['--http1.0', '--no-alpn', '--user', right], '200', '403'],
  ['a wrong password', ['--user', 'ann:wrong'], '401', '403'],
  ['a wrong password, by what the server asks for', ['--anyauth', '--user', 'ann:wrong'], '401', '401'],
  ['the right password by Digest', ['--digest', '--user', right], '401', '401'],
  ['the right password as a bearer token', ['--oauth2-bearer', password], '401', '403'],
];

each(
  rows.flatMap(([name, args, secure, plain]) => [
    [`curl with ${name} over TLS: ${secure}`, args, true, secure] as const,
    [`curl with ${name} over plain HTTP: ${plain}`, args, false, plain] as const,
  ]),
  async (_, [, args, secure, status]) => {
    const before = await server.state();
    assert.equal(await curl(secure, args), status);
    assert.equal(await server.state(), before);
  },
  skip,
);
