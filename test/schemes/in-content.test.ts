// Schemes in code whose credentials stand in the content.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { createAttempts, createSigner } from '../../src/attack/index.ts';
import { signUrl } from '../../src/client/index.ts';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { defineScheme } from '../../src/index.ts';
import { keepSecret } from '../support/transcript.ts';

const secret = 'the-signing-key-of-a-sender';
keepSecret(secret);
const shopSecret = 'the-signing-key-of-a-shop';
keepSecret(shopSecret);
const hmac = (text: string, key = secret): string => createHmac('sha256', key).update(text).digest('hex');
const sign = (message: Buffer, key: Buffer): string =>
  createHmac('sha256', key).update(message).digest('hex');

interface Signed {
  readonly signature?: { readonly timestamp?: string; readonly token?: string; readonly signature?: string };
}

function parseJson({ body }: { readonly body: Buffer }): Signed {
  try {
    return JSON.parse(body.toString());
  } catch {
    return {};
  }
}

/** As Mailgun signs a webhook: time and token in the JSON that it posts. */
const inJson = defineScheme({
  json: ['/signature/timestamp', '/signature/token', '/signature/signature'],
  parse(request) {
    const { timestamp, token, signature } = parseJson(request).signature ?? {};
    return { user: 'mail', signature, nonce: token, date: Number(timestamp) * 1000 };
  },
  message: (_, { date, nonce }) => [
    ['time', String(Math.floor((date ?? 0) / 1000))],
    ['nonce', nonce ?? ''],
  ],
  sign,
  format: ({ date, nonce, signature }) => ({
    json: {
      '/signature/timestamp': String(Math.floor(date / 1000)),
      '/signature/token': nonce,
      '/signature/signature': signature,
    },
  }),
});

/** Parameters of a form, of which one is the signature of the others. */
const inForm = defineScheme({
  form: ['account', 'sig'],
  nonce: 'off',
  parse({ body }) {
    const form = new URLSearchParams(body.toString());
    return { user: form.get('account'), signature: form.get('sig') };
  },
  message({ body }) {
    const form = new URLSearchParams(body.toString());
    form.delete('sig');
    return [['form', form.toString()]];
  },
  sign,
  format: ({ user, signature }) => ({ form: { account: user, sig: signature } }),
});

async function open(options: DoubleOptions = {}): Promise<Double> {
  const users = { mail: { secret }, shop: { secret: shopSecret } };
  const double = await startDouble({
    ...options,
    https: false,
    users,
    schemes: { json: inJson, form: inForm },
  });
  double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
  after(() => double.close());
  return double;
}

const post = (double: Double, type: string, body: string): Promise<Response> =>
  fetch(`${double.url}/hook`, { method: 'POST', headers: { 'Content-Type': type }, body });

describe('credentials in JSON', () => {
  const write = (double: Double, signature: string, token = 'one'): string => {
    const timestamp = String(Math.floor(double.clock.now() / 1000));
    return JSON.stringify({ event: 'opened', signature: { timestamp, token, signature } });
  };
  const right = (double: Double, token = 'one'): string =>
    write(double, hmac(Math.floor(double.clock.now() / 1000) + token), token);

  test('are verified, and accepted once', async () => {
    const double = await open();
    double.clock.freeze('2026-03-01T12:00:00Z');
    const body = right(double);
    assert.equal((await post(double, 'application/json', body)).status, 204);
    assert.equal(double.journal.last().user, 'mail');
    assert.equal((await post(double, 'application/json', body)).status, 401);
    assert.equal(double.journal.last().problem?.type, 'nonce-replayed');
  });

  test('are written by a client and by the double', async () => {
    const double = await open();
    const signed = signUrl({
      url: `${double.url}/hook`,
      method: 'POST',
      scheme: inJson,
      user: 'mail',
      secret,
      body: '{"event":"opened","signature":{"parent":1}}',
    });
    const sent = Buffer.from(signed.body ?? '').toString();
    assert.deepEqual(Object.keys(JSON.parse(sent).signature), ['parent', 'timestamp', 'token', 'signature']);
    assert.equal((await post(double, 'application/json', sent)).status, 204);
    const response = await double.as('mail', { scheme: 'json' }).fetch('/hook', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"event":1}',
    });
    assert.equal(response.status, 204);
  });

  test('cannot be written into other content', () => {
    assert.throws(
      () =>
        signUrl({
          url: 'http://localhost/hook',
          method: 'POST',
          scheme: inJson,
          user: 'mail',
          secret,
          body: 'text',
        }),
      /the content is not JSON with the member \/signature\/timestamp/,
    );
  });
});

describe('credentials in a form', () => {
  const type = 'application/x-www-form-urlencoded';

  test('replace those of the form that is signed', async () => {
    const double = await open();
    const form = await double
      .as('shop', { scheme: 'form' })
      .fetch('/hook', { method: 'POST', headers: { 'Content-Type': type }, body: 'sig=old&total=5' });
    assert.equal(form.status, 204);
  });
});

test('places in the content are checked when a scheme is defined', () => {
  const good = { parse: () => ({ user: 'a', signature: 'b' }), message: () => [], sign: () => 'x' };
  const format = () => ({ json: { '/b': 'x' } });
  assert.throws(
    () => defineScheme({ ...good, json: ['b'], format }),
    /definition\.json\[0\]: "b" is not a name/,
  );
  assert.throws(
    () => defineScheme({ ...good, json: ['/a'], format }),
    /format sends the member \/b, which json does not name/,
  );
  assert.throws(
    () => defineScheme({ ...good, format }),
    /headers, query, json or form must name where the credentials are/,
  );
});

test('an adversary does not sign content', () => {
  assert.throws(
    () =>
      createAttempts({ url: 'http://localhost/' }, createSigner({ scheme: inJson, user: 'mail', secret })),
    /createSigner signs no requests with credentials in their content/,
  );
});
