// The contract for what the declared language can say beyond HMAC in fields.
import { constants, createHash, sign } from 'node:crypto';
import { identities, knowledge, type SchemeSubject, users, usualWithContent } from '../../scheme-contract.ts';
import { type DeclaredClient, declaredSigner } from '../declared.ts';
import { createPairs } from '../key-pairs.ts';
import { type Sent, withField } from '../signer.ts';
import { generalDeclared } from '../webhooks.ts';

const other = (text: string): string => `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`;
const general = [
  ...generalDeclared,
  /^The timestamp is not /,
  /^The signature is not /,
  /is missing; it contains the/,
  /^The value does not have the form/,
];
const common = {
  options: { users },
  identities,
  window: { late: 300, early: 300 },
  general,
  knowledge,
} as const;

const fractional = (ms: number): string => (ms / 1000).toFixed(3);

/** Everything is in one field. */
const inOneField: SchemeSubject = {
  ...common,
  scheme: 'acme',
  options: {
    users,
    schemes: {
      acme: {
        message: '{timestamp}\n{nonce}\n{key-id}\n{method}\n{target}\n{body-sha512-base64}',
        signature: {
          field: 'Authorization',
          format: 'Acme id="{key-id}",nonce="{nonce}",ts="{timestamp}",sig="{signature}"',
          names: ['Acme-Old'],
        },
        timestamp: { unit: 'fractional-s' },
      },
    },
  },
  signer: () =>
    declaredSigner({
      message: [
        'time',
        '"\n"',
        'nonce',
        '"\n"',
        'user',
        '"\n"',
        'method',
        '"\n"',
        'target',
        '"\n"',
        'sha512',
      ],
      computePart: (_, content) => createHash('sha512').update(content).digest('base64'),
      signature: { field: 'Authorization' },
      formatTime: fractional,
      format: (signature, time, { user, nonce }) =>
        `acme-old id="${user}",nonce="${nonce}",ts="${time}",sig="${signature}"`,
    }),
  parts: {
    host: { unsigned: 'the declaration does not name it' },
    time: (sent) => withField(sent, 'Authorization', (text) => text.replace(/000"/, '001"')),
    nonce: (sent) => withField(sent, 'Authorization', (text) => text.replace('nonce="n', 'nonce="m')),
    user: (sent) => withField(sent, 'Authorization', (text) => text.replace('id="ann"', 'id="bob"')),
  },
  credentialFields: ['Authorization'],
  // Both names of the scheme are accepted.
  meaning: (text) =>
    text
      .toLowerCase()
      .replace(/[\s"\\]/g, '')
      .replace('acme-old', 'acme'),
};

const target =
  (from: string | RegExp, to: string) =>
  (sent: Sent): Sent => ({ ...sent, target: sent.target.replace(from, to) });

/** Everything is in the query. */
const inQuery: SchemeSubject = {
  ...common,
  scheme: 'links',
  options: {
    users,
    schemes: {
      links: {
        message: '{method}\n{target}\n{body-sha1-hex}',
        hash: 'sha384',
        signature: { query: 'sig' },
        user: { query: 'key' },
        timestamp: { query: 'time', unit: 'ms' },
        nonce: { query: 'nonce' },
      },
    },
  },
  signer: () =>
    declaredSigner({
      message: ['method', '"\n"', 'target', '"\n"', 'sha1'],
      computePart: (_, content) => createHash('sha1').update(content).digest('hex'),
      hash: 'sha384',
      signature: { query: 'sig' },
      userParameter: 'key',
      timeParameter: 'time',
      nonceParameter: 'nonce',
      formatTime: String,
    }),
  parts: {
    host: { unsigned: 'the declaration does not name it' },
    time: target(/time=(\d+)0&/, 'time=$11&'),
    nonce: target('nonce=n', 'nonce=m'),
    user: target('key=ann', 'key=bob'),
  },
  credentialFields: [],
};

const withMembers = (content: string, members: object): string =>
  JSON.stringify({ ...JSON.parse(content === '' ? '{}' : content), ...members });
const member =
  (name: string, change: (text: string) => string) =>
  (sent: Sent): Sent => {
    const content: Readonly<Record<string, string>> = JSON.parse(sent.content ?? '');
    return { ...sent, content: withMembers(sent.content ?? '', { [name]: change(content[name] ?? '') }) };
  };

/** The nonce, the time and the user are in the content. */
const inContent: SchemeSubject = {
  ...common,
  scheme: 'events',
  options: {
    users,
    schemes: {
      events: {
        message: '{method}{path}?{query}.{body-sha256}',
        signature: { field: 'X-Sign' },
        user: { field: 'X-Key' },
        timestamp: { json: '/meta~1time', unit: 'rfc3339' },
        nonce: { json: '/nonce' },
      },
    },
  },
  request: usualWithContent,
  signer: () =>
    declaredSigner({
      message: ['method', 'path', '"?"', 'query', '"."', 'digest'],
      signature: { field: 'X-Sign' },
      userField: 'X-Key',
      formatTime: (ms) => new Date(ms).toISOString().replace('.000', ''),
      inContent: (content, time, nonce) => withMembers(content, { 'meta/time': time, nonce }),
    }),
  parts: {
    host: { unsigned: 'the declaration does not name it' },
    time: member('meta/time', (text) => text.replace(/0Z$/, '1Z')),
    nonce: member('nonce', other),
    user: (sent) => withField(sent, 'X-Key', () => 'bob'),
  },
  credentialFields: ['X-Sign', 'X-Key'],
  without: { 'changed item': 'an item has no members for credentials' },
};

/** The nonce is in a form, as well as the signature. */
const inForm: SchemeSubject = {
  ...common,
  scheme: 'forms',
  options: {
    users,
    schemes: {
      forms: {
        message: '{method}.{target}.{body}',
        signature: { form: 'sign' },
        user: { field: 'X-Key' },
        timestamp: { form: 'ts' },
        nonce: { form: 'token' },
      },
    },
  },
  request: {
    ...usualWithContent,
    lines: [['Content-Type', 'application/x-www-form-urlencoded']],
    content: 'title=Tea+time',
  },
  write: {
    ...usualWithContent,
    lines: [['Content-Type', 'application/x-www-form-urlencoded']],
    content: 'title=Tea+time',
  },
  signer: () =>
    declaredSigner({
      message: ['method', '"."', 'target', '"."', 'content'],
      signature: {
        content: (content, signature) => `${content}&sign=${encodeURIComponent(signature)}`,
      },
      userField: 'X-Key',
      inContent: (content, time, nonce) =>
        `${content}&ts=${encodeURIComponent(time)}&token=${encodeURIComponent(nonce)}`,
    }),
  parts: {
    method: 'signed',
    path: 'signed',
    query: 'signed',
    host: { unsigned: 'the declaration does not name it' },
    content: 'signed',
    time: (sent) => ({ ...sent, content: sent.content?.replace(/ts=(\d+)0&/, 'ts=$11&') }),
    nonce: (sent) => ({ ...sent, content: sent.content?.replace('token=n', 'token=m') }),
    user: (sent) => withField(sent, 'X-Key', () => 'bob'),
  },
  credentialFields: ['X-Key'],
  without: {
    'second scheme': 'content is not searched for credentials if a field has some',
    'changed item': 'an item is no form',
    'sent twice': 'the user alone is no credential',
  },
};

/** A plain digest of a message with the secret. */
const digest = (hash: 'md5' | 'sha256'): SchemeSubject => ({
  ...common,
  scheme: 'old',
  options: {
    users,
    schemes: {
      old: {
        algorithm: 'digest',
        hash,
        message: '{secret}{timestamp}{method}{url}{body}',
        signature: { field: 'X-Hash' },
        user: { field: 'X-Key' },
        timestamp: { field: 'X-Time' },
        replay: 'refuse',
      },
    },
  },
  signer: () =>
    declaredSigner({
      message: ['time', 'method', 'url', 'content'],
      signature: { field: 'X-Hash' },
      userField: 'X-Key',
      timeField: 'X-Time',
      sign: (message, secret) => createHash(hash).update(secret).update(message).digest(),
    }),
  parts: {
    time: (sent) => withField(sent, 'X-Time', other),
    nonce: { absent: 'the message itself is accepted once' },
    user: (sent) => withField(sent, 'X-Key', () => 'bob'),
  },
  credentialFields: ['X-Hash', 'X-Time', 'X-Key'],
});

const rsa = createPairs('rsa');
const kinds = {
  ed25519: { key: 'ed25519', pairs: createPairs('ed25519') },
  'ecdsa-p256': { key: 'ecdsa-p256-sha256', pairs: createPairs('ecdsa') },
  'rsa-pss': { key: 'rsa-pss-sha512', pairs: rsa },
  'rsa-v1_5': { key: 'rsa-v1_5-sha256', pairs: rsa },
} as const;

/** Signatures by private keys. */
function byPrivateKey(
  algorithm: keyof typeof kinds,
  declaration: object,
  client: Partial<DeclaredClient> & Required<Pick<DeclaredClient, 'sign'>>,
): SchemeSubject {
  const {
    key,
    pairs: { ann, bob },
  } = kinds[algorithm];
  const keyed = {
    ann: { keys: { 'key-a': { algorithm: key, publicKey: ann.publicKey } } },
    bob: { keys: { 'key-b': { algorithm: key, publicKey: bob.publicKey } } },
  };
  return {
    ...common,
    scheme: 'signed',
    options: {
      users: keyed,
      schemes: {
        signed: {
          message: '{timestamp}.{method}.{target}.{body}',
          algorithm,
          signature: { field: 'X-Signature' },
          user: { field: 'X-Key' },
          timestamp: { field: 'X-Time' },
          ...declaration,
        },
      },
    },
    identities: { ann: { user: 'key-a', secret: ann.secret }, bob: { user: 'key-b', secret: bob.secret } },
    signer: () =>
      declaredSigner({
        message: ['time', '"."', 'method', '"."', 'target', '"."', 'content'],
        signature: { field: 'X-Signature' },
        userField: 'X-Key',
        timeField: 'X-Time',
        ...client,
      }),
    parts: {
      host: { unsigned: 'the declaration does not name it' },
      time: (sent) => withField(sent, 'X-Time', other),
      nonce: { absent: 'the declaration has none' },
      user: (sent) => withField(sent, 'X-Key', () => 'key-b'),
    },
    credentialFields: ['X-Signature', 'X-Time', 'X-Key'],
    knowledge: { other: /key of another user, bob: its id is key-b/, former: 'none' },
    without: {
      replay: 'the declaration accepts a signature again',
      restart: 'the declaration accepts a signature again',
      rotation: 'a key that replaces another has another id',
    },
  };
}

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  'a declared scheme with everything in Authorization': inOneField,
  'a declared scheme with everything in the query': inQuery,
  'a declared scheme with a nonce and a time in JSON': inContent,
  'a declared scheme with everything in a form': inForm,
  'a plain SHA-256 digest': digest('sha256'),
  'a plain MD5 digest': digest('md5'),
  Ed25519: byPrivateKey('ed25519', {}, { sign: (text, key) => sign(null, text, key) }),
  'ECDSA in DER': byPrivateKey(
    'ecdsa-p256',
    { encoding: 'base64' },
    { encoding: 'base64', sign: (text, key) => sign('sha256', text, key) },
  ),
  'ECDSA in the form of IEEE P1363': byPrivateKey(
    'ecdsa-p256',
    { dsaEncoding: 'ieee-p1363', hash: 'sha512', encoding: 'base64url' },
    {
      encoding: 'base64url',
      sign: (text, key) => sign('sha512', text, { key, dsaEncoding: 'ieee-p1363' }),
    },
  ),
  'RSASSA-PSS': byPrivateKey(
    'rsa-pss',
    { encoding: 'base64' },
    {
      encoding: 'base64',
      sign: (text, key) =>
        sign('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 20 }),
    },
  ),
  'RSASSA-PKCS1-v1_5': byPrivateKey(
    'rsa-v1_5',
    { encoding: 'base64', hash: 'sha512' },
    { encoding: 'base64', sign: (text, key) => sign('sha512', text, key) },
  ),
};
