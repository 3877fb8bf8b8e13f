// Requests as the documentation of Oracle Cloud Infrastructure signs them ("Request Signatures"), and its SDK for TypeScript, which
// sends x-date because a browser cannot set Date. Computed by node:crypto.
import assert from 'node:assert/strict';
import { createHash, sign } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { rsa } from '../../support/keys.ts';

const now = Date.UTC(2026, 10, 22, 12);
const keyId = 'ocid1.tenancy.oc1..aaaa/ocid1.user.oc1..bbbb/20:3b:97:13:55:1c';
const users = {
  ann: {
    secret: 'a secret of ann',
    keys: {
      [keyId]: {
        algorithm: 'rsa-v1_5-sha256' as const,
        publicKey: rsa.publicPem,
      },
    },
  },
};
const content = '{"compartmentId":"ocid1.compartment.oc1..cccc"}';
const base64Digest = (text: string): string => createHash('sha256').update(text).digest('base64');

async function open(context: TestContext, headers = ['date', '(request-target)', 'host']): Promise<Double> {
  const schemes = { 'draft-cavage': { headers } };
  const double = await startDouble({ https: false, now, users, schemes });
  context.after(() => double.close());
  double.stub({ method: ['GET', 'DELETE', 'PUT', 'POST'], path: '/20160918/volumes' }, { status: 204 });
  return double;
}

interface Sending {
  readonly method?: string;
  readonly dateField?: 'date' | 'x-date';
  readonly time?: number;
  readonly body?: string;
  /** The digest that is sent. Default: that of the content. */
  readonly digest?: string;
  /** The covered fields. Default: those of the documentation. */
  readonly covered?: readonly string[];
}

/** Sends a request as the SDK signs it, and returns the type of the answer. */
async function send(double: Double, sending: Sending): Promise<string> {
  const { method = 'GET', dateField = 'x-date', time = now, body } = sending;
  const digest = sending.digest ?? base64Digest(body ?? '');
  const own: Record<string, string> = {
    host: new URL(double.url).host,
    [dateField]: new Date(time).toUTCString(),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    ...(body !== undefined && { 'content-type': 'application/json', 'x-content-sha256': digest }),
  };
  const all = [dateField, '(request-target)', 'host'];
  if (body !== undefined) all.push('content-length', 'content-type', 'x-content-sha256');
  const covered = sending.covered ?? all;
  const target = '/20160918/volumes';
  const lines = covered.map((name) =>
    name === '(request-target)' ? `${name}: ${method.toLowerCase()} ${target}` : `${name}: ${own[name]}`,
  );
  const signature = sign('sha256', Buffer.from(lines.join('\n')), rsa.privateKey).toString('base64');
  const authorization = `Signature version="1",headers="${covered.join(' ')}",keyId="${keyId}",algorithm="rsa-sha256",signature="${signature}"`;
  // Over a socket, because fetch sends Content-Length: 0 with a PUT or POST without content.
  await fetch(double.url + target, {
    method,
    headers: { ...own, Authorization: authorization },
    ...(body === undefined ? {} : { body }),
  });
  return double.journal.last()?.problem?.type ?? 'accepted';
}

test('the SDK of Oracle Cloud is accepted with date or x-date, and with x-content-sha256', async (context) => {
  const double = await open(context);
  for (const dateField of ['date', 'x-date'] as const) {
    assert.equal(await send(double, { dateField }), 'accepted', `${double.journal.last()}`);
    const post = await send(double, { dateField, method: 'POST', body: content });
    assert.equal(post, 'accepted', `${double.journal.last()}`);
  }
});

test('x-date is judged as the date is', async (context) => {
  const double = await open(context);
  assert.equal(await send(double, { time: now - 300_000 }), 'accepted');
  assert.equal(await send(double, { time: now - 301_000 }), 'date-out-of-window');
  assert.equal(await send(double, { covered: ['(request-target)', 'host'] }), 'signature-insufficient');
});

test('the content must have the digest in x-content-sha256, and the signature must cover it', async (context) => {
  const double = await open(context);
  const post = { method: 'POST', body: content } as const;
  assert.equal(await send(double, { ...post, digest: base64Digest('other') }), 'digest-mismatch');
  const covered = ['x-date', '(request-target)', 'host', 'content-length', 'content-type'];
  assert.equal(await send(double, { ...post, covered }), 'digest-required');
});

test('Content-Length: 0 is no content that needs a digest', async (context) => {
  const double = await open(context);
  for (const [method, length] of [
    ['DELETE', undefined],
    ['PUT', '0'],
    ['POST', '0'],
  ] as const) {
    assert.equal(await send(double, { method }), 'accepted', `${double.journal.last()}`);
    const sent = double.journal.last()?.request.headers.find(([name]) => /^content-length$/i.test(name));
    assert.equal(sent?.[1], length);
  }
});

test('signRequest signs x-date and x-content-sha256 if the declaration names them', async (context) => {
  const headers = ['x-date', '(request-target)', 'host', 'x-content-sha256'];
  const double = await open(context, headers);
  const signed = signRequest({
    method: 'POST',
    url: `${double.url}/20160918/volumes`,
    body: content,
    scheme: { type: 'draft-cavage', headers },
    keyId,
    privateKey: rsa.privateKey,
    date: now,
  });
  assert.equal(signed['X-Content-SHA256'], base64Digest(content));
  assert.equal(signed['X-Date'], new Date(now).toUTCString());
  assert.ok(!('Digest' in signed) && !('Date' in signed));
  const host = new URL(double.url).host;
  await double.fetch('/20160918/volumes', {
    method: 'POST',
    headers: { Host: host, ...signed },
    body: content,
  });
  assert.deepEqual(double.journal.last()?.principal, { name: 'ann', scheme: 'draft-cavage' });
});
