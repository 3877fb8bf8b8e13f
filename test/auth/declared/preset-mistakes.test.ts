// Mistakes with presets that no client of the catalogue makes.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { createRequest } from '../../../src/http/message.ts';
import { openDeclared, startSeconds } from '../../support/auth/declared.ts';

const secret = 'the secret';
const json = '{"a": 1}';
const url = 'https://example.com/hook?b=1&a=2';

function hmac(text: string, hash = 'sha256'): Buffer {
  return createHmac(hash, secret).update(text).digest();
}

const mistakes: readonly (readonly [
  preset: string,
  what: string,
  fields: Readonly<Record<string, string>>,
  body: string,
  hint: RegExp,
])[] = [
  [
    'github',
    'no prefix before the signature',
    { 'X-Hub-Signature-256': hmac(json).toString('hex') },
    json,
    /sent alone, without the text around it in sha256=\{signature\}/,
  ],
  [
    'zoom',
    'another separator',
    {
      'x-zm-request-timestamp': startSeconds,
      'x-zm-signature': `v0=${hmac(`v0:${startSeconds}.${json}`).toString('hex')}`,
    },
    json,
    /joined with "\."/,
  ],
  ['twilio', 'parameters that were not sorted', signedForm('b2ax y'), 'b=2&a=x+y', /not sorted/],
  [
    'twilio',
    'parameters joined with "=" and "&"',
    signedForm('a=x y&b=2'),
    'b=2&a=x+y',
    /joined with "=" and "&"/,
  ],
];

function signedForm(parameters: string): Record<string, string> {
  return {
    'X-Twilio-Signature': hmac(url + parameters, 'sha1').toString('base64'),
    'Content-Type': 'application/x-www-form-urlencoded',
  };
}

for (const [preset, what, fields, body, hint] of mistakes) {
  test(`${preset}: an explanation recognizes ${what}`, async () => {
    const users = new Map([['ann', { secrets: [{ secret }] }]]);
    const declared = openDeclared({ preset, user: 'ann' }, { users, context: { explain: true } });
    const headers = Object.entries({ Host: 'example.com', ...fields });
    const { members } = await declared.problemWith(
      createRequest({ method: 'POST', target: '/hook?b=1&a=2', headers, body, secure: true }),
    );
    assert.match(String(members['hint']), hint);
  });
}
