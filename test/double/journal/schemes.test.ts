import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type SigningScheme, signRequest } from '../../../src/client/index.ts';
import { createManualClock } from '../../../src/clock.ts';
import { type DoubleOptions, startDouble } from '../../../src/double/index.ts';

const now = Date.UTC(2026, 10, 22, 12);
const second = now / 1000;
const secret = 'secret of ann';
const options: DoubleOptions = {
  now,
  https: false,
  users: { ann: { secret } },
  schemes: {
    partner: {
      message: '{timestamp}.{method}.{target}',
      signature: { field: 'X-Partner-Signature' },
      user: { field: 'X-Partner-Key' },
      timestamp: { field: 'X-Partner-Time' },
    },
    aws4: { region: 'eu-central-1', service: 'execute-api' },
    'message-signatures': { nonce: 'off' },
  },
};
const aws4 = { type: 'aws4', region: 'eu-central-1', service: 'execute-api', accessKeyId: 'ann' } as const;
const signatures = { type: 'message-signatures', nonce: 'off' } as const;

/** Requests /articles?limit=1 with fields that sign /articles, and returns the text of the journal's entry. */
async function refusal(sign: (url: string) => Record<string, string>): Promise<string> {
  await using double = await startDouble(options);
  const url = 'http://api.example/articles';
  const headers = { Host: 'api.example', ...sign(url) };
  const response = await double.fetch('/articles?limit=1', { headers });
  assert.equal(response.status, 401);
  return String(double.journal.last());
}

const by = (scheme: SigningScheme) => (url: string) =>
  signRequest({ method: 'GET', url, scheme, clock: createManualClock(now) });
const mac = (key: string): string =>
  createHmac('sha256', key).update(`${second}.GET./articles`).digest('hex');
const partner = (key: string) => () => ({
  'X-Partner-Key': 'ann',
  'X-Partner-Time': String(second),
  'X-Partner-Signature': mac(key),
});

const first = (rest: string): RegExp =>
  new RegExp(
    `^#1 GET /articles\\?limit=1 by ann: 401, credentials-refused, step 7 \\(credentials\\): ${rest}\n`,
  );

test('the entry of a refusal names the scheme, the checks, the mistake and the part that differs', async () => {
  const left = 'the query was left out';
  const texts = [
    [
      await refusal(partner(secret)),
      left,
      'partner',
      'target: expected "/articles?limit=1", signed "/articles"',
    ],
    [await refusal(by({ ...aws4, secret })), left, 'aws4', 'canonical query: expected "limit=1", signed ""'],
    [
      await refusal(by({ ...signatures, key: { id: 'ann', secret } })),
      left,
      'message-signatures',
      '"@query": expected "?limit=1", signed "?"',
    ],
  ] as const;
  for (const [text, hint, scheme, part] of texts) {
    assert.match(text, first(`The .* is wrong: ${hint}`));
    assert.equal(
      text.slice(text.indexOf('\n') + 1),
      [`  ${scheme}: failed at signature`, '  passed parse, user', `  ${part}`].join('\n'),
    );
  }
});

test('without a known mistake, the entry shows the expected value of each part', async () => {
  const text = await refusal(partner('another secret'));
  assert.match(
    text,
    new RegExp(
      `\n {2}expected timestamp ${second} \\| \\(text\\) \\. \\| method GET \\| \\(text\\) \\. \\| target /articles\\?limit=1$`,
    ),
  );
  const signed = await refusal(by({ ...signatures, key: { id: 'ann', secret: 'another secret' } }));
  assert.match(
    signed,
    /\n {2}expected "@method" GET \| "@authority" api\.example \| .* \| "@query" \?limit=1 \| /,
  );
  const aws = await refusal(by({ ...aws4, secret: 'another secret' }));
  assert.match(aws, /\n {2}expected method GET \| canonical path \/articles \| canonical query limit=1 \| /);
  for (const each of [text, signed, aws]) assert.ok(!/secret of ann|another secret/.test(each));
});

test('the line of an entry does not repeat the detail of the refusal as its hint', async () => {
  const elsewhere = { ...aws4, region: 'us-east-1' } as const;
  const texts = [
    await refusal(by({ ...elsewhere, secret })),
    await refusal(by({ ...signatures, key: { id: 'ann', secret }, components: ['@method'] })),
  ];
  const [scope = '', components = ''] = texts.map((text) => text.split('\n')[0]);
  assert.match(scope, /: The scope names the region "us-east-1"; "eu-central-1" is expected\.$/);
  assert.match(components, /[Tt]he signature (?:must|does)/);
  for (const line of [scope, components]) {
    const detail = line.slice(line.indexOf('): ') + 3).replace(/\.$/, '');
    assert.equal(line.split(detail.slice(0, 30)).length, 2, line);
  }
});

test('the hint about different content has its digest, also if the expected digest is in the query', async () => {
  await using double = await startDouble({
    ...options,
    schemes: { twilio: { preset: 'twilio', user: 'ann' } },
  });
  const target = `/articles?bodySHA256=${'0'.repeat(64)}`;
  const signature = createHmac('sha1', secret).update(`http://api.example${target}`).digest('base64');
  const headers = {
    Host: 'api.example',
    'Content-Type': 'application/json',
    'X-Twilio-Signature': signature,
  };
  await double.fetch(target, { method: 'POST', headers, body: '{' });
  assert.match(
    String(double.journal.last()?.auth?.hint),
    /the content that arrived has 1 byte and the digest sha256 [0-9a-f]{64}$/,
  );
});

test('the entry names the scheme of credentials that are not verified', async () => {
  await using double = await startDouble(options);
  const schemeOf = async (path: string, headers: Record<string, string>): Promise<string | undefined> => {
    await double.fetch(path, { headers });
    return double.journal.last()?.auth?.scheme;
  };
  const own = { 'X-Partner-Key': 'ann', 'X-Partner-Time': `${second}`, 'X-Partner-Signature': 'none' };
  assert.equal(await schemeOf('/articles', { Authorization: 'Digest username="ann"' }), 'digest');
  assert.equal(await schemeOf('/articles', { Authorization: 'Hmac none', ...own }), 'hmac');
  double.stub({ path: '/unsigned' }, { status: 204 }, { schemes: ['aws4'] });
  assert.equal(await schemeOf('/unsigned', own), 'partner');
  assert.equal(await schemeOf('/unsigned', { Authorization: 'Digest username="ann"' }), 'digest');
});

test('the refusal of a key mentions a user only if the request names one', async () => {
  const secretField = { field: 'X-Api-Secret' };
  for (const [scheme, headers, detail] of [
    [{ secret: secretField }, {}, 'The key is wrong.'],
    [
      { secret: secretField, user: { field: 'X-Api-Key' } },
      { 'X-Api-Key': 'ann' },
      'The user or the secret is wrong.',
    ],
  ] as const) {
    await using double = await startDouble({ ...options, schemes: { key: scheme } });
    await double.fetch('/articles', { headers: { ...headers, 'X-Api-Secret': 'another key' } });
    assert.equal(double.journal.last()?.problem?.detail, detail);
  }
});

test('the hint at a separator between a query and a form does not blame the form', async () => {
  await using double = await startDouble({
    ...options,
    schemes: { joined: { message: '{query}{body}', signature: { field: 'X-Signature' }, user: 'ann' } },
  });
  const [query, body] = ['symbol=BTC', 'side=BUY'];
  const digest = createHmac('sha256', secret).update(`${query}&${body}`).digest('hex');
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Signature': digest };
  await double.fetch(`/articles?${query}`, { method: 'POST', headers, body });
  assert.match(String(double.journal.last()?.auth?.hint), /the parts were joined with "&"/);
});
