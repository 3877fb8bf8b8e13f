import assert from 'node:assert/strict';
import { createHmac, sign } from 'node:crypto';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { longestRsa, longRsa, rsa } from '../../support/keys.ts';
import { openDeclared, startSeconds } from '../../support/schemes/clients/declared.ts';

const list = {
  message: '{timestamp}.{body}',
  signature: { field: 'S', format: 't={timestamp},v1={signature}' },
  separator: ',',
  user: 'ann',
};

function listed(signatures: readonly string[], timestamp = startSeconds): IncomingRequest {
  const value = [`t=${timestamp}`, ...signatures.map((signature) => `v1=${signature}`)].join(',');
  return createRequest({ method: 'POST', target: '/', headers: [['S', value]], body: 'c' });
}

const wrong = '0'.repeat(64);

test('with replay set to refuse, one of two valid signatures cannot be sent again alone', async () => {
  const users = new Map([
    ['ann', { secrets: [{ secret: 'secret after rotation' }, { secret: 'secret before rotation' }] }],
  ]);
  const declared = openDeclared({ ...list, replay: 'refuse' }, { users });
  const [first = '', second = ''] = ['secret after rotation', 'secret before rotation'].map((secret) =>
    createHmac('sha256', secret).update(`${startSeconds}.c`).digest('hex'),
  );
  assert.equal(await declared.verdictOn(listed([first, second])), 'ann');
  assert.equal(await declared.verdictOn(listed([second])), 'nonce-replayed');
});

test('keys are decoded as declared, after their prefix was removed', async () => {
  const bytes = Buffer.from('0123456789abcdef0123456789abcdef');
  for (const [key, text] of [
    ['hex', bytes.toString('hex')],
    ['base64', bytes.toString('base64')],
    ['base64', bytes.toString('base64url')],
    ['utf8', bytes.toString('utf8')],
  ] as const) {
    const declaration = { message: '{body}', key, keyPrefix: 'sk_', signature: { field: 'S' }, user: 'ann' };
    for (const secret of [`sk_${text}`, text]) {
      const declared = openDeclared(declaration, { users: new Map([['ann', { secrets: [{ secret }] }]]) });
      const signature = createHmac('sha256', bytes).update('c').digest('hex');
      const request = createRequest({
        method: 'POST',
        target: '/',
        headers: [['S', signature]],
        body: 'c',
      });
      assert.equal(await declared.verdictOn(request), 'ann', `${key} ${secret}`);
    }
  }
});

test('a secret that is not in the declared encoding verifies nothing, and the trace names the reason', async () => {
  const declaration = { message: '{body}', key: 'hex', signature: { field: 'S' }, user: 'ann' };
  const declared = openDeclared(declaration);
  const request = (): IncomingRequest =>
    createRequest({ method: 'POST', target: '/', headers: [['S', wrong]], body: 'c' });
  assert.equal(await declared.verdictOn(request()), 'credentials-refused');
  assert.equal((await declared.trace(request())).details['hint'], 'the secret of the user is not in hex');
});

test('a malformed form, and content that is not a form, are rejected if the message requires a form', async () => {
  const declared = openDeclared({ message: '{url}{form-sorted}', signature: { field: 'S' }, user: 'ann' });
  const signature = createHmac('sha256', 'the secret of ann').update('http://localhost/').digest('hex');
  const request = (content: string, type: string): IncomingRequest =>
    createRequest({
      method: 'POST',
      target: '/',
      headers: [
        ['S', signature],
        ['Content-Type', type],
      ],
      body: content,
    });
  const form = 'application/x-www-form-urlencoded';
  assert.equal(await declared.verdictOn(request('', form)), 'ann');
  assert.equal(await declared.verdictOn(request('a=%', form)), 'malformed-credentials');
  assert.equal(await declared.verdictOn(request('{}', 'application/json')), 'malformed-credentials');
  assert.equal(await declared.verdictOn(request('a=b', form)), 'credentials-refused');
});

test('a signed form is parsed only if it has at most 64 KiB and 1,000 parameters', async () => {
  const type: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
  const signed = (content: string, text: string, length = false): IncomingRequest => {
    const signature = createHmac('sha256', 'the secret of ann').update(text).digest('hex');
    const fields: [string, string][] = [type, ['S', signature]];
    if (length) fields.push(['Content-Length', String(content.length)]);
    return createRequest({ method: 'POST', target: '/', headers: fields, body: content });
  };
  const long = `a=${'x'.repeat(65_534)}`;
  const many = Array.from({ length: 1000 }, (_, at) => `p${1000 + at}=`).join('&');
  const sortedMany = many.replaceAll(/[=&]/g, '');
  for (const message of ['{form-sorted}', '{form-sorted}{body}']) {
    const declared = openDeclared({ message, signature: { field: 'S' }, user: 'ann' });
    const verdict = (content: string, sorted: string, length?: boolean): Promise<string> => {
      const text = message === '{form-sorted}' ? sorted : sorted + content;
      return declared.verdictOn(signed(content, text, length));
    };
    assert.equal(await verdict(long, long.replace('=', '')), 'ann');
    assert.equal(await verdict(many, sortedMany), 'ann');
    assert.equal(await verdict(`${long}x`, `${long}x`.replace('=', '')), 'content-too-large');
    assert.equal(await verdict(`${long}x`, '', true), 'content-too-large');
    assert.equal(await verdict(`${many}&z=`, `${sortedMany}z`), 'malformed-credentials');
  }
  const whole = openDeclared({ message: '{body}', signature: { field: 'S' }, user: 'ann' });
  assert.equal(await whole.verdictOn(signed(`${long}x`, `${long}x`)), 'ann');
});

test('each signature of a list is verified with every key of its algorithm, whatever length the first one has', async (context) => {
  const keys = [rsa, longRsa];
  const users = Object.fromEntries(
    keys.map(({ publicPem }, at) => [
      `user-${at}`,
      {
        keys: {
          [`key-${at}`]: {
            algorithm: 'rsa-v1_5-sha256' as const,
            publicKey: publicPem,
          },
        },
      },
    ]),
  );
  const double = await startDouble({
    https: false,
    users,
    schemes: {
      list: {
        message: '{method} {path}',
        algorithm: 'rsa-v1_5',
        encoding: 'base64',
        signature: { field: 'X-Sig' },
        separator: ',',
        user: { field: 'X-User' },
      },
    },
  });
  context.after(() => double.close());
  double.stub({ path: '/a' }, { body: {} });
  const signed = (key: (typeof keys)[number]): string =>
    sign('sha256', Buffer.from('GET /a'), key.privateKey).toString('base64');
  const send = async (user: string, ...signatures: readonly string[]): Promise<number> => {
    const headers = { 'X-User': user, 'X-Sig': signatures.join(',') };
    return (await double.fetch('/a', { headers })).status;
  };
  for (const [at, key] of keys.entries()) {
    const [own, other, strange] = [signed(key), signed(keys[1 - at] ?? key), signed(longestRsa)];
    for (const list of [[own], [own, strange], [strange, own], [other, own], [strange, other, own]])
      assert.equal(await send(`user-${at}`, ...list), 200, `${double.journal.last()}`);
    for (const list of [[strange], [other], [strange, other]])
      assert.equal(await send(`user-${at}`, ...list), 401);
  }
});
