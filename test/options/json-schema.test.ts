import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { configurationSchema } from '../../src/options/configuration-schema.ts';
import { OptionsError, readOptions } from '../../src/options/options.ts';
import { optionSpecs } from '../../src/options/table.ts';
import { run } from '../support/cli/command.ts';
import { importPackage, missingPackage } from '../support/packages.ts';
import { seeded } from '../support/seeded.ts';
import { long } from '../support/store/thoroughness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { complete, mutated } from './configurations.ts';

const schema = configurationSchema();
const rounds = long ? 1000 : 150;
const path = join(temporaryDirectory(), 'config.json');

/** Returns the faults that the server finds in a configuration. */
function listFaults(configuration: unknown): readonly string[] {
  writeFileSync(path, JSON.stringify(configuration));
  try {
    readOptions(['--config', path], {});
    return [];
  } catch (error) {
    if (error instanceof OptionsError) return error.faults;
    throw error;
  }
}

/** Returns a function that validates with ajv in its strict mode. */
async function createValidator(): Promise<(value: unknown) => string | undefined> {
  const { Ajv2020 } = await importPackage('ajv/dist/2020.js');
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors));
}

let created: ReturnType<typeof createValidator> | undefined;

function validator(): ReturnType<typeof createValidator> {
  created ??= createValidator();
  return created;
}

/** Faults that only the server finds: the grammar of texts, and references between parts. docs/operations.md lists them. */
const onlyByReader = new RegExp(
  [
    /--tls assumed/,
    /is not an absolute URI/,
    /scopes\[\d+\] is not one of/,
    /is not a placeholder/,
    /origins: "/,
    /Origin: ".*(?:has no scheme|is not an origin)/,
    /XML name/,
    /names that begin with "xml"/,
    /is not allowed as a name/,
    /the name is reserved/,
    /is also a field of this/,
    /is for a field (?:that clients send|with a single value)/,
    /must be a date and time/,
    /must be a calendar date/,
    /ISO 4217/,
    /digits with an optional leading minus/,
    /must have exactly/,
    /must be at (?:least|most) /,
    /is greater than max/,
    /must have at most [0-9]+ characters/,
    /must match the pattern/,
    /is not a field(?! type)/,
    /cannot be compared/,
    /listed twice/,
    /(?:two|another) meaning/,
    /the path has no parameter/,
    /cannot be in a list/,
    /pattern: (?!must be)/,
    /is the same path as/,
    /the parameter \S+ twice/,
    /has the segment/,
    /window of .* must be/,
    /requests of .* must be/,
    /two policies/,
    /is not a network such as/,
    /must be an https origin/,
    /must be a path such as/,
    /must be used together/,
    /leave no port/,
    /are both/,
    /(?:maxPerUser|maxNoncesPerUser|oauth1Window) must be at most --/,
    /require HTTPS/,
    /seed\.\S+: is not the path/,
    /seed\.[^[]+\[[0-9]+\]/,
    /is not a public key in PEM/,
    /is a private key/,
    /privateKey(?:: a| must be a) private key in PEM/,
    /privateKey: the key is not one/,
    /is not an RSA public key/,
    /a user name must/,
    /\{\w+\} is in the message/,
    /the message (?:does not|cannot)/,
    /a message has a placeholder/,
    /format: /,
    /is named twice/,
    /is not the name of a component/,
    /the component "/,
    /must not be used in a/,
    /component parameter/,
    /must be a field name, or/,
    /cannot contain (?:an API key|the name of a user)/,
    /cannot be used with Basic/,
    /requires a timestamp/,
    /contains a control character/,
    /signature\.field: Authentication/,
    /for plain digests only/,
    /must contain \{secret\}/,
    /an option of ecdsa-p256/,
    /has public keys, not secrets/,
    /already in signature\.format/,
    /is not a JSON Pointer|a JSON Pointer \(RFC 6901\)/,
    /only a signature in Authorization has names/,
    /is built in/,
    /percent-encoding/,
  ]
    .map(({ source }) => `(?:${source})`)
    .join('|'),
);

/** Faults that the schema must find, too. */
const bothFind: readonly unknown[] = [
  ...[0, 31_536_001, 1.5, null, '', true].map((window) => ({ quota: { requests: 1, window } })),
  ...[0, 1_000_000_001, 1.5, null, '1'].map((requests) => ({ quota: [{ requests, window: 1 }] })),
  ...[[], Array(9).fill('1/1s'), ['none'], 'none,1/1s', '1/h', { requests: 1 }].map((quota) => ({ quota })),
  ...[{}, { secret: '' }, { keys: {} }, { secret: 's', group: [] }, 's'].map((ann) => ({ users: { ann } })),
  ...['', 'a:b', 'a\u0001', 'a'.repeat(129)].map((name) => ({ users: { [name]: { secret: 's' } } })),
  ...['', 'a b', 'a'.repeat(257)].map((id) => ({
    users: { ann: { keys: { [id]: { algorithm: 'aws4', secret: 's' } } } },
  })),
  ...[{ algorithm: 'aws4' }, { algorithm: 'ed25519', secret: 's' }, { algorithm: 'aws5', secret: 's' }].map(
    (key) => ({ users: { ann: { keys: { key } } } }),
  ),
  ...[{ grants: ['client_credentials'] }, { users: ['*'] }, { secret: 'é' }, { scopes: ['all of them'] }].map(
    (app) => ({ clients: { app } }),
  ),
  ...[{}, { secret: 's', methods: ['RSA-SHA1'] }, { rsaPublicKey: 'x', methods: ['PLAINTEXT'] }].map(
    (printer) => ({ consumers: { printer } }),
  ),
  ...['Basic', 'HMAC', 'a b', ''].map((name) => ({
    schemes: { [name]: { user: { field: 'X-Key' }, secret: { field: 'X-Secret' } } },
  })),
  ...[0, 86_401, 1.5].map((window) => ({ schemes: { 'message-signatures': { window } } })),
  ...[0, 86_400.5].map((window) => ({
    schemes: { hook: { preset: 'stripe', user: 'ann', timestamp: { window } } },
  })),
  { schemes: { hook: { preset: 'github', user: 'ann', timestamp: { window: 1 } } } },
  { schemes: { hook: { preset: 'github', user: 'ann', replay: 'refuse' } } },
  ...['notes', '/', '/notes/', '//', '/{a', '/a b'].map((path) => ({
    collections: { [path]: { element: 'notes', item: 'note', fields: {} } },
  })),
];

describe('the schema of the configuration file', { skip: missingPackage('ajv') }, () => {
  test('accepts a configuration with every member, as the server does', async () => {
    const validate = await validator();
    assert.deepEqual(listFaults(complete), []);
    assert.equal(validate(complete), undefined);
  });

  test('agrees with the server about every option, except for the syntax of strings', async () => {
    const validate = await validator();
    const probes = [null, true, -1, 0, 1, 0.5, 1e300, '', 'x', '1', [], ['x'], [''], [1], {}, { x: 1 }];
    for (const [key, spec] of optionSpecs) {
      const { anyOf, minimum, maximum, enum: words = [] } = spec.shape.schema;
      const [range] = Array.isArray(anyOf) ? anyOf : [];
      const [min, max] = [range?.minimum ?? minimum, range?.maximum ?? maximum];
      const bounds = typeof min === 'number' ? [min - 1, min, max, max + 1] : [];
      assert.ok(Array.isArray(words));
      const places = [
        (value: unknown): unknown => ({ [key]: value }),
        (value: unknown): unknown =>
          spec.within === undefined ? {} : { [spec.within[0]]: { [spec.within[1]]: value } },
      ];
      for (const place of places)
        for (const value of [...probes, ...bounds, ...words]) {
          const configuration = place(value);
          const [faults, error] = [listFaults(configuration), validate(configuration)];
          const what = `${JSON.stringify(configuration)}: ${faults.join('; ')}: ${error}`;
          if (faults.length === 0) assert.equal(error, undefined, what);
          else if (error === undefined) assert.match(faults.join('\n'), onlyByReader, what);
        }
    }
  });

  for (const configuration of bothFind)
    test(`rejects ${JSON.stringify(configuration).slice(0, 100)}, as the server does`, async () => {
      const validate = await validator();
      assert.notDeepEqual(listFaults(configuration), []);
      assert.notEqual(validate(configuration), undefined);
    });

  test('rejects only configurations that the server rejects, and every fault that a schema can express', async () => {
    const validate = await validator();
    const random = seeded();
    let [accepted, rejected] = [0, 0];
    for (let at = 0; at < rounds; at += 1) {
      const configuration = mutated(complete, random);
      const [faults, error] = [listFaults(configuration), validate(configuration)];
      if (faults.length === 0) accepted += 1;
      else rejected += 1;
      const what = `seed ${random.seed}, ${at}: ${faults.join('; ')}: ${error}`;
      if (faults.length === 0) assert.equal(error, undefined, what);
      else if (error === undefined) assert.match(faults.join('\n'), onlyByReader, what);
    }
    assert.ok(
      accepted > rounds / 15 && rejected > rounds / 2,
      `seed ${random.seed}: ${accepted}, ${rejected}`,
    );
  });
});

test('countersign schema prints the schema, and accepts no arguments', async () => {
  const printed = await run(['schema']);
  assert.deepEqual([printed.status, printed.stderr], [0, '']);
  assert.deepEqual(JSON.parse(printed.stdout), schema);
  for (const args of [['config.json'], ['--port', '1']]) {
    const refused = await run(['schema', ...args]);
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^countersign: (?:unexpected argument "config.json"|unknown option --port)/);
  }
});

test('the server ignores the member $schema, which must be a string', () => {
  assert.deepEqual(listFaults({ $schema: 'https://example.com/schema.json' }), []);
  assert.deepEqual(listFaults({ $schema: 1 }), [`${path}: $schema must be a string`]);
  assert.deepEqual(listFaults({ schema: 'x' }).length, 1);
});

test('a member with the value null is rejected, even if the server has a default', () => {
  assert.equal(listFaults({ quota: { name: null, requests: 1, window: 1 } }).length, 1);
  const signature = { field: 'X-Signature', format: 't={timestamp},v1={signature}' };
  const partner = { message: '{timestamp}', signature, user: 'ann', timestamp: null };
  assert.match(
    listFaults({ schemes: { partner } }).join(),
    /schemes\.partner\.timestamp must be an object, is null$/,
  );
});
