import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRateLimiter } from '../../src/accounts/rate-limit.ts';
import { createManualClock } from '../../src/clock.ts';
import { createRequest, type RequestParts } from '../../src/http/message.ts';
import { Problem } from '../../src/http/problem.ts';
import { createAuthenticator } from '../../src/schemes/authenticate.ts';
import { createOAuth1Scheme } from '../../src/schemes/oauth1/scheme.ts';
import { basicScheme, bearerScheme } from '../../src/schemes/sent-credentials.ts';
import type { AcceptedSchemes, Verifier } from '../../src/schemes/verifier.ts';

function scheme(name: string, parts: Partial<Verifier> = {}): Verifier {
  return {
    name,
    places: [{ role: '', in: 'authorization', name }],
    authenticate: () => ({ outcome: 'good', principal: { name: `by ${name}`, scheme: name } }),
    challenge: () => `${name} realm="here"`,
    ...parts,
  };
}

const inField = scheme('partner', { places: [{ role: '', in: 'header', name: 'x-signature' }] });
const inQuery = scheme('aws', {
  places: [
    { role: '', in: 'authorization', name: 'AWS4-HMAC-SHA256' },
    { role: '', in: 'query', name: 'X-Amz-Signature' },
  ],
});
const inContent = scheme('content', {
  content: { isPossible: () => true, isPresent: async ({ target }) => target.startsWith('/signed') },
});

async function findOutcome(
  schemes: readonly Verifier[],
  parts: Partial<RequestParts>,
  accepted?: AcceptedSchemes,
): Promise<string | undefined> {
  const limiter = createRateLimiter(100, createManualClock(0));
  const authenticator = createAuthenticator(schemes, limiter);
  try {
    const request = createRequest({ method: 'GET', target: '/', ...parts });
    return (await authenticator.authenticate(request, undefined, accepted))?.name;
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    const fields = error.headers.map(([name, value]) => ` ${name}: ${value}`).join('');
    return `${error.status} ${error.type}${fields}`;
  }
}

describe('credentials outside Authorization', () => {
  test('are found in the field, parameter or name that a scheme declares', async () => {
    const schemes = [inField, inQuery];
    assert.equal(await findOutcome(schemes, {}), undefined);
    assert.equal(await findOutcome(schemes, { headers: [['X-Signature', 'v1=a']] }), 'by partner');
    assert.equal(await findOutcome(schemes, { target: '/?a=b&X-Amz-Signature=0' }), 'by aws');
    assert.equal(await findOutcome(schemes, { target: '/?X-Amz-Signature' }), 'by aws');
    assert.equal(await findOutcome(schemes, { target: '/X-Amz-Signature=0?x-amz-signature=0' }), undefined);
    const fields = [['Authorization', 'AWS4-HMAC-SHA256 Credential=a']] as const;
    assert.equal(await findOutcome(schemes, { headers: fields }), 'by aws');
  });

  test('of Basic, bearer tokens and OAuth 1.0a are refused unread over plain HTTP', async () => {
    const schemes = [basicScheme, bearerScheme, createOAuth1Scheme()].map(({ name, places, tlsOnly }) =>
      scheme(name, { places, tlsOnly }),
    );
    for (const value of [
      'Basic YW5uOnB3',
      'Bearer abc',
      'OAuth oauth_token="x"',
      'basic !!not even base64',
    ]) {
      const headers = [['Authorization', value]] as const;
      assert.equal(await findOutcome(schemes, { headers }), '403 tls-required');
      assert.match((await findOutcome(schemes, { headers, secure: true })) ?? '', /^by /);
    }
  });

  test('in content that requires TLS are not looked for over plain HTTP', async () => {
    const looked: string[] = [];
    const isPresent = async ({ target }: { readonly target: string }): Promise<boolean> => {
      looked.push(target);
      return true;
    };
    const form = scheme('form', {
      places: [],
      tlsOnly: true,
      content: { isPossible: () => true, isPresent },
    });
    for (const accepted of [undefined, ['form'], [['form'], []]] as const) {
      assert.equal(await findOutcome([form], { target: '/plain' }, accepted), undefined);
      assert.equal(await findOutcome([form], { target: '/tls', secure: true }, accepted), 'by form');
    }
    assert.deepEqual(new Set(looked), new Set(['/tls']));
  });

  test('of a scheme that the resource does not accept are refused with the challenges of the accepted schemes', async () => {
    const schemes = [inField, inQuery, scheme('hmac')];
    const fields = [['X-Signature', 'v1=a']] as const;
    const refused = '401 scheme-not-offered WWW-Authenticate: aws realm="here"';
    assert.equal(await findOutcome(schemes, { headers: fields }, ['aws']), refused);
    assert.equal(await findOutcome(schemes, { headers: [['Authorization', 'hmac a:b']] }, ['aws']), refused);
    assert.equal(
      await findOutcome(schemes, { headers: [['Authorization', 'basic ab']] }, ['hmac']),
      '401 scheme-not-offered WWW-Authenticate: hmac realm="here"',
      'over TLS they would not be accepted either',
    );
    assert.equal(await findOutcome(schemes, {}, ['aws']), undefined);
    assert.equal(await findOutcome(schemes, { headers: fields }, ['aws', 'partner']), 'by partner');
  });

  test('in a place that two schemes share are verified by the scheme that the resource accepts', async () => {
    const other = scheme('other', { places: [{ role: '', in: 'header', name: 'x-signature' }] });
    const fields = [['X-Signature', 'v1=a']] as const;
    assert.equal(await findOutcome([inField, other], { headers: fields }, ['other']), 'by other');
    assert.equal(await findOutcome([inField, other], { headers: fields }, ['partner']), 'by partner');
    assert.equal(await findOutcome([inField, other], { headers: fields }), '400 several-credentials');
  });
});

describe('a resource that accepts certain schemes', () => {
  const key = scheme('key', { places: [{ role: '', in: 'header', name: 'x-key' }], tlsOnly: true });
  const schemes = [inField, inQuery, key, inContent, scheme('hmac'), scheme('basic', { tlsOnly: true })];
  const all = {
    target: '/?X-Amz-Signature=0',
    headers: [
      ['X-Signature', 'v1=a'],
      ['X-Key', 'k'],
      ['Authorization', 'Basic YTpi'],
      ['Authentication', 'hmac a:b'],
    ],
  } as const;

  test('verifies the first alternative that the request has, whatever else it has', async () => {
    for (const [accepted, outcome] of [
      [['partner'], 'by partner'],
      [['aws'], 'by aws'],
      [['hmac'], 'by hmac'],
      [['content', 'aws'], 'by aws'],
      [['key', 'hmac'], 'by hmac'],
      [[['aws', 'content'], 'partner'], 'by partner'],
      [['basic'], '403 tls-required'],
      [[[]], undefined],
    ] as const)
      assert.equal(await findOutcome(schemes, all, accepted), outcome, JSON.stringify(accepted));
    assert.equal(await findOutcome(schemes, { ...all, secure: true }, ['key', 'hmac']), 'by key');
    assert.equal(await findOutcome(schemes, { ...all, target: '/signed' }, ['content']), 'by content');
  });

  test('refuses credentials of one scheme in two places, and two lines of Authorization', async () => {
    const twice = [...all.headers, ['Authorization', 'AWS4-HMAC-SHA256 a']] as const;
    assert.match((await findOutcome(schemes, { headers: twice }, ['aws'])) ?? '', /^400 several-credentials/);
    const both = [['Authorization', 'AWS4-HMAC-SHA256 a']] as const;
    const parts = { headers: both, target: '/?X-Amz-Signature=0' };
    assert.match((await findOutcome(schemes, parts, ['aws'])) ?? '', /^400 several-credentials/);
    assert.equal(await findOutcome(schemes, { headers: twice }, ['partner']), 'by partner');
  });

  test('refuses a part of the credentials that it requires together, and those of different users', async () => {
    const same: Partial<Verifier> = {
      authenticate: () => ({ outcome: 'good', principal: { name: 'ann', scheme: 'any' } }),
    };
    const agreeing = [
      { ...inField, ...same },
      { ...inQuery, ...same },
    ];
    const signature = ['X-Signature', 'v1=a'] as const;
    const request = { headers: [signature], target: '/?X-Amz-Signature=0' };
    assert.equal(await findOutcome(agreeing, request, [['aws', 'partner']]), 'ann');
    const challenges = 'WWW-Authenticate: partner realm="here", aws realm="here"';
    assert.equal(
      await findOutcome(agreeing, { headers: [signature] }, [['aws', 'partner']]),
      `401 authentication-required ${challenges}`,
    );
    assert.equal(
      await findOutcome(schemes, request, [['aws', 'partner']]),
      `401 credentials-refused ${challenges}`,
    );
  });
});

describe('a peer that has failed too often', () => {
  const blocked = '429 too-many-failures';
  const schemes = [
    inField,
    inQuery,
    inContent,
    scheme('hmac'),
    scheme('session', { places: [{ role: '', in: 'cookie', name: 'session' }] }),
    scheme('parameters', { isInQuery: (query) => query.includes('own_') }),
  ];
  const places: Readonly<Record<string, Partial<RequestParts>>> = {
    Authorization: { headers: [['Authorization', 'hmac a:b']] },
    'a field': { headers: [['X-Signature', 'v1=a']] },
    'a parameter': { target: '/?X-Amz-Signature=0' },
    'parameters of a prefix': { target: '/?own_key=a' },
    'a cookie': { headers: [['Cookie', 'session=a']] },
    content: { target: '/signed' },
  };

  const findBlocked = async (
    parts: Partial<RequestParts>,
    accepted?: AcceptedSchemes,
  ): Promise<string | undefined> => {
    const limiter = createRateLimiter(1, createManualClock(0));
    const request = createRequest({ method: 'GET', target: '/', ...parts });
    limiter.fail(request.connection.peer, undefined);
    try {
      return (await createAuthenticator(schemes, limiter).authenticate(request, undefined, accepted))?.name;
    } catch (error) {
      assert.ok(error instanceof Problem, String(error));
      return `${error.status} ${error.type}`;
    }
  };

  for (const [place, parts] of Object.entries(places))
    test(`gets 429 for credentials in ${place}, whether or not the resource accepts them`, async () => {
      assert.equal(await findBlocked(parts), blocked);
      const names = schemes.map(({ name }) => name);
      assert.equal(await findBlocked(parts, names), blocked);
      // The content is read only for a scheme that is accepted.
      if (place !== 'content') assert.equal(await findBlocked(parts, ['other']), blocked);
    });

  test('may send requests without credentials, with content too', async () => {
    assert.equal(await findBlocked({ target: '/unsigned' }), undefined);
    assert.equal(await findBlocked({ target: '/unsigned' }, ['content']), undefined);
  });
});

test('the fields on which authentication depends are the places of credentials, and what is read beside them', () => {
  const signed = scheme('signed', {
    places: [{ role: '', in: 'query', name: 'sig' }],
    requestHeaders: ['x-user', 'host'],
  });
  const inCookie = scheme('cookie', {
    places: [
      { role: '', in: 'cookie', name: 'session' },
      { role: '', in: 'cookie', name: 'other' },
    ],
  });
  const hmac = scheme('hmac', { requestHeaders: ['x-date'] });
  const limiter = createRateLimiter(100, createManualClock(0));
  const { credentialFields } = createAuthenticator([inField, signed, inCookie, hmac], limiter);
  assert.deepEqual(credentialFields, ['x-signature', 'Cookie', 'x-user']);
});

test('a challenge can have further fields, and covers only the schemes of the resource', () => {
  const limiter = createRateLimiter(100, createManualClock(0));
  const signatures = scheme('signatures', {
    challengeFields: () => [['Accept-Signature', 'sig=("@method")']],
  });
  const authenticator = createAuthenticator([inField, signatures], limiter);
  const connection = { peer: '127.0.0.1', secure: false };
  assert.deepEqual(authenticator.challenges(connection), [
    ['WWW-Authenticate', 'partner realm="here", signatures realm="here"'],
    ['Accept-Signature', 'sig=("@method")'],
  ]);
  assert.deepEqual(authenticator.challenges(connection, ['partner']), [
    ['WWW-Authenticate', 'partner realm="here"'],
  ]);
});
