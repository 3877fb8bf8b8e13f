import type { DoubleOptions } from '../../../src/double/index.ts';
import { action, type CollectionDeclaration, json, type Resource, readBytes } from '../../../src/index.ts';

/** A collection with a field of every type, every rule and every kind of markup. */
export const everyType = {
  element: 'things',
  item: 'thing',
  fields: {
    text: { type: 'text', required: true, maxLength: 20 },
    code: { type: 'text', pattern: '[A-Z]{2}-\\d+|none' },
    word: { type: 'text', enum: ['one', 'two'] },
    price: {
      type: 'decimal',
      fractionDigits: 2,
      min: '0.00',
      max: '99.99',
      attributes: { currency: { type: 'currency', required: true }, net: { type: 'boolean' } },
    },
    rate: { type: 'decimal', enum: ['1', '2'] },
    count: { type: 'integer', min: 0, max: 9 },
    size: { type: 'integer', enum: [1, 2] },
    flag: { type: 'boolean' },
    any: { type: 'json', maxLength: 100 },
    date: { type: 'date', min: '2000-01-01' },
    time: { type: 'dateTime' },
    currency: { type: 'currency', enum: ['EUR', 'USD'] },
    address: {
      type: 'element',
      fields: { city: { type: 'text', required: true }, zip: { type: 'text' } },
      attributes: { kind: { type: 'text', required: true } },
    },
    tags: { type: 'list', of: 'text', item: 'tag' },
    notes: {
      type: 'list',
      of: { type: 'text', attributes: { lang: { type: 'text' } } },
      attributes: { total: { type: 'integer' } },
    },
    rows: { type: 'list', of: { type: 'list', of: 'integer', item: 'cell' }, item: 'row' },
  },
  access: { read: 'anyone', write: 'authenticated' },
} as const;

/** An item of `everyType` with all fields. */
export const everyValue = {
  text: 'tea & “biscuits”',
  code: 'AB-12',
  word: 'two',
  price: { value: '12.30', currency: 'EUR', net: true },
  rate: '2',
  count: 3,
  size: 1,
  flag: false,
  date: '2024-02-29',
  time: '2024-02-29T12:00:00.5+01:00',
  currency: 'USD',
  address: { city: 'Paris', zip: '75001', kind: 'home' },
  tags: ['a', 'b'],
  notes: { value: [{ value: 'x', lang: 'en' }, { value: 'y' }], total: 2 },
  rows: [[1, 2], []],
};

const ownHmac = {
  message: '{timestamp}.{nonce}.{body}',
  signature: { field: 'X-Signature' },
  user: { field: 'X-User' },
  timestamp: { field: 'X-Time' },
  nonce: { field: 'X-Nonce' },
} as const;

const clients = { app: { redirectUris: ['https://client.example/cb'] } };
const consumers = { printer: { secret: 'a-secret-of-the-printer', callbacks: ['oob'] } };

/** Collections with all kinds of access rules. */
export const accessRules: Readonly<Record<string, CollectionDeclaration>> = {
  '/{owner}/things': {
    ...everyType,
    createWithPut: false,
    access: { read: 'owner:owner', HEAD: 'anyone', POST: ['ann'], PUT: 'nobody', DELETE: [] },
  },
  '/things': { ...everyType, element: 'thing', access: { GET: 'anyone' } },
  '/t%C3%ADtulos': { ...everyType, element: 'título', item: 'título' },
  '/hidden': { ...everyType, access: {} },
};

/** Resources in code. */
export const resourcesInCode: Readonly<Record<string, Resource>> = {
  '/weather/{city}': {
    GET: action('anyone', ({ parameters }) => json({ city: parameters['city'] })),
    headAccess: 'authenticated',
    requestHeaders: ['X-Unit'],
  },
  '/upload': {
    PUT: action(['ann'], () => ({ status: 204 }), { reads: [readBytes] }),
    POST: action('authenticated', () => json({}), { reads: [{ ...readBytes, type: 'image/png' }] }),
    DELETE: action('nobody', () => ({ status: 204 })),
    produces: [{ type: 'application/json', mark: 'j' }],
    schemes: ['hmac'],
  },
  '/never': {},
};

/** Configurations that differ in what their documents contain. */
export const configurations: Readonly<Record<string, DoubleOptions>> = {
  'the default': {},
  'every type of field': { collections: { '/things': everyType }, seed: { '/things': [everyValue] } },
  'every scheme': {
    clients,
    consumers,
    schemes: {
      'message-signatures': { tag: 'app' },
      aws4: { region: 'eu-central-1', service: 's3', errors: 'aws' },
      key: { user: { field: 'X-Key' }, secret: { field: 'X-Secret' } },
      partner: ownHmac,
      hook: { preset: 'stripe', user: 'ann' },
      link: { message: '{path}', signature: { query: 'sig' }, user: 'ann' },
    },
    collections: {
      '/things': { ...everyType, schemes: ['partner', 'basic'] },
      '/others': everyType,
    },
  },
  'lists that can be searched': {
    strictQuery: true,
    defaultFormat: 'json',
    collections: {
      '/things': {
        ...everyType,
        filter: ['text', 'price', 'count', 'flag', 'date', 'time', 'currency'],
        sort: ['price', '-modified'],
      },
    },
  },
  'repeated requests and required preconditions': {
    collections: { '/things': { ...everyType, idempotency: 'required', requirePrecondition: true } },
  },
  CORS: { cors: ['https://app.example'] },
  'a proxy, quotas and health checks': {
    basePath: '/api',
    publicUrl: 'https://api.example',
    quota: '1000/1h',
    requestId: true,
    health: { path: '/health' },
    clients,
    consumers,
    openapi: true,
  },
  'access rules': { collections: accessRules },
  'resources in code': { resources: resourcesInCode },
};
