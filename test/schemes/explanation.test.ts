// The work of explanations of wrong signatures.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test, { after } from 'node:test';
import { ExplanationBudget, makingTime, verificationTime } from '../../src/schemes/explain/budget.ts';
import { openSubject, type SchemeSubject } from '../support/scheme-contract.ts';
import { catalogue } from '../support/schemes/catalogue.ts';
import {
  annsSecret,
  arriving,
  openScheme,
  requireProblem,
  start,
} from '../support/schemes/message-scheme.ts';
import { signMessage } from '../support/schemes/sign-message.ts';
import type { Mistake } from '../support/schemes/signer.ts';
import { header as aws4 } from '../support/schemes/subjects/aws4.ts';
import { partner as declared } from '../support/schemes/subjects/declared.ts';
import { full as hmac } from '../support/schemes/subjects/hmac.ts';
import { withSecret as messageSignatures } from '../support/schemes/subjects/message-signatures.ts';

test('an explanation tries mistakes for about 10 ms, and creates no more than it tries', () => {
  let created = 0;
  const mistakes = function* (): Generator<number> {
    for (;;) {
      created += 1;
      yield created;
    }
  };
  const budget = new ExplanationBudget();
  assert.deepEqual(
    budget.matching(
      mistakes(),
      () => 1000,
      (mistake) => mistake % 4 === 0,
    ),
    [4, 8],
  );
  assert.deepEqual(
    budget.matching(
      mistakes(),
      () => 1,
      () => true,
    ),
    [],
    'the budget is for all searches together',
  );
  assert.ok(created <= 12);
});

test('what is made of a text with many values uses up the budget, whether it is tried or not', () => {
  const budget = new ExplanationBudget();
  const made = budget.limit(
    makingTime('a=1&'.repeat(4000)),
    new Array(100).fill('equal to the right message'),
  );
  assert.equal([...made].length, 10);
  assert.ok(budget.isExhausted);
});

test('longer messages and slower algorithms use up more of the budget', () => {
  assert.ok(verificationTime('secret', 4000) > verificationTime('secret', 40));
  assert.ok(verificationTime('ed25519', 40) > verificationTime('secret', 40));
  assert.ok(verificationTime('ecdsa-p384-sha384', 40) > verificationTime('ed25519', 40));
});

test('a mistake in a signature over 60 components is found within the budget', async () => {
  const fields = Array.from({ length: 60 }, (_, at): [string, string] => [`x-${at}`, `Value ${at}`]);
  const get = { method: 'GET', url: 'https://example.com/a', fields };
  const signed = signMessage(get, {
    key: annsSecret,
    created: start,
    components: ['@method', '@authority', '@path', '@query', ...fields.slice(4).map(([name]) => name)],
  });
  const input = signed['Signature-Input'];
  const base = [
    '"@method": get',
    '"@authority": example.com',
    '"@path": /a',
    '"@query": ?',
    ...fields.slice(4).map(([name, value]) => `"${name}": ${value}`),
    `"@signature-params": ${input.slice(input.indexOf('=') + 1)}`,
  ].join('\n');
  const signature = createHmac('sha256', annsSecret.secret).update(base).digest('base64');
  const { judge } = openScheme({ explain: true });
  const { verdict } = await judge(
    arriving(get, [
      ['Signature-Input', input],
      ['Signature', `sig1=:${signature}:`],
    ]),
  );
  assert.match(String(requireProblem(verdict).members['hint']), /method was signed in lower case/);
});

interface Shown {
  readonly parts: readonly { readonly name: string; readonly expected: string; readonly signed?: string }[];
  readonly signedMessage?: string;
  readonly firstDifference?: number;
}

/** What is shown of a wrong signature by each kind of scheme: the parts, those that are signed otherwise with both values. */
const shownParts: readonly (readonly [
  subject: SchemeSubject,
  mistake: Mistake,
  shown: readonly string[],
  difference: number,
])[] = [
  [
    hmac,
    catalogue['query left out'],
    ['method: GET', 'target: /things/a?limit=5 | /things/a', 'date: 22nov202612:00:00', 'nonce: n'],
    13,
  ],
  [
    aws4,
    catalogue['parameters not sorted where they must be'],
    [
      'method: GET',
      'canonical path: /things/a',
      'canonical query: a=1&b=2 | b=2&a=1',
      'header host: api.example:8443',
      'header x-amz-date: 20261122T120000Z',
      'signed headers: host;x-amz-date',
      'payload hash: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'timestamp: 20261122T120000Z',
      'scope: 20261122/eu-central-1/execute-api/aws4_request',
    ],
    81,
  ],
  [
    messageSignatures,
    catalogue['question mark left out where it belongs to the query'],
    [
      '"@method": GET',
      '"@authority": api.example:8443',
      '"@path": /things/a',
      '"@query": ?limit=5 | limit=5',
      '"@signature-params": ("@method" "@authority" "@path" "@query");created=1795348800;keyid="ann";nonce="n"',
    ],
    75,
  ],
  [
    declared,
    catalogue['method signed in lower case'],
    [
      'timestamp: 1795348800',
      'nonce: n',
      'method: GET | get',
      'path: /things/a',
      'query: limit=5',
      'host: api.example:8443',
      'field:X-Meta: ',
      'body: ',
    ],
    16,
  ],
];

for (const [subject, mistake, shown, difference] of shownParts)
  test(`an explanation shows the parts of the message, as expected and as signed: ${subject.scheme}`, async () => {
    const opened = await openSubject({ ...subject, options: { ...subject.options, explain: true } });
    after(() => opened.double.close());
    const { text } = await opened.send(opened.signed(mistake, undefined, { nonce: 'n' }));
    const problem: Shown = JSON.parse(text);
    const { parts, signedMessage, firstDifference } = problem;
    assert.deepEqual(
      parts
        .filter(({ name }) => name !== '(text)')
        .map(
          ({ name, expected, signed }) => `${name}: ${expected}${signed === undefined ? '' : ` | ${signed}`}`,
        ),
      shown,
    );
    assert.equal(firstDifference, difference);
    assert.equal(typeof signedMessage, 'string');
  });
