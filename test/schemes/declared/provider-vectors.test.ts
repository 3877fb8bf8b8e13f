// Examples that providers publish, and computations by the recipes of their documentation.
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import type { KeyDeclaration } from '../../../src/accounts/account-key.ts';
import { createAccounts } from '../../../src/accounts/accounts.ts';
import type { AccountRecord } from '../../../src/accounts/user-declaration.ts';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { type DeclaredTest, openDeclared } from '../../support/schemes/clients/declared.ts';
import { keepSecret } from '../../support/transcript.ts';

interface Given {
  readonly url: string;
  readonly method?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function buildRequest({ url, method = 'POST', fields = {}, body }: Given): IncomingRequest {
  const { host, origin, protocol } = new URL(url);
  return createRequest({
    method,
    target: url.slice(origin.length) || '/',
    secure: protocol === 'https:',
    headers: [['Host', host], ...Object.entries(fields)],
    ...(body === undefined ? {} : { body: body }),
  });
}

function open(scheme: object, user: AccountRecord, at: number): DeclaredTest {
  for (const { secret } of user.secrets) keepSecret(secret);
  return openDeclared(scheme, { context: { accounts: createAccounts(new Map([['ann', user]])) }, at });
}

const withSecret = (secret: string): AccountRecord => ({ secrets: [{ secret }] });
const withKey = (id: string, key: KeyDeclaration): AccountRecord => ({ secrets: [], keys: { [id]: key } });

/** Fails unless a request is accepted, and one with other content is not. */
async function assertVerified(declared: DeclaredTest, given: Given): Promise<void> {
  assert.equal(await declared.verdictOn(buildRequest(given)), 'ann');
  const changed =
    given.body === undefined ? { url: given.url.replace(/(?<=[?&/])./, 'x') } : { body: ` ${given.body}` };
  assert.equal(await declared.verdictOn(buildRequest({ ...given, ...changed })), 'credentials-refused');
}

const json = { 'Content-Type': 'application/json' };

test('svix: the example of docs.svix.com, "Verifying Webhooks Manually", is verified', async () => {
  const declared = open(
    { preset: 'svix', user: 'ann' },
    withSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
    1_614_265_330_000,
  );
  await assertVerified(declared, {
    url: 'https://example.com/',
    fields: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
  });
});

describe('paddle: the examples of paddle-node-sdk, webhooks-validator.node.test.ts, are verified', () => {
  const hash = '28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261';
  for (const [body, signature] of [
    [
      '{"data": ["1", "2"]}',
      'ts=1698796800;h1=a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9',
    ],
    ['{"data": "value"}', `ts=1698796800;h1=${hash};h1=${hash};h2=RANDOM_HASH`],
  ] as const)
    test(body, async () => {
      const declared = open({ preset: 'paddle', user: 'ann' }, withSecret('VALID_SECRET'), 1_698_796_800_000);
      await assertVerified(declared, {
        url: 'https://example.com/',
        fields: { 'Paddle-Signature': signature },
        body,
      });
    });
});

const squareBody =
  '{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}';
const squareUrl = 'https://webhook.site/679a4f3a-dcfa-49ee-bac5-9d0edad886b9';
const squareFields = { 'x-square-hmacsha256-signature': 'GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4=' };

test('square: the example of square-nodejs-sdk, webhooks.test.ts, is verified', async () => {
  const declared = open({ preset: 'square', user: 'ann' }, withSecret('Ibxx_5AKakO-3qeNVR61Dw'), 0);
  await assertVerified(declared, { url: squareUrl, fields: squareFields, body: squareBody });
});

test('square: behind a proxy, the signed URL begins with the public origin', async () => {
  const declared = openDeclared(
    { preset: 'square', user: 'ann' },
    {
      context: {
        accounts: createAccounts(new Map([['ann', withSecret('Ibxx_5AKakO-3qeNVR61Dw')]])),
        publicOrigin: 'https://webhook.site',
      },
    },
  );
  const url = squareUrl.replace('https://webhook.site', 'http://127.0.0.1:8080');
  await assertVerified(declared, { url, fields: squareFields, body: squareBody });
  const other = openDeclared(
    { preset: 'square', user: 'ann' },
    { context: { accounts: createAccounts(new Map([['ann', withSecret('Ibxx_5AKakO-3qeNVR61Dw')]])) } },
  );
  const given = { url, fields: squareFields, body: squareBody };
  assert.equal(await other.verdictOn(buildRequest(given)), 'credentials-refused');
});

test('hubspot: a signature computed as documented for version 3 is verified, with decoded escapes', async () => {
  const secret = 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy';
  const time = 1_700_000_000_000;
  const body = '{"example_field":"example_value"}';
  const message = `POSThttps://www.example.com/webhook_uri?a=x@y:z&b=%26%20${body}${time}`;
  const fields = {
    'X-HubSpot-Request-Timestamp': String(time),
    'X-HubSpot-Signature-v3': createHmac('sha256', secret).update(message).digest('base64'),
  };
  const declared = open({ preset: 'hubspot', user: 'ann' }, withSecret(secret), time);
  const url = 'https://www.example.com/webhook_uri?a=x%40y%3Az&b=%26%20';
  await assertVerified(declared, { url, fields, body });
});

describe('a plain digest for HubSpot', () => {
  const secret = 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy';
  const digest = { algorithm: 'digest', signature: { field: 'X-HubSpot-Signature' }, user: 'ann' };
  const url = 'https://www.example.com/webhook_uri';
  const field = 'X-HubSpot-Signature';

  test('verifies the example of version 1', async () => {
    const body =
      '[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM","changeFlag":"NEW","appId":54321}]';
    const declared = open({ ...digest, message: '{secret}{body}' }, withSecret(secret), 0);
    const fields = { [field]: '232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de' };
    await assertVerified(declared, { url, fields, body });
  });

  test('verifies the examples of version 2, without and with content', async () => {
    const declared = open({ ...digest, message: '{secret}{method}{url}{body}' }, withSecret(secret), 0);
    const get = { [field]: 'eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e' };
    await assertVerified(declared, { url, method: 'GET', fields: get });
    const post = { [field]: '9569219f8ba981ffa6f6f16aa0f48637d35d728c7e4d93d0d52efaa512af7900' };
    await assertVerified(declared, { url, fields: post, body: '{"example_field":"example_value"}' });
  });
});

test('zendesk: a signature computed as documented is verified', async () => {
  const secret = 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==';
  const timestamp = '2021-03-25T05:09:27Z';
  const body = '{"hello":"world"}';
  const declared = open({ preset: 'zendesk', user: 'ann' }, withSecret(secret), Date.parse(timestamp));
  await assertVerified(declared, {
    url: 'https://example.com/webhook',
    fields: {
      'X-Zendesk-Webhook-Signature-Timestamp': timestamp,
      'X-Zendesk-Webhook-Signature': createHmac('sha256', secret)
        .update(timestamp + body)
        .digest('base64'),
    },
    body,
  });
});

test('discord: a signature computed as documented is verified', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const key = withKey('app', { algorithm: 'ed25519', publicKey: pem });
  const declared = open({ preset: 'discord', user: 'ann' }, key, 1_700_000_000_000);
  const body = '{"type":1}';
  await assertVerified(declared, {
    url: 'https://example.com/interactions',
    fields: {
      'X-Signature-Timestamp': '1700000000',
      'X-Signature-Ed25519': sign(null, Buffer.from(`1700000000${body}`), privateKey).toString('hex'),
    },
    body,
  });
});

test('sendgrid: the example of sendgrid-nodejs, eventwebhook.spec.js, is verified', async () => {
  const base64 =
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==';
  const publicKey = `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----`;
  const key = withKey('sendgrid', { algorithm: 'ecdsa-p256-sha256', publicKey });
  const declared = open({ preset: 'sendgrid', user: 'ann' }, key, 1_600_112_502_000);
  const event = {
    email: 'hello@world.com',
    event: 'dropped',
    reason: 'Bounced Address',
    sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
    sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
    'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
    timestamp: 1600112492,
  };
  await assertVerified(declared, {
    url: 'https://example.com/events',
    fields: {
      'X-Twilio-Email-Event-Webhook-Timestamp': '1600112502',
      'X-Twilio-Email-Event-Webhook-Signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
    },
    body: `${JSON.stringify([event])}\r\n`,
  });
});

describe('coinbase: a signature computed as documented', () => {
  const secret = Buffer.from('a secret of sixty-four bytes, as Coinbase Exchange makes them').toString(
    'base64',
  );
  const key = withKey('key-1', { algorithm: 'hmac-sha256', secret, passphrase: 'open sesame' });
  const signed = (timestamp: string, passphrase = 'open sesame') => ({
    url: 'https://api.exchange.coinbase.com/orders?limit=1',
    fields: {
      'CB-ACCESS-KEY': 'key-1',
      'CB-ACCESS-PASSPHRASE': passphrase,
      'CB-ACCESS-TIMESTAMP': timestamp,
      'CB-ACCESS-SIGN': createHmac('sha256', Buffer.from(secret, 'base64'))
        .update(`${timestamp}POST/orders?limit=1{"size":"0.01"}`)
        .digest('base64'),
    },
    body: '{"size":"0.01"}',
  });

  test('is verified with and without a fraction of the seconds', async () => {
    const declared = open({ preset: 'coinbase' }, key, 1_700_000_000_500);
    await assertVerified(declared, signed('1700000000'));
    await assertVerified(declared, signed('1700000000.481'));
  });

  test('gets a hint in the trace if the passphrase is another one', async () => {
    const declared = open({ preset: 'coinbase' }, key, 1_700_000_000_500);
    const trace = await declared.trace(buildRequest(signed('1700000000', 'guess')));
    assert.equal(trace.details['hint'], 'the passphrase is not that of the key');
  });
});

describe('binance: an order as in rest-api.md of binance-spot-api-docs', () => {
  const secret = 'NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j';
  const apiKey = 'vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A';
  const fields = { 'X-MBX-APIKEY': apiKey };
  const key = withKey(apiKey, { algorithm: 'hmac-sha256', secret });
  const time = 1_499_827_319_559;
  const at = (now: number) => open({ preset: 'binance' }, key, now);
  const order = 'https://api.binance.com/api/v3/order';
  const rest =
    'side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559';
  const ascii = 'c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71';
  const form = { ...fields, 'Content-Type': 'application/x-www-form-urlencoded' };

  for (const [symbol, signature] of [
    ['LTCBTC', ascii],
    ['LTCBTC', ascii.toUpperCase()],
    [
      '%EF%BC%91%EF%BC%92%EF%BC%93%EF%BC%94%EF%BC%95%EF%BC%96',
      'e1353ec6b14d888f1164ae9af8228a3dbd508bc82eb867db8ab6046442f33ef3',
    ],
  ])
    test(`is verified in the query: ${symbol} ${signature}`, async () => {
      const url = `${order}?symbol=${symbol}&${rest}&signature=${signature}`;
      assert.equal(await at(time).verdictOn(buildRequest({ url, fields })), 'ann');
      const other = url.replace('price=0.1', 'price=0.2');
      assert.equal(await at(time).verdictOn(buildRequest({ url: other, fields })), 'credentials-refused');
    });

  test('is verified in the form', async () => {
    const body = `symbol=LTCBTC&${rest}&signature=${ascii}`;
    await assertVerified(at(time), { url: order, fields: form, body });
  });

  test('is verified in the query and the form', async () => {
    const query = 'symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC';
    const own = 'quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559';
    const signature = createHmac('sha256', secret)
      .update(query + own)
      .digest('hex');
    await assertVerified(at(time), {
      url: `${order}?${query}`,
      fields: form,
      body: `${own}&signature=${signature}`,
    });
  });

  test('is accepted for recvWindow after the timestamp, and for less than a second before it', async () => {
    const url = `${order}?symbol=LTCBTC&${rest}&signature=${ascii}`;
    const verdict = (now: number) => at(now).verdictOn(buildRequest({ url, fields }));
    assert.equal(await verdict(time + 5000), 'ann');
    assert.equal(await verdict(time + 5001), 'date-out-of-window');
    assert.equal(await verdict(time - 999), 'ann');
    assert.equal(await verdict(time - 1000), 'date-out-of-window');
  });
});

test('mailgun: a signature computed as documented is verified once', async () => {
  const secret = 'key-0123456789abcdef0123456789abcdef';
  const timestamp = '1770920772';
  const token = 'e0b5477167110d68991efc6b9f89f0a11066af27834600e123';
  const signature = createHmac('sha256', secret)
    .update(timestamp + token)
    .digest('hex');
  const content = (own: object): Given => ({
    url: 'https://example.com/hooks',
    fields: json,
    body: JSON.stringify({
      signature: { timestamp, token, signature, ...own },
      'event-data': { event: 'opened' },
    }),
  });
  const declared = open({ preset: 'mailgun', user: 'ann' }, withSecret(secret), Number(timestamp) * 1000);
  const other = content({ token: token.replace('e0', 'e1') });
  assert.equal(await declared.verdictOn(buildRequest(other)), 'credentials-refused');
  assert.equal(await declared.verdictOn(buildRequest(content({}))), 'ann');
  assert.equal(await declared.verdictOn(buildRequest(content({}))), 'nonce-replayed');
});

test('adyen: the example of adyen-node-api-library, hmacValidator.spec.ts, is verified', async () => {
  const key = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
  const item = {
    pspReference: 'pspReference',
    originalReference: 'originalReference',
    merchantAccountCode: 'merchantAccount',
    merchantReference: 'reference',
    amount: { currency: 'EUR', value: 1000 },
    eventCode: 'REPORT_AVAILABLE',
    eventDate: '2019-09-21T11:45:24.637Z',
    paymentMethod: 'VISA',
    reason: 'reason',
    success: 'true',
    additionalData: { hmacSignature: 'ZNBPtI+oDyyRrLyD1XirkKnQgIAlFc07Vj27TeHsDRE=' },
  };
  const declared = open({ preset: 'adyen', user: 'ann' }, withSecret(key), 0);
  const given = (own: object): Given => ({
    url: 'https://example.com/adyen',
    fields: json,
    body: JSON.stringify({
      live: 'false',
      notificationItems: [{ NotificationRequestItem: { ...item, ...own } }],
    }),
  });
  assert.equal(await declared.verdictOn(buildRequest(given({}))), 'ann');
  const more = given({ amount: { currency: 'EUR', value: 100_000 } });
  assert.equal(await declared.verdictOn(buildRequest(more)), 'credentials-refused');
});
