// Mistakes in the names and values of parameters, and in the base URI, as clients make them.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { openTestService } from '../../support/oauth/consumer.ts';

const secret = 'shop-secret-0123456789';
const consumers = { shop: { secret, users: '*' } } as const;

const strict = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
const exceptStar = (text: string): string => strict(text).replaceAll('%2A', '*');
const likeForm = (text: string): string => exceptStar(text).replaceAll('%20', '+').replaceAll('~', '%7E');

type Pair = readonly [name: string, value: string];

interface Mistaken {
  /** The query as sent. */
  readonly query?: string;
  /** The form as sent. */
  readonly form?: string;
  /** The parameters that are signed beside those of the protocol, before they are encoded. */
  readonly signed: readonly Pair[];
  /** Parameters that are sent in Authorization beside those of the protocol. */
  readonly inField?: readonly Pair[];
  readonly uri?: string;
  readonly inner?: (text: string) => string;
  readonly outer?: (text: string) => string;
}

/** Sends a request that is signed by a mistake, and returns the hint. */
async function hintFor({
  query,
  form,
  signed,
  inField = [],
  uri,
  inner = strict,
  outer = strict,
}: Mistaken): Promise<string> {
  const server = openTestService({ consumers, explain: true, strictQuery: false });
  const own: readonly Pair[] = [
    ['oauth_consumer_key', 'shop'],
    ['oauth_signature_method', 'HMAC-SHA256'],
    ['oauth_timestamp', String(server.clock.now() / 1000)],
    ['oauth_nonce', 'n'],
  ];
  const pairs = [...own, ...signed].map((pair) => pair.map(inner).join('=')).sort();
  const method = form === undefined ? 'GET' : 'POST';
  const base = [method, uri ?? 'https://localhost/articles', pairs.join('&')].map(outer).join('&');
  const signature = createHmac('sha256', `${secret}&`).update(base).digest('base64');
  const field = [...inField, ...own, ['oauth_signature', signature]]
    .map(([name = '', value = '']) => `${strict(name)}="${strict(value)}"`)
    .join(',');
  const target = query === undefined ? '/articles' : `/articles?${query}`;
  const sending = {
    fields: [
      ['Authorization', `OAuth ${field}`],
      ['Accept', 'application/json'],
    ] as const,
  };
  const answer = await server.ask(method, target, form === undefined ? sending : { ...sending, form });
  assert.equal(answer.status, 401, answer.text);
  return answer.member('hint');
}

const rows: readonly (readonly [what: string, mistaken: Mistaken, hint: RegExp])[] = [
  [
    'names of the query encoded twice',
    { query: 's%5Bsize%5D=a%20b', signed: [['s%5Bsize%5D', 'a b']] },
    /names of the parameters in the query were percent-encoded twice/,
  ],
  [
    'names of the query encoded twice, as they were sent in lower case',
    { query: 's%5bsize%5d=a,b', signed: [['s%5bsize%5d', 'a,b']] },
    /names of the parameters in the query were percent-encoded twice/,
  ],
  [
    'names of the form encoded twice',
    { form: 's%5Bsize%5D=1', signed: [['s%5Bsize%5D', '1']] },
    /names of the parameters in the form were percent-encoded twice/,
  ],
  [
    'values of the form encoded twice',
    { form: 'a=b%20c', signed: [['a', 'b%20c']] },
    /values of the parameters in the form were percent-encoded twice/,
  ],
  [
    'names of the query encoded twice beside a form',
    {
      query: 'a%5B%5D=1%20',
      form: 'b%5B%5D=2',
      signed: [
        ['a%5B%5D', '1 '],
        ['b[]', '2'],
      ],
    },
    /names of the parameters in the query were percent-encoded twice/,
  ],
  [
    'parameters of the query in Authorization, too',
    {
      query: 'limit=5&offset=2',
      signed: [
        ['limit', '5'],
        ['offset', '2'],
      ],
      inField: [
        ['limit', '5'],
        ['offset', '2'],
      ],
    },
    /limit, offset is in Authorization, too, and so counts twice/,
  ],
  [
    'a parameter of the form in Authorization, too',
    { form: 'a=1', signed: [['a', '1']], inField: [['a', '1']] },
    /a is in Authorization, too, and so counts twice/,
  ],
  [
    'a parameter of the query in the form, too',
    { query: 'a=1', form: 'a=1', signed: [['a', '1']] },
    /a is in the form, too, and so counts twice/,
  ],
  [
    'a parameter in Authorization that is not signed',
    { signed: [], inField: [['a', '1']] },
    /parameters in Authorization beside those of OAuth were left out: a/,
  ],
  [
    'an exclamation mark left by encodeURIComponent at both levels',
    { query: 'a=hi%21', signed: [['a', 'hi!']], inner: encodeURIComponent, outer: encodeURIComponent },
    /the parameters and the base string were percent-encoded as by encodeURIComponent: "!" for "%21"/,
  ],
  [
    'parentheses in the name left by encodeURIComponent in the parameters',
    { query: 'a%28b%29=1', signed: [['a(b)', '1']], inner: encodeURIComponent },
    /the parameters of the query were percent-encoded as by encodeURIComponent: "\(" for "%28"$/,
  ],
  [
    'only the asterisk left at both levels',
    { query: "a=*'%28", signed: [['a', "*'("]], inner: exceptStar, outer: exceptStar },
    /parameters and the base string were percent-encoded as by .*: "\*" for "%2A"/,
  ],
  [
    'the encoding of forms at both levels',
    { form: 'a=b+*', signed: [['a', 'b *']], inner: likeForm, outer: likeForm },
    /URLEncoder/,
  ],
  ['another port signed', { signed: [], uri: 'https://localhost:80/articles' }, /another port|default port/],
  ['neither the path signed', { signed: [], uri: 'https://localhost' }, /path/],
];
for (const [what, mistaken, hint] of rows)
  test(`a refusal names the mistake: ${what}`, async () => assert.match(await hintFor(mistaken), hint));
