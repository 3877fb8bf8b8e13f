import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeTarget, callback, openServer, verifier } from '../../support/oauth/server.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';

const names = [
  ...['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope', 'token'],
  ...['token_type_hint', 'client_id', 'client_secret', 'consent_ticket', 'decision', 'state'],
  ...['response_type', 'code_challenge', 'code_challenge_method', '__proto__', 'constructor', ''],
];
const values = [
  ...['', 'app', 'robot', 'phone', 'client_credentials', 'authorization_code', 'refresh_token'],
  ...['password', 'read', 'write', 'read write', 'allow', 'deny', 'code', 'S256', 'plain'],
  callback,
  verifier,
  'app-secret-0123456789',
  'robot-secret-0123456789',
  'x'.repeat(43),
  'x'.repeat(5000),
  '\0',
  '\r\nX: y',
  '%',
  'ü😀',
  '__proto__',
  'toString',
];

function form(random: Seeded): string {
  const pairs = Array.from({ length: random.below(9) }, (): [string, string] => [
    random.pick(names),
    random.pick(values),
  ]);
  const text = new URLSearchParams(pairs).toString();
  // Now and then something that does not decode.
  return random.below(10) === 0 ? text.replace(/[a-z]/, '%F') : text;
}

test('every random request to an endpoint gets an expected status code and causes no error', async () => {
  const random = seeded();
  const faults: unknown[] = [];
  const server = openServer({ onError: (error) => faults.push(error) });
  const basics = [
    '',
    'ann:ann-password',
    'robot:robot-secret-0123456789',
    'app:app-secret-0123456789',
    'x',
    ':',
  ];
  const expected = new Set([200, 303, 400, 401]);
  const statuses = new Set<number>();
  // Until each status was seen, since a rare one may not be among the first.
  const isComplete = (): boolean => [...expected].every((status) => statuses.has(status));
  for (let run = 0; run < 800 || (run < 20_000 && !isComplete()); run += 1) {
    const basic = random.pick(basics);
    const endpoint = random.pick(['token', 'revoke', 'introspect', 'authorize']);
    const asks = endpoint === 'authorize' && random.below(2) === 0;
    const query = random.below(8) === 0 ? `?${form(random)}` : '';
    const target = asks
      ? `${authorizeTarget()}&${form(random)}`.slice(0, 8000)
      : `/oauth2/${endpoint}${query}`;
    const sending = { basic: basic === '' ? undefined : basic, ...(asks ? {} : { form: form(random) }) };
    const { status } = await server.ask(asks ? 'GET' : 'POST', target.replace(/%.?$/, ''), sending);
    const seen = `seed ${random.seed}, run ${run}: ${status}`;
    assert.deepEqual(faults, [], seen);
    // A target cut in the middle of an escape, or with an escape that is none, is 400 before it comes to an endpoint.
    assert.ok(expected.has(status) || (status === 414 && target.length > 8000), seen);
    statuses.add(status);
  }
  assert.ok(isComplete(), `seed ${random.seed}: only ${[...statuses]}`);
});
