import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accessToken,
  ask,
  type Credentials,
  openTestService,
  type Signing,
  startSecond,
} from '../../support/oauth/consumer.ts';
import type { Server } from '../../support/oauth/server.ts';

/** A fault, the problem that it is refused with, and how it comes into a request that is good otherwise. */
interface Fault {
  readonly check: string;
  readonly problem: string;
  readonly protocol?: Readonly<Record<string, string | undefined>>;
  readonly secret?: string;
  before?(server: Server, good: Signing): unknown;
}

const target = '/users/ann/financialrecords';

/** In the order in which they are looked for. */
const faults: readonly Fault[] = [
  { check: 'parse', problem: 'parameter_rejected', protocol: { oauth_unknown: 'x' } },
  { check: 'version', problem: 'version_rejected', protocol: { oauth_version: '2.0' } },
  { check: 'presence', problem: 'parameter_absent', protocol: { oauth_consumer_key: '' } },
  { check: 'method', problem: 'signature_method_rejected', protocol: { oauth_signature_method: 'HMAC-MD5' } },
  { check: 'signature', problem: 'signature_invalid', secret: 'wrong' },
  { check: 'token', problem: 'token_rejected', before: ({ service }) => service.replaceUsers({}) },
  { check: 'timestamp', problem: 'timestamp_refused', protocol: { oauth_timestamp: '1' } },
  { check: 'content', problem: 'parameter_rejected', protocol: { oauth_body_hash: 'x' } },
  { check: 'nonce', problem: 'nonce_used', before: (server, good) => ask(server, good) },
];

async function requestRefusal(one: Fault, other: Fault): Promise<string> {
  const server = openTestService();
  const token: Credentials = await accessToken(server);
  const protocol = { oauth_nonce: 'n', oauth_timestamp: String(startSecond) };
  const good = { method: 'GET', target, token, protocol };
  // A nonce is used up while the user is still there.
  for (const { before } of [other, one]) await before?.(server, good);
  const secret = one.secret ?? other.secret;
  const bad = { ...good, protocol: { ...protocol, ...other.protocol, ...one.protocol } };
  const refused = await ask(server, secret === undefined ? bad : { ...bad, secret });
  return /oauth_problem="([a-z_]+)"/.exec(refused.field('WWW-Authenticate'))?.[1] ?? String(refused.status);
}

for (const [at, one] of faults.entries()) {
  for (const other of faults.slice(at)) {
    test(`${one.check} is checked before ${other === one ? 'all that follows' : other.check}`, async () => {
      assert.equal(await requestRefusal(one, other), one.problem);
    });
  }
}
