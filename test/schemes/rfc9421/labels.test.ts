// Several signatures in one request, and malformed ones.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Accounts } from '../../../src/accounts/accounts.ts';
import type { MessageKey } from '../../../src/algorithms.ts';
import type { IncomingRequest } from '../../../src/http/message.ts';
import {
  annsSecret,
  arriving,
  get,
  judgeRequest,
  openScheme,
  requireProblem,
  start,
} from '../../support/schemes/message-scheme.ts';
import { signMessage } from '../../support/schemes/sign-message.ts';

test('a request may have several signatures, and one valid signature suffices', async () => {
  const lines = (signing: Parameters<typeof signMessage>[1]) => signMessage(get, signing);
  const good = lines({ key: annsSecret, created: start, label: 'good' });
  const wrong = lines({ key: { ...annsSecret, secret: 'x' }, created: start, label: 'wrong' });
  const late = lines({ key: annsSecret, created: start - 1000, label: 'late' });
  const little = lines({ key: annsSecret, created: start, label: 'little', components: ['@method'] });
  const request = (...all: (typeof good)[]): IncomingRequest =>
    arriving(get, [
      ['Signature-Input', all.map((each) => each['Signature-Input']).join(', ')],
      ['Signature', all.map((each) => each.Signature).join(', ')],
    ]);
  assert.equal(await judgeRequest(request(wrong, good)), 'good ann');
  assert.equal(await judgeRequest(request(little, late, good)), 'good ann');
  assert.equal(
    await judgeRequest(request(wrong, late, little)),
    'date-out-of-window',
    'the one that passed most checks is reported',
  );
  assert.equal(await judgeRequest(request(little)), 'signature-insufficient');
  assert.equal(await judgeRequest(request(good, good)), 'malformed-credentials', 'a label occurs twice');
  const separate = arriving(get, [...Object.entries(wrong), ...Object.entries(good)]);
  assert.equal(await judgeRequest(separate), 'good ann', 'on separate field lines');
});

test('a request with several signatures is accepted once, regardless of their order and users', async () => {
  const bobs = { ...annsSecret, id: 'bob', secret: 'second-secret-of-bob' };
  const lines = (label: string, nonce: string | undefined, key: MessageKey = annsSecret, created = start) =>
    signMessage(get, { key, created, label, ...(nonce === undefined ? {} : { nonce }) });
  const request = (...all: ReturnType<typeof lines>[]): IncomingRequest =>
    arriving(get, [
      ['Signature-Input', all.map((each) => each['Signature-Input']).join(', ')],
      ['Signature', all.map((each) => each.Signature).join(', ')],
    ]);
  const [one, two, bob] = [lines('one', 'n1'), lines('two', 'n2'), lines('bob', 'n1', bobs)];
  const { judge } = openScheme();
  const outcome = async (...all: ReturnType<typeof lines>[]): Promise<string> =>
    (await judge(request(...all))).outcome;
  assert.equal(await outcome(one, two, bob), 'good ann');
  for (const again of [[one, two, bob], [bob, two, one], [two], [bob], [lines('new', 'n3'), two]])
    assert.equal(await outcome(...again), 'nonce-replayed');
  const same = [lines('a', 'n4'), lines('b', 'n4', annsSecret, start + 1)];
  assert.equal(await outcome(...same), 'good ann', 'both signatures have the same nonce');
  assert.equal(await outcome(...same), 'nonce-replayed');
  assert.equal(await outcome(lines('c', undefined), one), 'nonce-replayed', 'the first one has no nonce');
  assert.equal(await outcome(lines('d', 'n5'), lines('e', 'n1', { ...annsSecret, secret: 'x' })), 'good ann');
});

test('at most four signatures that meet the requirements are verified, and at most sixteen labels are read', async () => {
  const all = (count: number, goodAt: number, components?: readonly string[]) =>
    Array.from({ length: count }, (_, at) =>
      signMessage(get, {
        key: at === goodAt ? annsSecret : { ...annsSecret, secret: 'x' },
        created: start,
        label: `s${at}`,
        nonce: `n${at}`,
        ...(at === goodAt || components === undefined ? {} : { components }),
      }),
    );
  const request = (signatures: ReturnType<typeof all>): IncomingRequest =>
    arriving(get, [
      ['Signature-Input', signatures.map((each) => each['Signature-Input']).join(', ')],
      ['Signature', signatures.map((each) => each.Signature).join(', ')],
    ]);
  assert.equal(await judgeRequest(request(all(4, 3))), 'good ann');
  const { verdict } = await openScheme().judge(request(all(5, 0)));
  assert.deepEqual(
    [requireProblem(verdict).type, requireProblem(verdict).detail],
    ['malformed-credentials', 'More than 4 signatures meet the requirements; at most 4 are verified.'],
  );
  assert.equal(await judgeRequest(request(all(16, 15, ['@method']))), 'good ann', 'others do not count');
  assert.equal(await judgeRequest(request(all(17, 0))), 'malformed-credentials');
});

const malformed: readonly [
  name: string,
  input: string | undefined,
  signature: string | undefined,
  detail: RegExp,
][] = [
  [
    'a further label',
    'sig1=();keyid="ann"',
    'sig1=:AA==:, sig2=:AA==:',
    /Signature-Input lacks the label sig2/,
  ],
  ['empty', '', '', /Signature-Input is empty/],
  ['not a dictionary', '(', 'sig1=:AA==:', /Signature-Input is not a dictionary .* at character 1/],
  ['base64url', 'sig1=()', 'sig1=:-_8=:', /Signature is not a dictionary/],
  ['no list', 'sig1="@method"', 'sig1=:AA==:', /is not an inner list/],
  ['created with a fraction', 'sig1=();created=1.5', 'sig1=:AA==:', /created is not an integer/],
  ['a token', 'sig1=(date)', 'sig1=:AA==:', /is not a string/],
  ['status', 'sig1=("@status")', 'sig1=:AA==:', /"@status" must not be used in a request/],
  ['req', 'sig1=("@method";req)', 'sig1=:AA==:', /req must not be used in a request/],
  ['twice in another order', 'sig1=("x";sf;tr "x";tr;sf)', 'sig1=:AA==:', /lacks|no component|covered twice/],
  ['bs with sf', 'sig1=("date";bs;sf)', 'sig1=:AA==:', /bs must not be combined/],
  ['unknown parameter', 'sig1=("date";foo)', 'sig1=:AA==:', /must not have the parameter foo/],
  ['false flag', 'sig1=("date";sf=?0)', 'sig1=:AA==:', /sf of date has an invalid value/],
  ['parameter of a derived component', 'sig1=("@path";sf)', 'sig1=:AA==:', /must not have the parameter sf/],
  ['query-param without name', 'sig1=("@query-param")', 'sig1=:AA==:', /requires the parameter name/],
  [
    'too many',
    `sig1=(${Array.from({ length: 65 }, (_, at) => `"x${at}"`).join(' ')})`,
    'sig1=:AA==:',
    /more than 64/,
  ],
];

for (const [name, input, signature, detail] of malformed) {
  test(`malformed credentials are rejected without a lookup: ${name}`, async () => {
    const fields: [string, string][] = [];
    if (input !== undefined) fields.push(['Signature-Input', input]);
    if (signature !== undefined) fields.push(['Signature', signature]);
    const fail = (): never => {
      throw new Error('an account was looked up');
    };
    const accounts: Accounts = { find: fail, findComposed: fail, findKey: fail, hashes: [] };
    const { verdict } = await openScheme({ accounts }).judge(arriving(get, fields));
    assert.match(requireProblem(verdict).detail, detail);
  });
}
