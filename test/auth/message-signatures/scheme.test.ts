import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import type { Accounts } from '../../../src/auth/accounts.ts';
import { createRequest, type Request } from '../../../src/http/message.ts';
import type { RequestToSign } from '../../../src/signature/message-signatures/sign.ts';
import { signMessage } from '../../../src/signature/message-signatures/sign.ts';
import {
  accountsWithKeys,
  annsSecret,
  arriving,
  openScheme,
  p384,
  problemOf,
  type SchemeSetting,
  secret,
  signed,
  start,
} from '../../support/signature/message-scheme.ts';
import { keyIds, signingKey } from '../../support/signature/rfc9421.ts';

const get: RequestToSign = { method: 'GET', url: 'https://example.com/articles?limit=5' };
const put: RequestToSign = {
  method: 'PUT',
  url: 'https://example.com/articles/1',
  content: '{"title":"Ink"}',
};

async function outcomeOf(request: Request, setting: SchemeSetting = {}): Promise<string> {
  const { outcome } = await openScheme(setting).judge(request);
  return outcome;
}

async function detailOf(request: Request, setting: SchemeSetting = {}): Promise<string> {
  const { verdict } = await openScheme(setting).judge(request);
  return problemOf(verdict).detail;
}

/** The request with other values of some fields; undefined removes a field. */
function withFields(request: Request, changes: Readonly<Record<string, string | undefined>>): Request {
  const { raw } = request.fields;
  const fields: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const changed = Object.hasOwn(changes, name.toLowerCase()) ? changes[name.toLowerCase()] : value;
    if (changed !== undefined) fields.push([name, changed]);
  }
  const { method, target, connection } = request;
  return createRequest({ method, target, fields, secure: connection.secure });
}

test('a request signed with the secret of a user is accepted in the name of the user', async () => {
  const { verdict, trace } = await openScheme().judge(signed(get));
  assert.deepEqual(verdict, { outcome: 'good', principal: { name: 'ann', scheme: 'message-signatures' } });
  assert.deepEqual(trace.passed, ['parse', 'user', 'signature', 'date']);
});

test('a request signed with each algorithm is accepted, with and without the parameter alg', async () => {
  const rsa = signingKey('test-key-rsa');
  assert.ok('privateKey' in rsa);
  const keys = [
    ...keyIds.map(signingKey),
    { id: 'p384', algorithm: 'ecdsa-p384-sha384', privateKey: p384.privateKey } as const,
    { id: 'rsa-as-pss', algorithm: 'rsa-pss-sha512', privateKey: rsa.privateKey } as const,
  ];
  assert.equal(keys.length, 7);
  for (const key of keys)
    for (const alg of [false, true])
      assert.equal(await outcomeOf(signed(get, { key, alg })), 'good ann', key.id);
});

test('a lookup of users and keys may take a while', async () => {
  const accounts = accountsWithKeys();
  const slow: Accounts = {
    ...accounts,
    find: async (name) => accounts.find(name),
    findKey: async (id) => accounts.findKey?.(id),
  };
  assert.equal(await outcomeOf(signed(get), { accounts: slow }), 'good ann');
  assert.equal(
    await outcomeOf(signed(get, { key: signingKey('test-key-ed25519') }), { accounts: slow }),
    'good ann',
  );
});

test('keys are optional: without them, the secrets of users are', async () => {
  const { find, findComposed, hashes } = accountsWithKeys();
  const accounts = { find, findComposed, hashes };
  assert.equal(await outcomeOf(signed(get), { accounts }), 'good ann');
  assert.equal(
    await outcomeOf(signed(get, { key: signingKey('test-key-ed25519') }), { accounts }),
    'credentials-refused',
  );
});

test('each secret is accepted until it expires, and each key', async () => {
  const bob = (secret: string) => ({ id: 'bob', algorithm: 'hmac-sha256', secret }) as const;
  assert.equal(await outcomeOf(signed(get, { key: bob('second-secret-of-bob') })), 'good bob');
  assert.equal(await outcomeOf(signed(get, { key: bob('first-secret-of-bob') })), 'credentials-refused');
  const { judge, clock } = openScheme({ accounts: accountsWithKeys((start + 1) * 1000) });
  const request = signed(get, { key: signingKey('test-key-ed25519') });
  assert.equal((await judge(request)).outcome, 'good ann');
  clock.advance(1000);
  assert.equal((await judge(request)).outcome, 'credentials-refused');
});

test('any change of a covered component makes the signature wrong', async () => {
  const components = ['@method', '@authority', '@path', '@query', 'accept'];
  const request = signed({ ...get, fields: [['Accept', 'application/json']] }, { components });
  const { method, target, connection } = request;
  const copy = (parts: { method?: string; target?: string; secure?: boolean }): Request => ({
    ...request,
    method: parts.method ?? method,
    target: parts.target ?? target,
    connection: { ...connection, secure: parts.secure ?? true },
  });
  assert.equal(await outcomeOf(copy({})), 'good ann');
  assert.equal(await outcomeOf(copy({ secure: false })), 'good ann', 'the scheme is not covered');
  assert.equal(await outcomeOf(copy({ method: 'DELETE' })), 'credentials-refused');
  assert.equal(await outcomeOf(copy({ target: '/articles/1?limit=5' })), 'credentials-refused');
  assert.equal(await outcomeOf(copy({ target: '/articles?limit=6' })), 'credentials-refused');
  assert.equal(await outcomeOf(withFields(request, { host: 'other.example' })), 'credentials-refused');
  assert.equal(await outcomeOf(withFields(request, { accept: 'text/html' })), 'credentials-refused');
  assert.equal(await outcomeOf(withFields(request, { accept: undefined })), 'credentials-refused');
});

test('the parameters of the signature cannot be changed', async () => {
  const request = signed(get, { nonce: 'n1', tag: 'app', expires: start + 60 });
  const input = request.fields.get('signature-input') ?? '';
  assert.equal(await outcomeOf(request), 'good ann');
  const changes: [from: string | RegExp, to: string][] = [
    [String(start), String(start + 1)],
    ['"n1"', '"n2"'],
    [';tag="app"', ''],
    [String(start + 60), String(start + 600)],
    ['"@path" "@query"', '"@query" "@path"'],
    [/$/, ';alg="hmac-sha256"'],
  ];
  for (const [from, to] of changes) {
    const changed = input.replace(from, to);
    assert.notEqual(changed, input);
    assert.equal(
      await outcomeOf(withFields(request, { 'signature-input': changed })),
      'credentials-refused',
      to,
    );
  }
});

test('white space that structured fields permit does not change the signature', async () => {
  const request = signed(get);
  const input = request.fields.get('signature-input') ?? '';
  const spaced = input.replace('("', '(  "').replace(';created', '; created');
  assert.equal(await outcomeOf(withFields(request, { 'signature-input': ` ${spaced} ` })), 'good ann');
});

test('alg never chooses the algorithm', async () => {
  for (const alg of ['rsa-v1_5-sha256', 'none', 'ed25519', 'HMAC-SHA256']) {
    const request = arriving(get, Object.entries(signMessage(get, { key: annsSecret, created: start })));
    const input = `${request.fields.get('signature-input')};alg="${alg}"`;
    assert.equal(await outcomeOf(withFields(request, { 'signature-input': input })), 'credentials-refused');
  }
  // The public key as the secret of an HMAC.
  const { publicKey } = generateKeyPairSync('ed25519');
  for (const secret of [
    publicKey.export({ type: 'spki', format: 'pem' }),
    publicKey.export({ type: 'spki', format: 'der' }),
  ]) {
    const key = { id: 'test-key-ed25519', algorithm: 'hmac-sha256', secret } as const;
    assert.equal(await outcomeOf(signed(get, { key, alg: true })), 'credentials-refused');
  }
});

test('a valid signature whose alg names another algorithm is refused', async () => {
  const request = signed(get);
  const key = { id: 'ann', algorithm: 'hmac-sha256', secret: 'x' } as const;
  assert.equal(await outcomeOf(signed(get, { key })), 'credentials-refused');
  const { verdict, trace } = await openScheme().judge(signedWithAlg('ed25519'));
  assert.equal(problemOf(verdict).type, 'credentials-refused');
  assert.equal(trace.failedAt, 'alg');
  assert.equal(await outcomeOf(request), 'good ann');
});

/** A request whose signature with the secret of ann covers another algorithm. */
function signedWithAlg(alg: string): Request {
  const tagged = signMessage(get, { key: annsSecret, created: start, tag: 'TAG' });
  const input = tagged['Signature-Input'].replace('tag="TAG"', `alg="${alg}"`);
  return arriving(get, [
    ['Signature-Input', input],
    ['Signature', resigned(input)],
  ]);
}

function resigned(input: string): string {
  const value = input.replace(/^sig1=/, '');
  const base = `"@method": GET\n"@authority": example.com\n"@path": /articles\n"@query": ?limit=5\n"@signature-params": ${value}`;
  return `sig1=:${createHmac('sha256', secret).update(base).digest('base64')}:`;
}

test('a key of another scheme is not a key for messages', async () => {
  const key = { ...annsSecret, id: 'cloud' };
  assert.equal(await outcomeOf(signed(get, { key })), 'credentials-refused');
});

test('the time of the signature must be within the window', async () => {
  for (const [off, outcome] of [
    [-300, 'good ann'],
    [300, 'good ann'],
    [-301, 'date-out-of-window'],
    [301, 'date-out-of-window'],
  ] as const)
    assert.equal(await outcomeOf(signed(get, { created: start + off })), outcome, String(off));
  assert.equal(
    await outcomeOf(signed(get, { created: start - 11 }), { options: { window: 10 } }),
    'date-out-of-window',
  );
});

test('a signature is accepted until the time in expires', async () => {
  const { judge, clock } = openScheme();
  const request = signed(get, { expires: start + 5 });
  clock.advance(5999);
  assert.equal((await judge(request)).outcome, 'good ann');
  clock.advance(1);
  const { verdict } = await judge(request);
  assert.equal(problemOf(verdict).type, 'date-out-of-window');
  assert.match(problemOf(verdict).detail, /expired 1 s ago/);
});

test('a signature with a nonce from before the start of the server is refused', async () => {
  const setting = { notBefore: start * 1000 + 900 };
  assert.equal(await outcomeOf(signed(get, { nonce: 'n' }), setting), 'good ann');
  assert.equal(
    await outcomeOf(signed(get, { nonce: 'n', created: start - 1 }), setting),
    'date-out-of-window',
  );
  assert.equal(await outcomeOf(signed(get, { created: start - 1 }), setting), 'good ann');
});

test('a nonce is accepted once for each user', async () => {
  const { judge } = openScheme();
  const request = signed(get, { nonce: 'n1' });
  const { outcome, trace } = await judge(request);
  assert.deepEqual([outcome, trace.passed.at(-1)], ['good ann', 'nonce']);
  assert.equal((await judge(request)).outcome, 'nonce-replayed');
  assert.equal(
    (await judge(signed(get, { nonce: 'n1', key: signingKey('test-key-ed25519') }))).outcome,
    'nonce-replayed',
  );
  const bob = { id: 'bob', algorithm: 'hmac-sha256', secret: 'second-secret-of-bob' } as const;
  assert.equal((await judge(signed(get, { nonce: 'n1', key: bob }))).outcome, 'good bob');
});

test('a nonce is claimed only by a request that is accepted otherwise', async () => {
  const { judge } = openScheme();
  assert.equal(
    (await judge(signed(get, { nonce: 'n', key: { ...annsSecret, secret: 'x' } }))).outcome,
    'credentials-refused',
  );
  assert.equal(
    (await judge(signed(get, { nonce: 'n', created: start - 400 }))).outcome,
    'date-out-of-window',
  );
  assert.equal((await judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
});

test('a nonce can be required, or ignored', async () => {
  const required = openScheme({ options: { nonce: 'required' } });
  assert.equal((await required.judge(signed(get))).outcome, 'signature-insufficient');
  assert.equal((await required.judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
  const off = openScheme({ options: { nonce: 'off' } });
  for (let time = 0; time < 2; time += 1)
    assert.equal((await off.judge(signed(get, { nonce: 'n' }))).outcome, 'good ann');
});

test('a nonce has 1 to 256 characters', async () => {
  assert.equal(await outcomeOf(signed(get, { nonce: 'n'.repeat(256) })), 'good ann');
  assert.equal(await outcomeOf(signed(get, { nonce: 'n'.repeat(257) })), 'malformed-credentials');
  assert.equal(await outcomeOf(signed(get, { nonce: '' })), 'malformed-credentials');
});

test('the requirements are components, parameters, and the digest of content', async () => {
  assert.match(
    await detailOf(signed(get, { components: ['@method', '@path'] })),
    /does not cover "@authority", "@query"/,
  );
  assert.match(await detailOf(withoutCreated()), /requires the parameter created/);
  assert.match(
    await detailOf(signed(get), { options: { tag: 'app' } }),
    /requires the parameter tag with the value "app"/,
  );
  assert.equal(await outcomeOf(signed(get, { tag: 'app' }), { options: { tag: 'app' } }), 'good ann');
  assert.equal(
    await outcomeOf(signed(get, { components: ['@query', '@path', '@authority', '@method', 'host'] })),
    'good ann',
  );
  assert.equal(await outcomeOf(signed(put)), 'good ann');
});

function withoutCreated(): Request {
  return arriving(get, Object.entries(signMessage(get, { key: annsSecret })));
}

test('content without a covered digest is refused', async () => {
  const { content: _, ...withoutContent } = put;
  const covers = async (component: string | undefined, digest: string): Promise<string> => {
    const fields: [string, string][] = [['Content-Digest', digest]];
    const components = [
      '@method',
      '@authority',
      '@path',
      '@query',
      ...(component === undefined ? [] : [component]),
    ];
    const lines = signMessage({ ...withoutContent, fields }, { key: annsSecret, created: start, components });
    return outcomeOf(arriving({ ...put, fields }, Object.entries(lines)));
  };
  assert.equal(await covers(undefined, 'sha-256=:AAAA:'), 'digest-required');
  assert.equal(await covers('content-digest', 'sha-256=:AAAA:'), 'good ann');
  assert.equal(await covers('content-digest;bs', 'sha-256=:AAAA:'), 'good ann');
  assert.equal(await covers('content-digest;key="sha-256"', 'sha-256=:AAAA:'), 'good ann');
  // A digest with an algorithm that is not verified does not protect the content.
  assert.equal(await covers('content-digest;key="md5"', 'md5=:AAAA:, sha-256=:AAAA:'), 'digest-required');
  assert.equal(await outcomeOf(signed(withoutContent)), 'good ann');
  const lines = Object.entries(signMessage(withoutContent, { key: annsSecret, created: start }));
  assert.equal(await outcomeOf(arriving(put, lines)), 'digest-required');
  const empty: [string, string] = ['Content-Length', '0'];
  assert.equal(await outcomeOf(arriving({ ...put, content: '' }, [empty, ...lines])), 'good ann');
});

test('a request may have several signatures, of which one suffices', async () => {
  const lines = (signing: Parameters<typeof signMessage>[1]) => signMessage(get, signing);
  const good = lines({ key: annsSecret, created: start, label: 'good' });
  const wrong = lines({ key: { ...annsSecret, secret: 'x' }, created: start, label: 'wrong' });
  const late = lines({ key: annsSecret, created: start - 1000, label: 'late' });
  const little = lines({ key: annsSecret, created: start, label: 'little', components: ['@method'] });
  const request = (...all: (typeof good)[]): Request =>
    arriving(get, [
      ['Signature-Input', all.map((each) => each['Signature-Input']).join(', ')],
      ['Signature', all.map((each) => each.Signature).join(', ')],
    ]);
  assert.equal(await outcomeOf(request(wrong, good)), 'good ann');
  assert.equal(await outcomeOf(request(little, late, good)), 'good ann');
  assert.equal(
    await outcomeOf(request(wrong, late, little)),
    'date-out-of-window',
    'the one that passed most checks is reported',
  );
  assert.equal(await outcomeOf(request(little)), 'signature-insufficient');
  assert.equal(await outcomeOf(request(good, good)), 'malformed-credentials', 'a label occurs twice');
  const separate = arriving(get, [...Object.entries(wrong), ...Object.entries(good)]);
  assert.equal(await outcomeOf(separate), 'good ann', 'on separate field lines');
});

test('at most four signatures are verified, and at most sixteen labels are read', async () => {
  const many = (count: number, goodAt: number): Request => {
    const all = Array.from({ length: count }, (_, at) =>
      signMessage(get, {
        key: at === goodAt ? annsSecret : { ...annsSecret, secret: 'x' },
        created: start,
        label: `s${at}`,
      }),
    );
    return arriving(get, [
      ['Signature-Input', all.map((each) => each['Signature-Input']).join(', ')],
      ['Signature', all.map((each) => each.Signature).join(', ')],
    ]);
  };
  assert.equal(await outcomeOf(many(4, 3)), 'good ann');
  assert.equal(await outcomeOf(many(5, 4)), 'credentials-refused');
  assert.equal(await outcomeOf(many(16, 0)), 'good ann');
  assert.equal(await outcomeOf(many(17, 0)), 'malformed-credentials');
});

const malformed: readonly [
  name: string,
  input: string | undefined,
  signature: string | undefined,
  detail: RegExp,
][] = [
  ['no Signature', 'sig1=();keyid="ann"', undefined, /^Signature is missing\./],
  ['no Signature-Input', undefined, 'sig1=:AA==:', /^Signature-Input is missing\./],
  ['other labels', 'sig1=();keyid="ann"', 'sig2=:AA==:', /Signature lacks the label sig1/],
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
  ['no bytes', 'sig1=()', 'sig1="AA=="', /is not a byte sequence/],
  ['created as a string', 'sig1=();created="1"', 'sig1=:AA==:', /created is not an integer/],
  ['created with a fraction', 'sig1=();created=1.5', 'sig1=:AA==:', /created is not an integer/],
  ['expires before created', 'sig1=();created=2;expires=1', 'sig1=:AA==:', /expires is before created/],
  ['keyid as a token', 'sig1=();keyid=ann', 'sig1=:AA==:', /keyid is not a string/],
  ['upper case', 'sig1=("Date")', 'sig1=:AA==:', /"Date" is not in lower case/],
  ['a token', 'sig1=(date)', 'sig1=:AA==:', /is not a string/],
  ['unknown derived component', 'sig1=("@foo")', 'sig1=:AA==:', /"@foo" is not known/],
  ['status', 'sig1=("@status")', 'sig1=:AA==:', /"@status" must not be used in a request/],
  ['signature-params', 'sig1=("@signature-params")', 'sig1=:AA==:', /must not be covered/],
  ['req', 'sig1=("@method";req)', 'sig1=:AA==:', /req must not be used in a request/],
  ['twice', 'sig1=("@method" "@method")', 'sig1=:AA==:', /covered twice/],
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
  test(`malformed credentials are refused without a lookup: ${name}`, async () => {
    const fields: [string, string][] = [];
    if (input !== undefined) fields.push(['Signature-Input', input]);
    if (signature !== undefined) fields.push(['Signature', signature]);
    const fail = (): never => {
      throw new Error('an account was looked up');
    };
    const accounts: Accounts = { find: fail, findComposed: fail, findKey: fail, hashes: [] };
    const { verdict } = await openScheme({ accounts }).judge(arriving(get, fields));
    assert.match(problemOf(verdict).detail, detail);
  });
}

test('a missing component is a refusal, since it may have been removed on the way', async () => {
  const request = arriving(get, [
    ['Signature-Input', 'sig1=("x-id");keyid="ann"'],
    ['Signature', 'sig1=:AA==:'],
  ]);
  assert.equal(await outcomeOf(request), 'credentials-refused');
  assert.match(await detailOf(request), /the message has no component "x-id"/);
});

test('a 401 says what would do', () => {
  const { scheme } = openScheme({ options: { components: ['@method', 'content-type;sf'], tag: 'app' } });
  const connection = { peer: '127.0.0.1', secure: true };
  assert.equal(scheme.challenge(connection), 'message-signatures realm="test"');
  assert.deepEqual(scheme.challengeFields?.(connection), [
    ['Accept-Signature', 'sig1=("@method" "content-type";sf);created;tag="app"'],
  ]);
});

test('the scheme is found by its fields, and failures are counted for the id of the key', () => {
  const { scheme } = openScheme();
  assert.deepEqual(scheme.locations, [{ field: 'signature-input' }, { field: 'signature' }]);
  assert.deepEqual(scheme.authorizationNames, []);
  assert.equal(scheme.claimedUser?.('', signed(get)), 'ann');
  assert.equal(scheme.claimedUser?.('', arriving(get, [['Signature', 'x']])), undefined);
});

test('refusals of unknown keys and of wrong signatures are the same', async () => {
  const refusals = ['ann', 'nobody', 'test-key-ed25519', 'test-key-rsa'].map(async (id) => {
    const { verdict } = await openScheme({ explain: true }).judge(
      signed(get, { key: { ...annsSecret, id, secret: 'x' } }),
    );
    const { type, detail, members } = problemOf(verdict);
    return JSON.stringify({ type, detail, members }).replaceAll(id, 'ID');
  });
  assert.equal(new Set(await Promise.all(refusals)).size, 1);
});

test('nothing is explained unless it is asked for', async () => {
  const { verdict } = await openScheme().judge(signed(get, { key: { ...annsSecret, secret: 'x' } }));
  assert.deepEqual(problemOf(verdict).members, {});
});
