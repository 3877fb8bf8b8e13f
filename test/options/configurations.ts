import { generateKeyPairSync } from 'node:crypto';
import { presets } from '../../src/schemes/declared/presets.ts';
import { rsa } from '../support/keys.ts';
import type { Seeded } from '../support/seeded.ts';

const ed25519 = generateKeyPairSync('ed25519');
const publicPem = ed25519.publicKey.export({ type: 'spki', format: 'pem' });
const privatePem = ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' });

const attributes = { currency: { type: 'currency', required: true, enum: ['EUR', 'USD'] } };

/** A valid configuration that uses every member of every part. */
export const complete = {
  $schema: './countersign.schema.json',
  port: 8081,
  hmacSimple: 'all',
  explain: true,
  quota: [{ name: 'burst', requests: 20, window: 1 }, '1000/1h', { requests: 5000, window: '1d' }],
  trustProxy: ['10.0.0.0/8'],
  cors: { origins: ['https://app.example'], credentials: true, maxAge: 60 },
  hmac: { requireBodyDigest: true },
  nonces: { max: 1000, maxPerUser: 10 },
  lifetimes: { code: 60, access: 60 },
  users: {
    ann: { secret: 'secret of ann', password: 'password of ann', quota: '20/1s,1000/1h' },
    ben: {
      keys: {
        'key-1': { algorithm: 'ed25519', publicKey: publicPem, until: 2_000_000_000_000 },
        'key-2': { algorithm: 'ed25519', publicKey: ed25519.publicKey.export({ format: 'jwk' }) },
        'key-3': { algorithm: 'aws4', secret: 'secret of the key' },
      },
    },
  },
  clients: {
    app: {
      secret: 'secret of app',
      redirectUris: ['https://app.example/cb'],
      grants: ['authorization_code', 'client_credentials'],
      scopes: ['read', 'write', 'orders.read'],
      users: ['ann'],
    },
    all: { users: '*', secret: 'secret of all', grants: ['client_credentials'] },
  },
  consumers: {
    printer: { secret: 'secret of printer', callbacks: ['oob'], methods: ['HMAC-SHA256'], scopes: ['read'] },
    scanner: { rsaPublicKey: rsa.publicPem, methods: ['RSA-SHA1'] },
  },
  oauth2: { scopes: ['read', 'write', 'orders.read'] },
  schemes: {
    'message-signatures': {
      components: ['@method', '@path'],
      window: 60,
      nonce: 'required',
      tag: 'example',
      structuredFields: { 'Example-Field': 'list' },
      signResponses: {
        key: { id: 'key', algorithm: 'ed25519', privateKey: privatePem },
        components: ['@status'],
      },
    },
    'draft-cavage': { headers: ['(request-target)', 'host', '(created)'], window: 60, replay: 'refuse' },
    aws4: {
      region: 'eu-central-1',
      service: 'execute-api',
      window: 60,
      normalizePath: true,
      doubleEncode: true,
      unsignedPayload: true,
      errors: 'aws',
      replay: 'refuse',
    },
    key: { user: { field: 'X-Key' }, secret: { field: 'X-Secret' } },
    stripe: { preset: 'stripe', user: 'ann', timestamp: { window: 0.5 }, replay: 'refuse' },
    partner: {
      message: '{timestamp}.{id}.{body}',
      hash: 'sha512',
      encoding: 'base64',
      key: 'utf8',
      keyPrefix: 'whsec_',
      separator: ' ',
      user: { field: 'X-User' },
      id: { field: 'X-Id' },
      signature: { field: 'X-Signature', format: 'v1={signature}' },
      timestamp: { field: 'X-Time', unit: 'ms', window: 60 },
      replay: 'refuse',
    },
    query: {
      message: '{timestamp}.{nonce}',
      signature: { query: 'signature' },
      user: 'ann',
      timestamp: { field: 'X-Time' },
      nonce: { field: 'X-Nonce' },
    },
    acme: {
      message: '{timestamp}{user}{key-id}{nonce}{json:/a/0}{body-md5-hex}',
      signature: {
        field: 'Authorization',
        format: 'Acme {user},{key-id},{nonce},{timestamp},{signature}',
        names: ['Old-Acme'],
      },
      timestamp: { unit: 'fractional-s' },
      passphrase: { field: 'X-Pass' },
    },
    events: {
      message: '{timestamp}.{nonce}',
      algorithm: 'ecdsa-p256',
      dsaEncoding: 'ieee-p1363',
      signature: { json: '/sign' },
      user: { query: 'user' },
      timestamp: { form: 'time', window: 1.5 },
      nonce: { json: '/nonce' },
    },
    old: {
      message: '{secret}{body}',
      algorithm: 'digest',
      hash: 'md5',
      signature: { field: 'X-Hash' },
      user: { form: 'user' },
    },
    token: { secret: { authorization: 'Bearer' } },
    cookie: { secret: { cookie: 'key' }, user: 'ann' },
    parameter: { secret: { query: 'key' }, user: { field: 'X-Own' } },
    ...Object.fromEntries(
      Object.entries(presets).map(([preset, { declaration }]) => [
        `of-${preset}`,
        { preset, ...('user' in declaration ? {} : { user: 'ann' }) },
      ]),
    ),
  },
  collections: {
    '/notes': {
      element: 'notes',
      item: 'note',
      fields: {
        text: { type: 'text', required: true, maxLength: 100, pattern: '[a-z]*' },
        kind: { type: 'text', enum: ['one', 'two'] },
        price: { type: 'decimal', fractionDigits: 2, min: '0.00', max: '9.99', attributes },
        rate: { type: 'decimal', enum: ['1', '2'] },
        count: { type: 'integer', enum: [1, 2], min: 0, max: 3 },
        done: { type: 'boolean' },
        day: { type: 'date', min: '2020-01-01' },
        at: { type: 'dateTime', max: '2030-01-01T00:00:00Z' },
        place: { type: 'element', fields: { city: { type: 'text' } } },
        tags: { type: 'list', of: 'text', item: 'tag' },
        lines: { type: 'list', of: { type: 'element', fields: { sum: { type: 'integer' } } } },
        prices: { type: 'list', of: { type: 'decimal', attributes } },
      },
      access: { read: 'anyone', write: ['ann'], DELETE: 'nobody', PUT: 'authenticated' },
      createWithPut: false,
      schemes: ['hmac'],
      filter: ['text', 'price'],
      sort: ['price', '-modified'],
      defaultFormat: 'json',
      cors: { origins: ['https://app.example'], credentials: true, maxAge: 60 },
    },
    '/users/{name}/records': {
      element: 'records',
      item: 'record',
      fields: {},
      access: { GET: 'owner:name', PUT: ['ann', 'owner:name'] },
      cors: ['*'],
    },
  },
  seed: { '/users/ann/records': [{}] },
};

/** Values of every JSON type, and words and bounds that mean something somewhere. */
const values: readonly unknown[] = [
  null,
  true,
  false,
  '',
  'x',
  '*',
  '1/1s',
  'none',
  'a,b',
  [],
  [''],
  ['x'],
  ['x', 'x'],
  [1],
  {},
  { x: 1 },
  -1,
  0,
  0.5,
  1,
  600,
  86_400,
  86_401,
  2_147_483_648,
  1e9 + 1,
  2 ** 53,
  1e300,
];

/** Names of members that mean something somewhere, or nothing. */
const names: readonly string[] = [
  ...['', 'x', 'secret', 'secrets', 'keys', 'type', 'window', 'required', 'field', 'name', 'basic'],
  ...['BASIC', 'a:b', '__proto__', 'methods', 'port', 'config', 'replay', 'timestamp', 'preset', '/x'],
  ...['/notes', 'a b', 'read'],
];

/** A place in a document: a container and the name of one of its members. */
interface Place {
  readonly container: Record<string, unknown>;
  readonly name: string;
}

function* placesIn(value: unknown): Generator<Place> {
  if (typeof value !== 'object' || value === null) return;
  const container: Record<string, unknown> = Object.assign(value);
  for (const [name, member] of Object.entries(container)) {
    yield { container, name };
    yield* placesIn(member);
  }
}

/** Sets a member, also one of the name `__proto__`. */
function set(container: object, name: string, value: unknown): void {
  Object.defineProperty(container, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns a copy of a configuration that was changed at one random place. */
export function mutated(configuration: unknown, random: Seeded): unknown {
  const copy: unknown = structuredClone(configuration);
  const { container, name } = random.pick([...placesIn(copy)]);
  const member = container[name];
  switch (random.below(5)) {
    case 0:
      if (!Array.isArray(container)) delete container[name];
      break;
    case 1:
      if (!Array.isArray(container)) set(container, random.pick(names), member);
      break;
    case 2:
      if (typeof member === 'object' && member !== null) {
        if (Array.isArray(member)) member.push(random.pick(values));
        else set(member, random.pick(names), random.pick(values));
        break;
      }
      set(container, name, random.pick(values));
      break;
    case 3:
      set(
        container,
        name,
        random.pick([...placesIn(configuration)].map((place) => place.container[place.name])),
      );
      break;
    default:
      set(container, name, random.pick(values));
  }
  return JSON.parse(JSON.stringify(copy));
}
