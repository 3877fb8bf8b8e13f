import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import test from 'node:test';
import type { AccountRecord } from '../../../src/accounts/user-declaration.ts';
import { SigningKey } from '../../../src/hmac-sha256.ts';
import { createRequest } from '../../../src/http/message.ts';
import { openTestService, signedRequest, start } from '../../support/schemes/clients/service.ts';

const date = '29 feb 2024 12:00:00';
const stamp = '29feb202412:00:00';
const target = '/articles?limit=5';

function requestSigning(message: string, key: string | Buffer = 'ann-secret') {
  const digest = createHmac('sha256', key).update(message).digest('base64');
  const fields: [string, string][] = [
    ['Date', date],
    ['Authentication', `hmac ann:n1:${digest}`],
  ];
  return createRequest({ method: 'GET', target, headers: fields });
}

test('an explained refusal shows both messages, and where they differ', async () => {
  const message = `GET+/articles+${stamp}+n1`;
  const { members } = await openTestService({ explain: true }).problemWith(requestSigning(message));
  assert.equal(members['check'], 'digest');
  assert.equal(members['message'], `GET+${target}+${stamp}+n1`);
  assert.match(String(members['hint']), /query was left out/);
  assert.equal(members['signedMessage'], message);
  assert.equal(members['firstDifference'], 13);
});

/** A request of which a message is signed that is not the one that the server builds. */
interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly date?: string | null;
  readonly nonce?: string | null;
  readonly fields?: readonly [string, string][];
  readonly content?: string;
}

function sent(message: string, parts: Sent = {}, digest = hmac(message)) {
  const { method = 'GET', nonce = 'n1', content } = parts;
  const date0 = parts.date === undefined ? date : parts.date;
  const credentials = nonce === null ? `ann:${digest}` : `ann:${nonce}:${digest}`;
  const fields: [string, string][] = [...(parts.fields ?? []), ['Authentication', `hmac ${credentials}`]];
  if (date0 !== null) fields.push(['Date', date0]);
  const request = { method, target: parts.target ?? target, headers: fields };
  return createRequest(content === undefined ? request : { ...request, body: content });
}

function hmac(message: string, key: string | Buffer = 'ann-secret', algorithm = 'sha256'): string {
  return createHmac(algorithm, key).update(message, 'latin1').digest().subarray(0, 32).toString('base64');
}

const right = `GET+${target}+${stamp}+n1`;

/** The hint to a user with this secret who signs with this key. */
async function hintFor(secret: string, key: Buffer): Promise<string> {
  const service = openTestService({ explain: true, users: new Map([['ann', { secrets: [{ secret }] }]]) });
  return String((await service.problemWith(sent(right, {}, hmac(right, key)))).members['hint']);
}

const sixteen = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const wholly: [what: string, secret: string, key: Buffer, hint: RegExp][] = [
  ['hexadecimal', sixteen, Buffer.from(sixteen, 'hex'), /decoded from hexadecimal/],
  ['hexadecimal in capitals', sixteen.toUpperCase(), Buffer.from(sixteen, 'hex'), /decoded from hexadecimal/],
  ['base64', 'YW5uJ3Mgc2VjcmV0IGlzIGxvbmc=', Buffer.from("ann's secret is long"), /decoded from base64/],
  ['bare base64', 'YW5uJ3Mgc2VjcmV0IGlzIGxvbmc', Buffer.from("ann's secret is long"), /decoded from base64/],
  [
    'base64url',
    '-_-_YW5uJ3Mgc2VjcmV0IGlzIGxvbmc',
    Buffer.from('-_-_YW5uJ3Mgc2VjcmV0IGlzIGxvbmc', 'base64url'),
    /decoded from base64/,
  ],
  ['white space cut off', ' sixteen letters. ', Buffer.from('sixteen letters.'), /white space/],
  ['Latin-1', 'sixteen letters \u00e9', Buffer.from('sixteen letters \u00e9', 'latin1'), /Latin-1/],
];

for (const [what, secret, key, hint] of wholly)
  test(`an explained refusal recognises a secret of 16 bytes or more that was decoded: ${what}`, async () =>
    assert.match(await hintFor(secret, key), hint));

const inPart: [what: string, secret: string, key: Buffer][] = [
  ['nothing of it is hexadecimal', 'my secret that is long enough', Buffer.alloc(0)],
  ['its first two letters are hexadecimal', 'be careful with this secret', Buffer.from('be', 'hex')],
  ['its first 32 letters are hexadecimal', `${sixteen}z`, Buffer.from(sixteen, 'hex')],
  ['its last letter is half a byte', `${sixteen}0`, Buffer.from(sixteen, 'hex')],
  ['it is hexadecimal of 15 bytes', sixteen.slice(2), Buffer.from(sixteen.slice(2), 'hex')],
  ['it is base64 of 15 bytes', 'A'.repeat(20), Buffer.alloc(15)],
  ['there are marks that base64 passes over', `!!${'A'.repeat(22)}??`, Buffer.alloc(16)],
  ['there is no base64 in it', '\u017e\u017e\u017e\u017e', Buffer.alloc(0)],
  ['it is base64 with bits left over', 'A'.repeat(21).concat('B'), Buffer.alloc(16)],
  ['it is white space', ' '.repeat(40), Buffer.alloc(0)],
  ['a letter between white space is left', `${' '.repeat(40)}a`, Buffer.from('a')],
  ['its letters are not in Latin-1', '\u0161'.repeat(20), Buffer.from('a'.repeat(20))],
];

for (const [what, secret, key] of inPart) {
  test(`the hints reveal no part of a secret: ${what}`, async () => {
    // A key of zeros is that of an empty secret, which is named to everybody.
    const general = /the user does not exist, the secret is different|the secret was empty/;
    assert.match(await hintFor(secret, key), general);
  });
}

const diverse = new Map<string, AccountRecord>([
  ['one', { secrets: [{ secret: 'the secret of one' }] }],
  ['two', { secrets: [{ secret: 'the secret of two' }, { secret: 'another of two' }] }],
  ['old', { secrets: [{ secret: 'the old secret', until: start }] }],
  ['hex', { secrets: [{ secret: sixteen }] }],
  ['nil', { secrets: [] }],
  ['off', { secrets: [{ secret: 'the secret of off' }], disabled: true }],
  ['pwd', { secrets: [], password: { plain: 'a password' } }],
]);

/** What somebody can send who knows the source of the server, and no secret. */
const guesses: [what: string, digest: string][] = [
  ['a secret', hmac(right, 'guessed')],
  ['no secret', hmac(right, '')],
  ['a line feed', hmac(right, '\n')],
  ['a placeholder for a missing secret', hmac(right, 'no one has this secret')],
  ['the same, mistaken', hmac(right, 'no one has this secret\n')],
  ['the same, for another message', hmac(`GET+${target}`, 'no one has this secret')],
  ['the message without HMAC', createHash('sha256').update(right).digest('base64')],
  ['another message without HMAC', createHash('sha256').update(`GET+${target}`).digest('base64')],
];

for (const [what, digest] of guesses) {
  test(`an explained refusal is the same for known and unknown users if a client guesses ${what}`, async (context) => {
    const digests = context.mock.method(SigningKey.prototype, 'digest');
    const service = openTestService({ explain: true, users: diverse });
    const shown = new Set<string>();
    for (const user of [...diverse.keys(), 'who']) {
      const before = digests.mock.callCount();
      const request = sent(right, {}, digest);
      const fields: [string, string][] = [
        ['Date', date],
        ['Authentication', `hmac ${user}:n1:${digest}`],
      ];
      const problem = await service.problemWith(
        createRequest({ method: 'GET', target: request.target, headers: fields }),
      );
      const work = digests.mock.callCount() - before;
      const { type, status, title, detail, members } = problem;
      shown.add(JSON.stringify([type, status, title, detail, members, problem.headers, work]));
    }
    assert.equal(shown.size, 1, [...shown].join('\n'));
  });
}

test('without the option, a refusal reveals neither the failed check nor whether the user exists', async () => {
  const service = openTestService();
  await service.verdictOn(signedRequest({ nonce: 'used' }));
  const refusals = [
    signedRequest({ secret: 'guessed' }),
    signedRequest({ secret: 'guessed', at: 0 }),
    signedRequest({ secret: 'guessed', nonce: 'used' }),
    signedRequest({ user: 'mallory', secret: 'guessed' }),
    signedRequest({ secret: 'guessed', form: 'simple' }),
    sent(`GET+/articles+${stamp}+n1`),
    sent(right, {}, hmac(right, 'ann-secret\n')),
  ];
  const shown = new Set<string>();
  for (const request of refusals) {
    const { type, detail, members, headers: fields, status, title } = await service.problemWith(request);
    shown.add(JSON.stringify([type, status, title, detail, members, fields]));
  }
  assert.equal(shown.size, 1, [...shown].join('\n'));
});
