import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { createRequest } from '../../src/http/message.ts';
import { openHouse, signed } from './house.ts';

const date = '29 feb 2024 12:00:00';
const stamp = '29feb202412:00:00';
const target = '/articles?limit=5';

function requestSigning(message: string, key: string | Buffer = 'ann-secret') {
  const digest = createHmac('sha256', key).update(message).digest('base64');
  const fields: [string, string][] = [
    ['Date', date],
    ['Authentication', `hmac ann:n1:${digest}`],
  ];
  return createRequest({ method: 'GET', target, fields });
}

const mistakes: [what: string, message: string, hint: RegExp, at: number][] = [
  ['the query left out', `GET+/articles+${stamp}+n1`, /query was left out/, 13],
  ['the spaces left in the date', `GET+${target}+${date}+n1`, /spaces were left in/, 24],
  ['a line feed at the end', `GET+${target}+${stamp}+n1\n`, /line feed/, 42],
  ['the method in lower case', `get+${target}+${stamp}+n1`, /lower case/, 0],
  ['the nonce left out', `GET+${target}+${stamp}`, /nonce was left out/, 39],
  ['date and nonce left out', `GET+${target}`, /date and nonce were left out/, 21],
  ['the month capitalised', `GET+${target}+29Feb202412:00:00+n1`, /another case/, 24],
];

for (const [what, message, hint, at] of mistakes) {
  test(`an explained refusal recognises ${what}`, async () => {
    const { members } = await openHouse({ explain: true }).problemWith(requestSigning(message));
    assert.equal(members['check'], 'digest');
    assert.equal(members['message'], `GET+${target}+${stamp}+n1`);
    assert.match(String(members['hint']), hint);
    assert.equal(members['signedMessage'], message);
    assert.equal(members['firstDifference'], at);
  });
}

test('an explained refusal recognises a secret that was decoded', async () => {
  const secret = Buffer.from('ann-secret', 'base64');
  const { members } = await openHouse({ explain: true }).problemWith(
    requestSigning(`GET+${target}+${stamp}+n1`, secret),
  );
  assert.match(String(members['hint']), /decoded as base64/);
});

test('an explained refusal has neither a secret nor a digest in it', async () => {
  const house = openHouse({ explain: true });
  const request = requestSigning('something else');
  const problem = await house.problemWith(request);
  const shown = JSON.stringify([problem.detail, problem.members, problem.fields]);
  assert.doesNotMatch(shown, /ann-secret/);
  assert.doesNotMatch(shown, /[A-Za-z0-9+/]{43}=/);
});

test('an explained refusal names the check for user, date and nonce', async () => {
  const house = openHouse({ explain: true });
  assert.equal((await house.problemWith(signed({ user: 'mallory' }))).members['check'], 'user');
  const stale = await house.problemWith(signed({ at: 0 }));
  assert.equal(stale.members['check'], 'date');
  assert.equal(stale.members['message'], 'GET+/articles+01jan197000:00:00+n1');
  await house.verdictOn(signed());
  assert.equal((await house.problemWith(signed())).members['check'], 'nonce');
});

test('without the option a refusal shows nothing of what was rebuilt', async () => {
  const { members } = await openHouse().problemWith(requestSigning('something else'));
  assert.deepEqual(members, {});
});
