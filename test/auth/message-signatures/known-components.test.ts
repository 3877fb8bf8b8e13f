// A signature whose components were judged for an earlier request is verified like any other.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createRequest, type Request } from '../../../src/http/message.ts';
import {
  type MessageSigning,
  type RequestToSign,
  signMessage,
} from '../../../src/signature/message-signatures/sign.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';
import {
  accountsWithKeys,
  annsSecret,
  get,
  openScheme,
  problemOf,
  type SchemeSetting,
  signed,
  start,
} from '../../support/signature/message-scheme.ts';
import { signingKey } from '../../support/signature/rfc9421.ts';

const put: RequestToSign = { method: 'PUT', url: 'https://example.com/articles/1', content: 'x' };

/** Returns the result of a scheme that knows the components of `before`, and of one that does not. */
async function both(
  before: Request,
  request: Request,
  setting: SchemeSetting = {},
): Promise<[string, string]> {
  const warm = openScheme(setting);
  assert.equal((await warm.judge(before)).outcome, 'good ann');
  const resultOf = async (scheme: ReturnType<typeof openScheme>): Promise<string> => {
    const { verdict, outcome, trace } = await scheme.judge(request);
    const problem = verdict.outcome === 'bad' ? [problemOf(verdict).detail, problemOf(verdict).members] : [];
    return JSON.stringify([outcome, problem, trace.passed, trace.failedAt, trace.details]);
  };
  return [await resultOf(warm), await resultOf(openScheme(setting))];
}

const later: Partial<MessageSigning>[] = [
  {},
  { created: start - 299, nonce: 'n' },
  { expires: start + 1, tag: 't', alg: true },
  { created: start - 400 },
  { expires: start - 1, created: start - 2 },
  { nonce: 'a "quoted" \\ nonce' },
  { nonce: 'n'.repeat(257) },
  { key: { ...annsSecret, secret: 'x' } },
  { key: { ...annsSecret, id: 'nobody' } },
  { key: signingKey('test-key-ed25519') },
  { key: { ...annsSecret, id: 'test-key-ed25519' } },
  { label: 'other' },
];

for (const signing of later) {
  test(`the second request has the same result as a first one: ${JSON.stringify({ ...signing, key: signing.key?.id })}`, async () => {
    for (const explain of [false, true]) {
      const [warm, cold] = await both(signed(get), signed(get, signing), { explain });
      assert.equal(warm, cold);
    }
  });
}

test('the requirements also hold for the second request', async () => {
  const { content, ...withoutContent } = put;
  assert.equal(content, 'x');
  const lines = Object.entries(signMessage(withoutContent, { key: annsSecret, created: start }));
  const { target } = signed(put);
  const fields: [string, string][] = [['Host', 'example.com'], ...lines];
  const request = createRequest({ method: 'PUT', target, secure: true, content: 'x', fields });
  const [warm, cold] = await both(signed(get), request);
  assert.equal(warm, cold);
  assert.match(warm, /digest-required/);
  const options = { tag: 'app' };
  const [tagged, first] = await both(signed(get, { tag: 'app' }), signed(get), { options });
  assert.equal(tagged, first);
  assert.match(tagged, /signature-insufficient/);
});

test('components with parameters are known too', async () => {
  const components = ['@method', '@authority', '@path', '@query', '@query-param;name="limit"'];
  const { judge } = openScheme();
  for (const limit of ['5', '6', '7']) {
    const request = signed(
      { method: 'GET', url: `https://example.com/articles?limit=${limit}` },
      { components },
    );
    assert.equal((await judge(request)).outcome, 'good ann');
  }
});

test('more components are accepted than can be remembered', async () => {
  const { judge } = openScheme();
  for (let number = 0; number < 200; number += 1) {
    const label = `s${number % 100}`;
    assert.equal((await judge(signed(get, { label }))).outcome, 'good ann', label);
  }
});

/** Changes a field value at random. */
function mutated(random: Seeded, text: string): string {
  const at = random.below(text.length + 1);
  const inserted = random.pick([...' \t",;:=()?%@*-.0a1\\', 'created=1', ';tag="x"', '=', ';', '']);
  return text.slice(0, at) + inserted + text.slice(at + random.below(3));
}

test('random changes of the fields have the same result with known components', async () => {
  const random = seeded();
  const accounts = accountsWithKeys();
  const warm = openScheme({ accounts });
  await warm.judge(signed(get));
  for (let round = 0; round < 2000; round += 1) {
    const request = signed(get, { expires: start + 60 });
    let input = request.fields.get('signature-input') ?? '';
    let signature = request.fields.get('signature') ?? '';
    if (random.below(4) > 0) input = mutated(random, input);
    if (random.below(3) === 0) signature = mutated(random, signature);
    const { method, target } = request;
    const fields: [string, string][] = [
      ['Host', 'example.com'],
      ['Signature-Input', input],
      ['Signature', signature],
    ];
    const changed = (): Request => createRequest({ method, target, secure: true, fields });
    const [known, first] = await Promise.all([
      warm.judge(changed()),
      openScheme({ accounts }).judge(changed()),
    ]);
    assert.equal(known.outcome, first.outcome, `${JSON.stringify([input, signature])}, SEED=${random.seed}`);
  }
});
