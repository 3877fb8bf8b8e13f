import { createHash } from 'node:crypto';
import { askRequestToken, callback, type Signing, sign, startSecond } from '../../support/oauth/consumer.ts';
import { type Case, edited, refuses } from '../../support/oauth/oauth1-refusals.ts';
import type { Answer, Server } from '../../support/oauth/server.ts';

const initiate =
  (signing: Partial<Signing> = {}) =>
  (server: Server): Promise<Answer> =>
    askRequestToken(server, signing);

/** A request for a request token that is signed with these parameters of the protocol; undefined leaves one out. */
const signedWith = (wrong: string, protocol: NonNullable<Signing['protocol']>, outcome: string): Case => [
  wrong,
  initiate({ protocol }),
  outcome,
];

/** Likewise, with the parameters changed after it was signed. */
const tamperedWith = (wrong: string, tampered: NonNullable<Signing['tampered']>, outcome: string): Case => [
  wrong,
  initiate({ tampered }),
  outcome,
];

const basic = `Basic ${Buffer.from('ann:ann-password').toString('base64')}`;

refuses('the endpoint of request tokens refuses', true, [
  [
    'nothing at all',
    (server) => server.ask('POST', '/oauth1/request_token'),
    '400 parameter_absent oauth_consumer_key&oauth_signature_method&oauth_signature&oauth_timestamp&oauth_nonce&oauth_callback',
  ],
  ...['https://evil.example/', `${callback}&x`, callback.replace('printer', 'PRINTER'), 'OOB'].map(
    (oauth_callback) =>
      signedWith(
        `the callback ${oauth_callback}, which is not registered`,
        { oauth_callback },
        '400 parameter_rejected oauth_callback',
      ),
  ),
  [
    'oob by a consumer that is not registered for it',
    (server) => {
      server.service.replaceConsumers({
        printer: { secret: 'printer-secret-0123456789', callbacks: [callback] },
      });
      return askRequestToken(server, { protocol: { oauth_callback: 'oob' } });
    },
    '400 parameter_rejected oauth_callback',
  ],
  ...['callback', 'consumer_key', 'signature_method', 'timestamp', 'nonce'].map((name) =>
    signedWith(`no ${name}`, { [`oauth_${name}`]: undefined }, `400 parameter_absent oauth_${name}`),
  ),
  ...['now', `-${startSecond}`, `0${startSecond}`, `${startSecond}.5`, `${startSecond}000`, '0'].map(
    (oauth_timestamp) =>
      signedWith(
        `the timestamp ${oauth_timestamp}`,
        { oauth_timestamp },
        '400 parameter_rejected oauth_timestamp',
      ),
  ),
  tamperedWith('a callback changed after it was signed', { oauth_callback: 'oob' }, '401 signature_invalid'),
  ['an unknown consumer', initiate({ key: 'nobody' }), '401 signature_invalid'],
  ['__proto__ as consumer', initiate({ key: '__proto__' }), '401 signature_invalid'],
  ['a wrong secret', initiate({ secret: 'wrong' }), '401 signature_invalid'],
  tamperedWith('no signature', { oauth_signature: undefined }, '400 parameter_absent oauth_signature'),
  tamperedWith('a signature that is no base64', { oauth_signature: '???' }, '401 signature_invalid'),
  ...['HMAC-MD5', 'hmac-sha1', 'PLAINTEXT', 'RSA-SHA1'].map((oauth_signature_method) =>
    signedWith(
      `${oauth_signature_method}, which no consumer may use`,
      { oauth_signature_method },
      '400 signature_method_rejected',
    ),
  ),
  tamperedWith(
    'another method than it was signed by',
    { oauth_signature_method: 'HMAC-SHA256' },
    '401 signature_invalid',
  ),
  ...['2.0', '1.0a', ''].map((oauth_version) =>
    signedWith(`the version "${oauth_version}"`, { oauth_version }, '400 version_rejected'),
  ),
  signedWith(
    'a timestamp 301 s behind',
    { oauth_timestamp: String(startSecond - 301) },
    '401 timestamp_refused',
  ),
  signedWith(
    'a timestamp 301 s ahead',
    { oauth_timestamp: String(startSecond + 301) },
    '401 timestamp_refused',
  ),
  [
    'a nonce twice',
    async (server) => {
      await askRequestToken(server, { protocol: { oauth_nonce: 'once' } });
      return askRequestToken(server, { protocol: { oauth_nonce: 'once' } });
    },
    '401 nonce_used',
  ],
  ...['token', 'verifier', 'unknown'].map((name) =>
    signedWith(`oauth_${name}`, { [`oauth_${name}`]: 'x' }, `400 parameter_rejected oauth_${name}`),
  ),
  signedWith('a parameter with an odd name', { 'oauth_ü"': 'x' }, '400 parameter_rejected oauth_%C3%BC%22'),
  [
    'a parameter twice in the header',
    edited((field) => `${field}, oauth_nonce="again"`),
    '400 parameter_rejected oauth_nonce',
  ],
  [
    'the signature in two places',
    (server) => askRequestToken(server, { target: '/oauth1/request_token?oauth_signature=x' }),
    '400 parameter_rejected oauth_signature',
  ],
  [
    'the callback in the query, the rest in the header',
    (server) =>
      askRequestToken(server, {
        target: `/oauth1/request_token?oauth_callback=oob`,
        protocol: { oauth_callback: undefined },
      }),
    '400 parameter_rejected oauth_callback',
  ],
  [
    'a parameter in the form, the rest in the header',
    initiate({ form: { oauth_extra: '1' } }),
    '400 parameter_rejected oauth_extra',
  ],
  [
    'parameters in query and form',
    async (server) => {
      const { target, sending } = sign(server, {
        target: '/oauth1/request_token',
        place: 'query',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', target, { ...sending, form: 'oauth_nonce=x' });
    },
    '400 parameter_rejected oauth_nonce',
  ],
  [
    'a parameter twice in the form',
    async (server) => {
      const { target, sending } = sign(server, {
        target: '/oauth1/request_token',
        place: 'form',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', target, { ...sending, form: `${sending.form}&oauth_nonce=x` });
    },
    '400 parameter_rejected oauth_nonce',
  ],
  ['a form with a broken escape', initiate({ sending: { form: 'a=%2' } }), '400 parameter_rejected'],
  [
    'a form that is packed',
    initiate({ sending: { form: 'a=1', fields: [['Content-Encoding', 'gzip']] } }),
    '415 unsupported-content-coding',
  ],
  [
    'a value that is no UTF-8',
    edited((field) => field.replace(/oauth_nonce="[^"]*"/, 'oauth_nonce="%FF"')),
    '400 parameter_rejected oauth_nonce',
  ],
  ...['', ' ', '; '].map(
    (separator): Case => [
      `a header with "${separator}" for a comma`,
      edited((field) => field.replaceAll(', ', separator)),
      '400 parameter_rejected',
    ],
  ),
  ['a header without quotes', edited((field) => field.replaceAll('"', '')), '400 parameter_rejected'],
  [
    'a header with a broken escape',
    edited((field) => field.replace('oauth_nonce="', 'oauth_nonce="%2')),
    '400 parameter_rejected',
  ],
  [
    'a header with a value that is not encoded',
    edited((field) => field.replace('%3A', ':')),
    '400 parameter_rejected',
  ],
  ['a header with two realms', edited((field) => `${field}, realm="there"`), '400 parameter_rejected'],
  [
    'a header with nothing behind the scheme',
    edited(() => 'OAuth'),
    '400 parameter_absent oauth_consumer_key&oauth_signature_method&oauth_signature&oauth_timestamp&oauth_nonce&oauth_callback',
  ],
  ['credentials of a user', edited(() => basic), '400 parameter_rejected'],
  [
    'two Authorization fields',
    initiate({ sending: { fields: [['Authorization', basic]] } }),
    '400 parameter_rejected',
  ],
  [
    'a scope that the consumer may not have',
    initiate({ key: 'reader', form: { scope: 'read write' }, protocol: { oauth_callback: 'oob' } }),
    '400 parameter_rejected scope',
  ],
  ['an unknown scope', initiate({ form: { scope: 'admin' } }), '400 parameter_rejected scope'],
  [
    'two scopes',
    initiate({ target: '/oauth1/request_token?scope=read&scope=write' }),
    '400 parameter_rejected scope',
  ],
  [
    'a hash of a form',
    initiate({
      form: { a: '1' },
      protocol: { oauth_body_hash: createHash('sha1').update('a=1').digest('base64') },
    }),
    '400 parameter_rejected oauth_body_hash',
  ],
  signedWith(
    'a wrong hash of no content',
    { oauth_body_hash: 'x' },
    '400 parameter_rejected oauth_body_hash',
  ),
  [
    'a query that was not signed',
    async (server) => {
      const { sending } = sign(server, {
        target: '/oauth1/request_token',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', '/oauth1/request_token?scope=read', sending);
    },
    '401 signature_invalid',
  ],
  [
    'a signature for another path',
    async (server) => {
      const { sending } = sign(server, {
        target: '/oauth1/access_token',
        protocol: { oauth_callback: callback },
      });
      return server.ask('POST', '/oauth1/request_token', sending);
    },
    '401 signature_invalid',
  ],
  ['a signature for plain HTTP', initiate({ origin: 'http://localhost' }), '401 signature_invalid'],
  ['GET', (server) => server.ask('GET', '/oauth1/request_token'), '405 method-not-allowed'],
  ['plain HTTP', initiate({ sending: { secure: false } }), '403 tls-required'],
]);
