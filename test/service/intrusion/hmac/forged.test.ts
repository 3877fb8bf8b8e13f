import { createHash } from 'node:crypto';
import { after } from 'node:test';
import {
  type Attempt,
  computeSignature,
  date,
  formatRequest,
  fullLines,
  fullSignature,
  openGuarded,
  refuses,
  type Sending,
  type Signing,
  secrets,
  signed,
  simpleSignature,
  target,
} from '../../../support/intrusion/guarded.ts';
import { article } from '../../../support/service/guest.ts';

const testServer = await openGuarded();
after(() => testServer.close());

const badDigest = '401 credentials-refused';
const malformed = '400 malformed-credentials';
const stamp = date.replaceAll(' ', '');

/** Signed in one way, and sent in another: none of it is covered by the signature. */
const changed = (name: string, signing: Signing, sending: Sending, outcome = badDigest): Attempt => [
  name,
  (nonce) => formatRequest({ lines: fullLines({ ...signing, nonce }), ...sending }),
  outcome,
];

const put = { verb: 'PUT', target: '/articles/1' };

refuses(testServer, [
  changed(
    'a GET that is sent as DELETE',
    { target: '/articles/1' },
    { verb: 'DELETE', target: '/articles/1' },
  ),
  changed('a PUT that is sent as POST', put, {
    verb: 'POST',
    target: '/articles/1',
    content: article('X'),
  }),
  changed('a HEAD that is sent as GET', { verb: 'HEAD' }, {}),
  changed('an OPTIONS that is sent as GET', { verb: 'OPTIONS' }, {}),
  changed('a verb that was signed in small letters', { verb: 'get' }, {}),
  changed(
    'a verb that is sent in small letters',
    { verb: 'get' },
    { verb: 'get' },
    '501 method-not-implemented',
  ),
  changed('another path', { target: '/users/bob/financialrecords' }, {}),
  changed('another item', put, { verb: 'PUT', target: '/articles/2', content: article('X') }),
  changed('a path that was signed in capitals', { target: target.toUpperCase() }, {}),
  changed('a query that was added', {}, { target: `${target}?limit=500` }),
  changed('an empty query that was added', {}, { target: `${target}?` }),
  changed('a query that was removed', { target: `${target}?limit=1` }, {}),
  changed('a query of another value', { target: `${target}?limit=1` }, { target: `${target}?limit=2` }),
  changed('parameters in another order', { target: `${target}?a=1&b=2` }, { target: `${target}?b=2&a=1` }),
  changed('a parameter that was doubled', { target: `${target}?a=1` }, { target: `${target}?a=1&a=2` }),
  changed('a letter of the path encoded on the way', {}, { target: '/users/%61nn/financialrecords' }),
  changed('a letter of the path decoded on the way', { target: '/users/%61nn/financialrecords' }, {}),
  changed(
    'an escape in capitals that was signed in small letters',
    { target: '/articles/%c3%a9' },
    { target: '/articles/%C3%A9' },
  ),
  changed('a path in absolute form', {}, { target: `http://localhost${target}` }),
  changed(
    'an absolute form of another host',
    { target: `http://one${target}` },
    { target: `http://two${target}` },
  ),
  changed('an absolute form as a path', { target: `http://localhost${target}` }, {}),
  [
    'a later date',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }).slice(0, 1), 'Date: 29 feb 2024 12:00:01'] }),
    badDigest,
  ],
  [
    'a month in other letters',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }).slice(0, 1), 'Date: 29 Feb 2024 12:00:00'] }),
    badDigest,
  ],
  [
    'the same second in the other form',
    (nonce) =>
      formatRequest({ lines: [...fullLines({ nonce }).slice(0, 1), 'Date: Thu, 29 Feb 2024 12:00:00 GMT'] }),
    badDigest,
  ],
  [
    'an X-Date that was added and counts',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }), 'X-Date: 29 feb 2024 12:00:01'] }),
    badDigest,
  ],
  [
    'a Date that was signed where an X-Date was sent',
    (nonce) =>
      formatRequest({ lines: [...fullLines({ nonce, date: '29 feb 2024 12:00:01' }), `X-Date: ${date}`] }),
    badDigest,
  ],
  [
    'another nonce',
    (nonce) =>
      formatRequest({
        lines: [`Authentication: hmac ann:${nonce}:${fullSignature({ nonce: 'other' })}`, `Date: ${date}`],
      }),
    badDigest,
  ],
  [
    'a nonce in capitals',
    (nonce) =>
      formatRequest({
        lines: [
          `Authentication: hmac ann:${nonce.toUpperCase()}:${fullSignature({ nonce })}`,
          `Date: ${date}`,
        ],
      }),
    badDigest,
  ],
  [
    'a nonce that is cut short, its rest put to the date',
    (nonce) =>
      formatRequest({
        lines: [
          `Authentication: hmac ann:${nonce}:${computeSignature(`GET+${target}+${stamp}0+${nonce}`)}`,
          `Date: ${date}0`,
        ],
      }),
    malformed,
  ],
  ['the secret of somebody else', (nonce) => signed({ nonce, secret: secrets.bob }), badDigest],
  ['somebody else with the own secret', (nonce) => signed({ nonce, user: 'bob' }), badDigest],
  ['the secret with a line feed', (nonce) => signed({ nonce, secret: `${secrets.ann}\n` }), badDigest],
  ['the secret in capitals', (nonce) => signed({ nonce, secret: secrets.ann.toUpperCase() }), badDigest],
  ['an empty secret', (nonce) => signed({ nonce, secret: '' }), badDigest],
  [
    'the dummy secret that stands in for one',
    (nonce) => signed({ nonce, secret: 'no one has this secret' }),
    badDigest,
  ],
  [
    'the dummy secret for a user who is not there',
    (nonce) => signed({ nonce, user: 'nobody', secret: 'no one has this secret' }),
    badDigest,
  ],
  [
    'a plain hash in the place of the keyed one',
    (nonce) =>
      formatRequest({
        lines: [
          `Authentication: hmac ann:${nonce}:iOVcv0kXWLLmWi6WGpxZEqhIXCKIv2CSHAf+XcUJVZE=`,
          `Date: ${date}`,
        ],
      }),
    badDigest,
  ],
  [
    'a simple signature with a nonce beside it',
    (nonce) =>
      formatRequest({ lines: [`Authentication: hmac ann:${nonce}:${simpleSignature({})}`, `Date: ${date}`] }),
    badDigest,
  ],
  [
    'a full signature without its nonce',
    (nonce) =>
      formatRequest({ lines: [`Authentication: hmac ann:${fullSignature({ nonce })}`, `Date: ${date}`] }),
    badDigest,
  ],
  [
    'a signature of all but the body digest that is sent',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }), 'Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg=='] }),
    badDigest,
  ],
]);

/** A full signature is also the simple one of a longer target, or of a digest field that is none. */
const ambiguous = (
  name: string,
  sending: (nonce: string, digest: string) => Sending,
  outcome: string,
): Attempt => [name, (nonce) => formatRequest(sending(nonce, fullSignature({ nonce }))), outcome];
const simple = (digest: string): string => `Authentication: hmac ann:${digest}`;

refuses(testServer, [
  ambiguous(
    'a full signature as the simple one of a path with date and nonce',
    (nonce, digest) => ({ target: `${target}+${stamp}+${nonce}`, lines: [simple(digest)] }),
    '404 not-found',
  ),
  [
    'a full signature as the simple one of an article with date and nonce',
    (nonce) => {
      const digest = fullSignature({ target: '/articles/1', nonce });
      return formatRequest({ target: `/articles/1+${stamp}+${nonce}`, lines: [simple(digest)] });
    },
    '401 simple-form-refused',
  ],
  [
    'a full signature with a query as the simple one of a longer query',
    (nonce) => {
      const digest = fullSignature({ target: `${target}?a=1`, nonce });
      return formatRequest({ target: `${target}?a=1+${stamp}+${nonce}`, lines: [simple(digest)] });
    },
    '401 simple-form-refused',
  ],
  [
    'a full signature with an IMF-fixdate as the simple one of a longer query',
    (nonce) => {
      const digest = fullSignature({ target: `${target}?`, nonce, date: 'Thu, 29 Feb 2024 12:00:00 GMT' });
      return formatRequest({
        target: `${target}?+Thu,29Feb202412:00:00GMT+${nonce}`,
        lines: [simple(digest)],
      });
    },
    '401 simple-form-refused',
  ],
  [
    'a full signature with a body digest as the simple one of a longer query',
    (nonce) => {
      const signBody = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:';
      const digest = fullSignature({ target: `${target}?`, nonce, signBody });
      return formatRequest({ target: `${target}?+${stamp}+${nonce}+${signBody}`, lines: [simple(digest)] });
    },
    '401 simple-form-refused',
  ],
  [
    'a full signature with a body digest as the simple one with date and nonce in the target',
    (nonce) => {
      const signBody = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:';
      const digest = fullSignature({ target: `${target}?`, nonce, signBody });
      const lines = [simple(digest), `Content-Digest: ${signBody}`];
      return formatRequest({ target: `${target}?+${stamp}+${nonce}`, lines });
    },
    '401 simple-form-refused',
  ],
  ...['Content-Digest', 'Content-MD5'].flatMap((field): Attempt[] => [
    ambiguous(
      `a full signature as the simple one with date and nonce for a ${field}`,
      (nonce, digest) => ({ lines: [simple(digest), `${field}: ${stamp}+${nonce}`] }),
      '400 malformed-field',
    ),
    ambiguous(
      `a full signature as the simple one with date and nonce for a ${field}, asking whether something is there`,
      (nonce, digest) => ({
        lines: [simple(digest), `${field}: ${stamp}+${nonce}`, 'If-None-Match: *'],
      }),
      '400 malformed-field',
    ),
    [
      `a full OPTIONS as the simple one with date and nonce for a ${field}`,
      (nonce) => {
        const digest = fullSignature({ verb: 'OPTIONS', nonce });
        return formatRequest({ verb: 'OPTIONS', lines: [simple(digest), `${field}: ${stamp}+${nonce}`] });
      },
      '400 malformed-field',
    ],
    [
      `a full signature of a longer target as that of a shorter one and a ${field}`,
      (nonce) => {
        const digest = fullSignature({ target: `${target}+${stamp}+${nonce}`, nonce: 'other' });
        const lines = [
          `Authentication: hmac ann:${nonce}:${digest}`,
          `Date: ${date}`,
          `${field}: ${stamp}+other`,
        ];
        return formatRequest({ lines });
      },
      '400 malformed-field',
    ],
  ]),
]);

const lenient = await openGuarded({ hmacSimple: 'all' });
after(() => lenient.close());

const content = article('Wine');
const contentDigest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
const contentMd5 = createHash('md5').update(content).digest('base64');

refuses(
  lenient,
  [contentDigest, contentMd5].flatMap((signBody): Attempt[] => [
    [
      `a simple signature of content with ${signBody} as that of another path and any content`,
      () => {
        const digest = simpleSignature({ verb: 'PUT', target: '/articles/9?', signBody });
        const lines = [simple(digest)];
        return formatRequest({
          verb: 'PUT',
          target: `/articles/9?+${signBody}`,
          lines,
          content: article('Any'),
        });
      },
      '401 simple-form-refused',
    ],
  ]),
);
