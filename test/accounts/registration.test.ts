import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  describeClients,
  describeConsumers,
  readClients,
  readConsumers,
} from '../../src/accounts/registration.ts';
import { createService } from '../../src/index.ts';
import { knownScopes } from '../../src/principal.ts';
import { describeFault, formatPath, type ShapeFault } from '../../src/shape/fault.ts';
import type { Shape } from '../../src/shape/shape.ts';
import { rsa, shortRsa } from '../support/keys.ts';
import { seeded } from '../support/seeded.ts';

const rsaPublicKey = rsa.publicPem;
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ecKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

function formatLine(fault: ShapeFault): string {
  return `${formatPath(fault.path.slice(1))} ${describeFault(fault)}`.trim();
}

const clientsShape = describeClients({ secretForms: ['text'], scopes: knownScopes });
const consumersShape = describeConsumers();

/** Reads one registration under a name. */
function readOne<T>(shape: Shape<Readonly<Record<string, T>>>, name: string, value: unknown) {
  const read = shape.read({ [name]: value });
  return 'value' in read ? { made: Object.values(read.value)[0], faults: [] } : read;
}

/** What is wrong with a client, a sentence each. */
function clientFaults(value: unknown, id = 'app'): string[] {
  return readOne(clientsShape, id, value).faults.map(formatLine);
}

function consumerFaults(value: unknown, key = 'key'): string[] {
  return readOne(consumersShape, key, value).faults.map(formatLine);
}

test('omitted members of a client have the documented defaults', () => {
  assert.deepEqual(readOne(clientsShape, 'app', { secret: 's' }), {
    made: {
      secret: { plain: 's' },
      redirectUris: [],
      grants: ['authorization_code', 'refresh_token'],
      scopes: ['read'],
      users: [],
    },
    faults: [],
  });
});

test('omitted members of a consumer have the documented defaults', () => {
  const made = { callbacks: [], scopes: ['read'], users: [], plainHttp: false };
  const hmac = ['HMAC-SHA256', 'HMAC-SHA1'];
  assert.deepEqual(readOne(consumersShape, 'key', { secret: 's' }), {
    made: { ...made, secret: 's', rsaPublicKey: undefined, methods: hmac },
    faults: [],
  });
  assert.deepEqual(readOne(consumersShape, 'key', { rsaPublicKey }), {
    made: { ...made, secret: undefined, rsaPublicKey, methods: ['RSA-SHA256', 'RSA-SHA1'] },
    faults: [],
  });
});

describe('a redirect URI', () => {
  for (const uri of [
    'https://client.example/cb',
    'https://client.example',
    'https://client.example/cb?from=here&x=%2F',
    'http://127.0.0.1:3000/cb',
    'http://[::1]/cb',
    'http://localhost/cb',
    'com.example.app:/cb',
  ])
    test(`may be ${uri}`, () => assert.deepEqual(clientFaults({ redirectUris: [uri] }), []));

  const noUri = 'is not an absolute URI without a fragment';
  const scheme = 'has a scheme that is neither https nor a reversed domain name';
  for (const [uri, says] of [
    ['/cb', noUri],
    ['client.example/cb', noUri],
    ['https://', noUri],
    ['https://client.example/cb#part', noUri],
    ['https://client.example/cb#', noUri],
    [' https://client.example/cb', noUri],
    ['https://client.example/c b', noUri],
    ['https://client.example/cb\r\nSet-Cookie: a=b', noUri],
    ['https://clïent.example/cb', noUri],
    ['http://client.example/cb', 'is plain HTTP to another host than the loopback'],
    ['http://127.0.0.1.client.example/', 'is plain HTTP to another host than the loopback'],
    ['http://localhost@client.example/', 'is plain HTTP to another host than the loopback'],
    ['javascript:alert(1)', scheme],
    ['JavaScript:alert(1)', scheme],
    ['data:text/html,x', scheme],
    ['app:/cb', scheme],
    ['', 'must be a text of at least one character, is empty'],
  ] as const)
    test(`cannot be ${JSON.stringify(uri)}`, () =>
      assert.deepEqual(clientFaults({ redirectUris: ['https://a.example/', uri] }), [
        `redirectUris[1] ${says}`,
      ]));
});

describe('an invalid client is rejected with the reason', () => {
  const cases: readonly (readonly [value: unknown, faults: string[]])[] = [
    [{ secrt: 's' }, ['secrt is not known; did you mean "secret"?']],
    [{ secret: '' }, ['secret must be a text of printable ASCII characters']],
    [{ secret: 's\u0000' }, ['secret must be a text of printable ASCII characters']],
    [{ secret: 'sécret' }, ['secret must be a text of printable ASCII characters']],
    [{ secret: { sha256: 'x'.repeat(43) } }, ['secret must be a text of printable ASCII characters']],
    [
      { grants: ['implicit'] },
      ['grants[0] is not one of authorization_code, refresh_token, client_credentials'],
    ],
    [{ grants: ['client_credentials'] }, ['has no secret, and so cannot have the grant client_credentials']],
    [
      { scopes: ['read', 'admin', 7] },
      ['scopes[1] is not one of read, write', 'scopes[2] must be a text of at least one character, is 7'],
    ],
    [{ users: 'ann' }, ['users must be * or a list, is "ann"']],
    [{ users: ['ann', '*'] }, ['users[1] is only allowed alone, not in a list']],
  ];
  for (const [value, faults] of cases)
    test(JSON.stringify(value), () => assert.deepEqual(clientFaults(value), faults));

  for (const id of ['', 'a:b', 'a\n', 'é', 'x'.repeat(129)])
    test(`the id ${JSON.stringify(id).slice(0, 20)} is rejected`, () =>
      assert.deepEqual(clientFaults({}, id), [
        'needs an id of 1 to 128 printable ASCII characters without a colon',
      ]));
});

describe('an invalid consumer is rejected with the reason', () => {
  const noKey = 'rsaPublicKey is not an RSA public key as SPKI in PEM (-----BEGIN PUBLIC KEY-----)';
  const cases: readonly (readonly [what: string, value: unknown, faults: string[]])[] = [
    ['nothing to sign with', {}, ['has neither a secret nor an RSA key']],
    ['an empty secret', { secret: '' }, ['secret must be a text of at least one character']],
    [
      'an unknown method',
      { secret: 's', methods: ['HMAC-MD5'] },
      [
        'methods[0] is not one of HMAC-SHA256, HMAC-SHA1, HMAC-SHA512, PLAINTEXT, RSA-SHA256, RSA-SHA1, RSA-SHA512',
      ],
    ],
    [
      'RSA without a key',
      { secret: 's', methods: ['RSA-SHA1'] },
      ['methods have RSA-SHA1, and there is no rsaPublicKey'],
    ],
    [
      'HMAC without a secret',
      { rsaPublicKey, methods: ['HMAC-SHA1'] },
      ['methods have HMAC-SHA1, and there is no secret'],
    ],
    ['an invalid key', { rsaPublicKey: 'abc' }, [noKey]],
    ['a private key', { rsaPublicKey: privateKey }, [noKey]],
    ['a private key behind a public one', { rsaPublicKey: rsaPublicKey + privateKey }, [noKey]],
    ['a key of another kind', { rsaPublicKey: ecKey }, [noKey]],
    [
      'a short key',
      { rsaPublicKey: shortRsa.publicPem },
      ['rsaPublicKey has 1024 bits; an RSA key must have at least 2048'],
    ],
    [
      'a callback that is no URI',
      { secret: 's', callbacks: ['oob', 'OOB'] },
      ['callbacks[1] is not an absolute URI without a fragment'],
    ],
  ];
  for (const [what, value, faults] of cases)
    test(what, () => assert.deepEqual(consumerFaults(value), faults));
  test('a key outside 1 to 128 bytes, or with control characters, is rejected', () => {
    for (const key of ['', 'a\u0000', 'é'.repeat(65), '\ud800'])
      assert.deepEqual(consumerFaults({ secret: 's' }, key), [
        'needs a key of 1 to 128 bytes without control characters',
      ]);
    assert.deepEqual(consumerFaults({ secret: 's' }, 'a:b ü'), []);
  });
});

test('createService throws a RangeError with the first fault, and without secrets', () => {
  const message = (options: Parameters<typeof createService>[0]): string => {
    try {
      createService(options);
    } catch (error) {
      assert.ok(error instanceof RangeError);
      return error.message;
    }
    return '';
  };
  assert.equal(
    message({ clients: { app: { secret: 'hidden\n', redirectUris: ['/x'] } } }),
    'secret of the client "app" must be a text of printable ASCII characters',
  );
  assert.equal(
    message({ consumers: { key: { secret: 'hidden', callbacks: ['x'] } } }),
    'callbacks[0] of the consumer "key" is not an absolute URI without a fragment',
  );
  assert.equal(message({ consumers: { key: {} } }), 'the consumer "key" has neither a secret nor an RSA key');
  assert.equal(message({ publicUrl: 'http://a.example' }), 'publicUrl is not an https origin');
});

test('in code, a secret can be a digest, and undefined members are ignored', () => {
  const sha256 = 'A'.repeat(43);
  const clients = readClients({ app: { secret: { sha256 } }, open: { secret: undefined } });
  assert.deepEqual(clients.get('app')?.secret, { sha256 });
  assert.equal(clients.get('open')?.secret, undefined);
  assert.throws(() => readClients({ app: { secret: { sha256: 'short' } } }), RangeError);
  assert.equal(
    readConsumers(new Map([['key', { secret: 's', rsaPublicKey: undefined }]])).get('key')?.key,
    'key',
  );
});

test('reading random clients and consumers returns them or their faults, and never throws', () => {
  const random = seeded();
  const values: readonly unknown[] = [null, 0, '', 'x', [], ['x'], [null], {}, { sha256: 1 }, '*', true];
  const keys = [
    'secret',
    'redirectUris',
    'grants',
    'scopes',
    'users',
    'callbacks',
    'methods',
    'rsaPublicKey',
    '__proto__',
  ];
  const digestShape = describeClients({ secretForms: ['text', 'sha256'], scopes: knownScopes });
  let sound = 0;
  for (let round = 0; round < 3000; round += 1) {
    const entries = Array.from({ length: random.below(5) }, () => [random.pick(keys), random.pick(values)]);
    const value: unknown = random.below(10) === 0 ? random.pick(values) : Object.fromEntries(entries);
    for (const read of [
      readOne(digestShape, random.text('a:é\n', 4), value),
      readOne(consumersShape, 'key', value),
    ]) {
      if (read.faults.length === 0) sound += 1;
      for (const fault of read.faults) assert.ok(formatLine(fault).length > 5, `seed ${random.seed}`);
    }
  }
  assert.ok(sound > 0, `seed ${random.seed}`);
});
