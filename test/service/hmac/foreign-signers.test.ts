import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { missing } from '../../support/net/program.ts';
import {
  date,
  formatRequest,
  openTestServer,
  outcome,
  secrets,
  target,
} from '../../support/service/test-server.ts';

const testServer = await openTestServer();
after(() => testServer.close());

/** Runs a program with the message on its standard input. */
function said(program: string, args: readonly string[], message: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { input: Buffer.from(message, 'latin1') });
  assert.equal(status, 0, stderr.toString());
  return stdout.toString('latin1');
}

const signers = {
  openssl(secret: string, message: string): string {
    const args = [
      'dgst',
      '-sha256',
      '-mac',
      'HMAC',
      '-macopt',
      `hexkey:${Buffer.from(secret).toString('hex')}`,
    ];
    const hex = /([0-9a-f]{64})\s*$/.exec(said('openssl', args, message))?.[1] ?? '';
    return Buffer.from(hex, 'hex').toString('base64');
  },
  python3(secret: string, message: string): string {
    const program =
      'import base64,hashlib,hmac,sys;m=sys.stdin.buffer.read();print(base64.b64encode(hmac.new(sys.argv[1].encode(),m,hashlib.sha256).digest()).decode())';
    return said('python3', ['-c', program, secret], message).trim();
  },
};

for (const [program, sign] of Object.entries(signers)) {
  test(`a signature by ${program} is accepted once, and only for its own request`, {
    skip: missing(program),
  }, async () => {
    const nonce = testServer.freshNonce();
    const stamp = date.replaceAll(' ', '');
    const bytes = (verb: string, sent: string): string => {
      const digest = sign(secrets.ann, `GET+${target}+${stamp}+${nonce}`);
      const lines = [`Authentication: hmac ann:${nonce}:${digest}`, `Date: ${date}`];
      return formatRequest({ verb, target: sent, lines });
    };
    assert.equal(await outcome(testServer.port, bytes('OPTIONS', target)), '401 credentials-refused');
    assert.equal(await outcome(testServer.port, bytes('GET', `${target}?a=1`)), '401 credentials-refused');
    assert.equal(await outcome(testServer.port, bytes('GET', target)), '200');
    assert.equal(await outcome(testServer.port, bytes('GET', target)), '401 nonce-replayed');
  });

  test(`a simple signature by ${program} is accepted`, { skip: missing(program) }, async () => {
    const digest = sign(secrets.ann, `GET+${target}`);
    assert.equal(
      await outcome(testServer.port, formatRequest({ lines: [`Authentication: hmac ann:${digest}`] })),
      '200',
    );
    const other = sign(secrets.bob, `GET+${target}`);
    assert.equal(
      await outcome(testServer.port, formatRequest({ lines: [`Authentication: hmac ann:${other}`] })),
      '401 credentials-refused',
    );
  });
}
