import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { createRequest, type IncomingRequest, type RequestParts } from '../../../src/http/message.ts';
import { createKey } from '../../../src/schemes/hmac/credentials.ts';
import type { Nonces } from '../../../src/schemes/nonce-claim.ts';
import { openDeclared, start, startSeconds } from '../../support/schemes/clients/declared.ts';
import { keepSecret } from '../../support/transcript.ts';

const partner = {
  message: '{timestamp}.{method}.{target}.{nonce}.{body}',
  signature: { field: 'X-Signature', format: 'v1={signature}' },
  user: { field: 'X-Api-Key' },
  timestamp: { field: 'X-Timestamp' },
  nonce: { field: 'X-Nonce' },
};

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly user?: string;
  readonly secret?: string;
  readonly timestamp?: string;
  readonly nonce?: string;
  readonly content?: string | Uint8Array;
  /** Signed instead of the content. */
  readonly signed?: string;
  readonly fields?: [string, string][];
  /** Replaces the field lines of these names. */
  readonly replaced?: Readonly<Record<string, string | undefined>>;
}

/** A request signed with node:crypto. */
function sent(parts: Sent = {}): IncomingRequest {
  const {
    method = 'POST',
    target = '/a?b=1',
    user = 'ann',
    timestamp = startSeconds,
    nonce = 'n1',
    content,
  } = parts;
  const { secret = `the secret of ${user}`, signed = content ?? '' } = parts;
  const message = Buffer.concat([
    Buffer.from(`${timestamp}.${method}.${target}.${nonce}.`, 'latin1'),
    Buffer.from(signed),
  ]);
  const signature = createHmac('sha256', secret).update(message).digest('hex');
  keepSecret(secret);
  const lines: Record<string, string | undefined> = {
    'X-Api-Key': user,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': `v1=${signature}`,
    ...parts.replaced,
  };
  const fields = Object.entries(lines).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const request: RequestParts = { method, target, headers: [...fields, ...(parts.fields ?? [])] };
  return createRequest(content === undefined ? request : { ...request, body: content });
}

test('the exact bytes of the content are signed, even if they are not UTF-8', async () => {
  const declared = openDeclared(partner);
  const content = Uint8Array.from({ length: 256 }, (_, at) => at);
  assert.equal(await declared.verdictOn(sent({ content })), 'ann');
  const other = Uint8Array.from(content, (byte) => (byte === 0xfe ? 0xff : byte));
  assert.equal(
    await declared.verdictOn(
      sent({ content: other, signed: Buffer.from(content).toString('utf8'), nonce: 'n2' }),
    ),
    'credentials-refused',
  );
});

test('each user can use a nonce once', async () => {
  const declared = openDeclared(partner);
  assert.equal(await declared.verdictOn(sent()), 'ann');
  assert.equal(await declared.verdictOn(sent()), 'nonce-replayed');
  assert.equal(await declared.verdictOn(sent({ user: 'bob' })), 'bob');
  declared.clock.advance(1000);
  assert.equal(await declared.verdictOn(sent({ timestamp: String(start / 1000 + 1) })), 'nonce-replayed');
});

test('a timestamp may differ from the clock by the window in both directions, in whole seconds', async () => {
  const declared = openDeclared(partner, { at: start + 999 });
  const at = (seconds: number): string => String(start / 1000 + seconds);
  assert.equal(await declared.verdictOn(sent({ timestamp: at(-300), nonce: 'a' })), 'ann');
  assert.equal(await declared.verdictOn(sent({ timestamp: at(300), nonce: 'b' })), 'ann');
  assert.equal(await declared.verdictOn(sent({ timestamp: at(-301), nonce: 'c' })), 'date-out-of-window');
  assert.equal(await declared.verdictOn(sent({ timestamp: at(301), nonce: 'd' })), 'date-out-of-window');
});

test('a nonce is stored until its timestamp is outside the window', async () => {
  const declared = openDeclared(partner);
  const timestamp = String(start / 1000 + 300);
  assert.equal(await declared.verdictOn(sent({ timestamp })), 'ann');
  declared.clock.advance(600_999);
  assert.equal(await declared.verdictOn(sent({ timestamp })), 'nonce-replayed');
  declared.clock.advance(1);
  assert.equal(await declared.verdictOn(sent({ timestamp })), 'date-out-of-window');
});

test('a nonce is claimed unchanged, for all schemes of the user, until the nonce window of its timestamp ends', async () => {
  const claims: unknown[] = [];
  const nonces: Nonces = {
    claim(...claim) {
      claims.push(claim);
      return 'fresh';
    },
  };
  const context = { nonces, nonceWindow: 400_000 };
  await openDeclared(partner, { context }).verdictOn(sent());
  const inMs = { ...partner, timestamp: { field: 'X-Timestamp', unit: 'ms' } };
  await openDeclared(inMs, { context }).verdictOn(sent({ timestamp: String(start) }));
  assert.deepEqual(claims, [
    ['ann', 'n1', start + 400_999, start],
    ['ann', 'n1', start + 400_000, start],
  ]);
});

test('a timestamp before the start of a server that does not know earlier nonces is refused', async () => {
  const declared = openDeclared(partner, { context: { notBefore: start + 500 } });
  assert.equal(await declared.verdictOn(sent({ timestamp: String(start / 1000 - 1) })), 'date-out-of-window');
  assert.equal(await declared.verdictOn(sent()), 'ann');
});

test('the content of a request is not read if its fields show that it is refused', async () => {
  const declared = openDeclared(partner);
  for (const changes of [
    { replaced: { 'X-Timestamp': undefined } },
    { replaced: { 'X-Signature': 'v1=00' } },
    { replaced: { 'X-Nonce': '' } },
    { replaced: { 'X-Api-Key': undefined } },
    { timestamp: '1' },
  ]) {
    const request = sent({ content: 'x', ...changes });
    const refuse = async (): Promise<never> => assert.fail('the content was read');
    const unread = { ...request, body: { present: true, consume: refuse, hold: refuse } };
    assert.notEqual(await declared.verdictOn(unread), 'ann');
  }
});

test('content that is longer than the limit is rejected as too large', async () => {
  const declared = openDeclared(partner, { context: { bodyLimit: 10 } });
  assert.equal(await declared.verdictOn(sent({ content: '12345678901' })), 'content-too-large');
});

test('every secret of a user is valid, even if there are more than two', async () => {
  const users = new Map([['ann', { secrets: ['one', 'two', 'three'].map((secret) => ({ secret })) }]]);
  const declared = openDeclared(partner, { users });
  assert.equal(await declared.verdictOn(sent({ secret: 'three' })), 'ann');
});

test('the field of the user can contain the id of a key with its own secret', async () => {
  const key = { id: 'key-1', algorithm: 'hmac-sha256', secret: createKey('secret of the key') } as const;
  const other = { id: 'key-2', algorithm: 'aws4', secret: createKey('secret of the key') } as const;
  const expired = {
    id: 'key-3',
    algorithm: 'hmac-sha256',
    secret: createKey('secret of the key'),
    until: start,
  } as const;
  const declared = openDeclared(partner, { keys: { ann: [key, other, expired] } });
  const verdict = (user: string, secret: string): Promise<string> =>
    declared.verdictOn(sent({ user, secret, nonce: user }));
  assert.equal(await verdict('key-1', 'secret of the key'), 'ann');
  assert.equal(await verdict('ann', 'secret of the key'), 'credentials-refused');
  assert.equal(await verdict('key-2', 'secret of the key'), 'credentials-refused');
  assert.equal(await verdict('key-3', 'secret of the key'), 'credentials-refused');
});

test('a timestamp that expires while the content arrives is refused', async () => {
  const declared = openDeclared(partner);
  const request = sent({ content: 'x', timestamp: String(start / 1000 - 300) });
  const hold = (limit: number): Promise<Uint8Array> => {
    declared.clock.advance(1000);
    return request.body.hold(limit);
  };
  const { present, consume } = request.body;
  assert.equal(
    await declared.verdictOn({ ...request, body: { present, consume, hold } }),
    'date-out-of-window',
  );
});

test('the trace lists the checks that were passed, and the one that failed', async () => {
  const declared = openDeclared(partner);
  const passed = await declared.trace(sent());
  assert.deepEqual(
    [passed.passed, passed.failedAt],
    [['parse', 'user', 'signature', 'date', 'nonce'], undefined],
  );
  const failures: [IncomingRequest, string[], string][] = [
    [sent(), ['parse', 'user', 'signature', 'date'], 'nonce'],
    [sent({ secret: 'guessed' }), ['parse', 'user'], 'signature'],
    [sent({ user: 'eve' }), ['parse'], 'user'],
    [sent({ timestamp: '1' }), [], 'date'],
    [sent({ replaced: { 'X-Nonce': undefined } }), [], 'parse'],
  ];
  for (const [request, checks, failedAt] of failures) {
    const trace = await declared.trace(request);
    assert.deepEqual([trace.passed, trace.failedAt], [checks, failedAt]);
  }
});

test('the user that a request names can be read without verifying it', () => {
  const { scheme } = openDeclared(partner);
  assert.equal(scheme.claimedUser?.('', sent()), 'ann');
  assert.equal(scheme.claimedUser?.('', sent({ replaced: { 'X-Api-Key': 'Zo\u00c3\u00ab' } })), 'Zo\u00eb');
  assert.equal(scheme.claimedUser?.('', sent({ replaced: { 'X-Api-Key': 'Zo\u00c3' } })), undefined);
});
