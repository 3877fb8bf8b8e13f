import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { openDeclared, startSeconds } from '../../support/auth/declared.ts';

function hmac(text: string, key: string, hash = 'sha256'): Buffer {
  return createHmac(hash, key).update(text).digest();
}

function posted(fields: Readonly<Record<string, string>>, body: string): IncomingRequest {
  const lines = Object.entries({ Host: 'example.com', ...fields });
  return createRequest({
    method: 'POST',
    target: '/hook?b=1&a=2',
    headers: lines,
    body: body,
    secure: true,
  });
}

const whsec = `whsec_${Buffer.from('a key of 32 bytes for webhooks!!').toString('base64')}`;
const form = 'b=2&a=x+y';
const json = '{"a": 1}';

const presetMistakes: [preset: string, what: string, own: string, request: IncomingRequest, hint: RegExp][] =
  [
    ...[
      ['not decoded', whsec.slice(6), /key was not decoded from base64/],
      ['used with its prefix', whsec, /prefix whsec_ was not removed/],
    ].map(([what, key, hint]): [string, string, string, IncomingRequest, RegExp] => [
      'standard-webhooks',
      `the key ${String(what)}`,
      whsec,
      posted(
        {
          'webhook-id': 'm1',
          'webhook-timestamp': startSeconds,
          'webhook-signature': `v1,${hmac(`m1.${startSeconds}.${json}`, String(key)).toString('base64')}`,
        },
        json,
      ),
      hint instanceof RegExp ? hint : /^$/,
    ]),
    [
      'stripe',
      'the prefix of the key removed',
      whsec,
      posted(
        {
          'Stripe-Signature': `t=${startSeconds},v1=${hmac(`${startSeconds}.${json}`, whsec.slice(6)).toString('hex')}`,
        },
        json,
      ),
      /prefix of the secret was removed/,
    ],
    [
      'stripe',
      'a message without the timestamp',
      whsec,
      posted({ 'Stripe-Signature': `t=${startSeconds},v1=${hmac(json, whsec).toString('hex')}` }, json),
      /timestamp was left out/,
    ],
    [
      'github',
      'JSON that was serialized again',
      'the secret',
      posted({ 'X-Hub-Signature-256': `sha256=${hmac('{"a":1}', 'the secret').toString('hex')}` }, json),
      /serialized again/,
    ],
    [
      'github',
      'no prefix before the signature',
      'the secret',
      posted({ 'X-Hub-Signature-256': hmac(json, 'the secret').toString('hex') }, json),
      /sent alone, without the text around it in sha256=\{signature\}/,
    ],
    [
      'slack',
      'a message without its version',
      'the secret',
      posted(
        {
          'X-Slack-Request-Timestamp': startSeconds,
          'X-Slack-Signature': `v0=${hmac(`${startSeconds}:${json}`, 'the secret').toString('hex')}`,
        },
        json,
      ),
      /"v0:" was left out/,
    ],
    [
      'slack',
      'a form that was decoded',
      'the secret',
      posted(
        {
          'X-Slack-Request-Timestamp': startSeconds,
          'X-Slack-Signature': `v0=${hmac(`v0:${startSeconds}:b=2&a=x y`, 'the secret').toString('hex')}`,
          'Content-Type': 'application/x-www-form-urlencoded',
        },
        form,
      ),
      /form was decoded/,
    ],
    [
      'zoom',
      'another separator',
      'the secret',
      posted(
        {
          'x-zm-request-timestamp': startSeconds,
          'x-zm-signature': `v0=${hmac(`v0:${startSeconds}.${json}`, 'the secret').toString('hex')}`,
        },
        json,
      ),
      /joined with "\."/,
    ],
    [
      'shopify',
      'content with a line feed',
      'the secret',
      posted({ 'X-Shopify-Hmac-Sha256': hmac(`${json}\n`, 'the secret').toString('base64') }, json),
      /line feed/,
    ],
    ...[
      [
        'http for https',
        'http://example.com/hook?b=1&a=2ax yb2',
        /http was signed, but the request arrived over https/,
      ],
      ['no query', 'https://example.com/hookax yb2', /query was left out/],
      ['parameters that were not sorted', 'https://example.com/hook?b=1&a=2b2ax y', /not sorted/],
      [
        'parameters joined with "=" and "&"',
        'https://example.com/hook?b=1&a=2a=x y&b=2',
        /joined with "=" and "&"/,
      ],
      [
        'the URL alone',
        'https://example.com/hook?b=1&a=2',
        /form were left out|form-sorted was left out|only the part url/,
      ],
    ].map(([what, signed, hint]): [string, string, string, IncomingRequest, RegExp] => [
      'twilio',
      String(what),
      'the token',
      posted(
        {
          'X-Twilio-Signature': hmac(String(signed), 'the token', 'sha1').toString('base64'),
          'Content-Type': 'application/x-www-form-urlencoded',
        },
        form,
      ),
      hint instanceof RegExp ? hint : /^$/,
    ]),
  ];

for (const [preset, what, own, request, hint] of presetMistakes) {
  test(`${preset}: an explanation recognizes ${what}`, async () => {
    const declared = openDeclared(
      { preset, user: 'ann' },
      { users: new Map([['ann', { secrets: [{ secret: own }] }]]), context: { explain: true } },
    );
    const { members } = await declared.problemWith(request);
    assert.match(String(members['hint']), hint);
  });
}
