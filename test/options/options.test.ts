import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Option } from '../../src/options/option.ts';
import { type Options, OptionsError, readOptions } from '../../src/options/options.ts';
import { formatFlag, formatVariable, optionSpecs } from '../../src/options/table.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

let files = 0;

/** A configuration file with this content; a text is written as it is. */
function fileWith(content: unknown): string {
  const path = join(directory, `config-${++files}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function catchRefusal(argv: readonly string[], environment: Record<string, string> = {}): OptionsError {
  try {
    readOptions(argv, environment);
  } catch (error) {
    if (error instanceof OptionsError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: `${argv.join(' ')} was taken` });
}

function listFaults(argv: readonly string[], environment: Record<string, string> = {}): readonly string[] {
  return catchRefusal(argv, environment).faults;
}

/** The faults of a file, without its path. */
function fileFaults(content: unknown): readonly string[] {
  const path = fileWith(content);
  return listFaults(['--config', path]).map((fault) => fault.replace(`${path}: `, '').replace(path, ''));
}

function readOption(options: Options, key: string): unknown {
  return new Map<string, unknown>(Object.entries(options)).get(key);
}

test('without arguments and variables, every option has its documented default', () => {
  const { collections, users, clients, consumers, ...options } = readOptions([], {});
  assert.deepEqual(options, {
    host: '127.0.0.1',
    port: 8080,
    tlsPort: 8443,
    tls: 'required',
    tlsCert: undefined,
    tlsKey: undefined,
    keyFile: undefined,
    data: './countersign-data',
    memory: false,
    module: undefined,
    partner: undefined,
    config: undefined,
    schemes: {},
    oauth2: undefined,
    nonceWindow: 600_000,
    durability: 'fsync',
    onMismatch: 'refuse',
    hmacSimple: 'safe',
    hmacRequireBodyDigest: false,
    window: 600,
    maxNonces: 10_000_000,
    maxNoncesPerUser: undefined,
    idempotencyLifetime: 86_400,
    maxIdempotencyKeysPerUser: 10_000,
    maxAuthFailures: 100,
    quota: undefined,
    trustProxy: [],
    publicUrl: undefined,
    basePath: undefined,
    corsOrigin: [],
    corsCredentials: false,
    corsMaxAge: 600,
    codeLifetime: 60,
    accessLifetime: 3600,
    refreshLifetime: 14 * 86_400,
    refreshTotalLifetime: 30 * 86_400,
    ticketLifetime: 300,
    requestTokenLifetime: 600,
    oauth1AccessLifetime: 86_400,
    oauth1Window: 300,
    defaultFormat: 'xml',
    strict: false,
    validation: 'on',
    strictQuery: false,
    openapi: false,
    explain: false,
    healthPath: undefined,
    requestId: false,
    untilStdinCloses: false,
    controlPort: undefined,
    maxBody: 1_048_576,
    maxUnverifiedContent: 67_108_864,
    maxTarget: 8192,
    maxHeaders: 16_384,
    maxXmlDepth: 32,
    maxXmlAttributes: 64,
    maxConnections: 1000,
    headerTimeout: 10,
    requestTimeout: 60,
    log: undefined,
    seed: {},
    flags: new Map(),
    warnings: [],
  });
  assert.deepEqual(
    collections.map(({ path }) => path),
    ['/articles', '/users/{username}/financialrecords'],
  );
  assert.deepEqual([users.size, clients.size, consumers.size], [0, 0, 0]);
});

test('the options are frozen', () => {
  const options = readOptions([], {});
  for (const part of [options, options.collections, options.seed, options.warnings])
    assert.ok(Object.isFrozen(part));
});

test('--trust-proxy accepts a comma-separated list of networks, and the file also an array', () => {
  const read = (argv: string[], environment = {}): readonly string[] =>
    readOptions(argv, environment).trustProxy;
  const networks = ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'];
  assert.deepEqual(read([]), []);
  assert.deepEqual(read(['--trust-proxy', '127.0.0.1, 10.0.0.0/8,fd00::/8']), networks);
  const file = ['--config', fileWith({ trustProxy: '::1' })];
  const variable = { COUNTERSIGN_TRUST_PROXY: '::2' };
  assert.deepEqual(read(file), ['::1']);
  assert.deepEqual(read(['--config', fileWith({ trustProxy: networks })]), networks);
  assert.deepEqual(read(['--config', fileWith({ trustProxy: [] })]), []);
  assert.deepEqual(read(file, variable), ['::2']);
  assert.deepEqual(read([...file, '--trust-proxy=::3'], variable), ['::3']);
});

test('the public URL is normalized to an origin', () => {
  const read = (url: string): string | undefined => readOptions(['--public-url', url], {}).publicUrl;
  assert.equal(read('https://a.example'), 'https://a.example');
  assert.equal(read('https://a.example/'), 'https://a.example');
  assert.equal(read('HTTPS://A.example:443'), 'https://a.example');
  assert.equal(read('https://[::1]:8443'), 'https://[::1]:8443');
});

for (const [key, { value }] of optionSpecs) {
  if (value !== 'SECONDS') continue;
  const flag = formatFlag(key);
  test(`${flag} accepts a duration as text in the command line, the environment and the file`, () => {
    const read = (words: readonly string[], environment: Record<string, string> = {}): unknown =>
      Object.entries(readOptions(words, environment)).find(([name]) => name === key)?.[1];
    const variable = formatVariable(key);
    assert.equal(read([flag, '5m']), 300);
    assert.equal(read([flag, '90s']), 90);
    assert.equal(read([flag, '90']), 90);
    assert.equal(read([], { [variable]: '5m' }), 300);
    assert.equal(read(['--config', fileWith({ [key]: '5m' })]), 300);
    assert.equal(read(['--config', fileWith({ [key]: 90 })]), 90);
    for (const wrong of ['5', '5 m', '1500ms', '5M', '-5m', '999999d', '', null])
      assert.throws(() => read(['--config', fileWith({ [key]: wrong })]), OptionsError, `${wrong}`);
  });
}

test('a duration as text can be in a group of the file', () => {
  const file = fileWith({ lifetimes: { access: '2h' }, cors: { maxAge: '1h' } });
  const { accessLifetime, corsMaxAge } = readOptions(['--config', file], {});
  assert.deepEqual([accessLifetime, corsMaxAge], [7200, 3600]);
});

test('the default of --oauth1-window does not exceed --window', () => {
  assert.equal(readOptions(['--window', '20'], {}).oauth1Window, 20);
  assert.equal(readOptions(['--window', '20', '--oauth1-window', '7'], {}).oauth1Window, 7);
});

test('all faults of flags, variables and the file are reported together', () => {
  const config = fileWith({ prot: 1, window: '600', users: { 'a:b': { secret: 's' } } });
  assert.deepEqual(
    listFaults(['--bogus', '--config', config], { COUNTERSIGN_PORT: 'x', COUNTERSIGN_CONTROL_PORT: '-1' }),
    [
      'unknown option --bogus',
      `${config}: unknown key prot; did you mean "port"?`,
      `${config}: users.a:b: a user name must have no colon`,
      'COUNTERSIGN_PORT must be an integer from 0 to 65535, is "x"',
      `${config}: window must be a whole number of seconds from 1 to 31536000 or text such as 5m, is "600"`,
      'COUNTERSIGN_CONTROL_PORT must be an integer from 0 to 65535, is "-1"',
    ],
  );
});

test('an invalid variable is reported even if a flag overrides it', () => {
  assert.equal(listFaults(['--port', '1'], { COUNTERSIGN_PORT: 'x' }).length, 1);
});

test('HTTP or HTTPS has no port if it is disabled', () => {
  const ports = (...argv: string[]): unknown[] => {
    const { port, tlsPort } = readOptions(argv, {});
    return [port, tlsPort];
  };
  assert.deepEqual(ports(), [8080, 8443]);
  assert.deepEqual(ports('--no-tls'), [8080, undefined]);
  assert.deepEqual(ports('--no-http', '--tls-port', '1'), [undefined, 1]);
  assert.deepEqual(ports('--port', '0', '--tls-port', '0'), [0, 0]);
  assert.deepEqual(ports('--no-http', '--port', '1', '--tls-port', '1'), [undefined, 1]);
  assert.deepEqual(ports('--no-tls=false', '--no-http=0'), [8080, 8443]);
});

test('a certificate requires its key, from any source, and causes a warning if HTTPS is off', () => {
  const file = ['--config', fileWith({ tlsCert: 'c.pem' })];
  const { tlsCert, tlsKey, warnings } = readOptions(file, { COUNTERSIGN_TLS_KEY: 'k.pem' });
  assert.deepEqual([tlsCert, tlsKey, warnings], ['c.pem', 'k.pem', []]);
  assert.equal(listFaults(file).length, 1);
  assert.deepEqual(readOptions([...file, '--tls-key=k.pem', '--no-tls'], {}).warnings, [
    '--tls-cert and --tls-key are ignored because HTTPS is off',
  ]);
});

test('an unknown COUNTERSIGN_ variable causes a warning, and a known one that is no option does not', () => {
  const { warnings } = readOptions([], {
    COUNTERSIGN_PROT: '1',
    COUNTERSIGN_SECRET: 's',
    COUNTERSIGN_KEY: 'k',
    COUNTERSIGN_CONTROL_TOKEN: 't',
    PATH: '/bin',
  });
  assert.deepEqual(warnings, [
    'unknown environment variable COUNTERSIGN_PROT is ignored; did you mean "COUNTERSIGN_PORT"?',
  ]);
});

/** What options are when nobody says so; two ports must not be the same, so no sample is another's default. */
const fallbacks = new Set([...optionSpecs.values()].map(({ fallback }) => fallback));

/** Three different values of an option, as text and as they stand in a file; for a number no option's default. */
function sampleValues(option: Option<unknown>, random: Seeded): [text: string, json: unknown][] {
  const { shape, value, repeatable } = option;
  if (value === undefined) return ['true', 'false', 'true'].map((text) => [text, text === 'true']);
  const words = shape.schema['enum'];
  if (Array.isArray(words)) return [...words, ...words].slice(0, 3).map((word) => [word, word]);
  if (repeatable)
    return ['a', 'b', 'c'].map((name) => [`https://${name}.example`, [`https://${name}.example`]]);
  const reads = (number: number): boolean => 'value' in shape.read(number);
  const start = random.below(10_000);
  const numbers = [start, start + 1, start + 2];
  if (['SECONDS', 'COUNT', 'BYTES', 'PORT'].includes(value)) {
    if (numbers.some((number) => fallbacks.has(number) || !reads(number)))
      return sampleValues(option, random);
    return numbers.map((number) => [String(number), number]);
  }
  const slash = value === 'PATH' ? '/' : '';
  return ['a.example', 'b.example', 'c.example'].map((text) => [slash + text, slash + text]);
}

/** Options that have to be there when another is. */
const companions: ReadonlyMap<string, Record<string, string>> = new Map([
  ['tls', { COUNTERSIGN_CONTROL_PORT: '0' }],
  ['tlsCert', { COUNTERSIGN_TLS_KEY: 'key.pem' }],
  ['tlsKey', { COUNTERSIGN_TLS_CERT: 'cert.pem' }],
  ['oauth1Window', { COUNTERSIGN_WINDOW: '31536000' }],
]);

describe('a flag overrides a variable, which overrides the file', () => {
  const random = seeded();
  for (const [key, spec] of optionSpecs) {
    if (['noHttp', 'noTls', 'config', 'trustProxy', 'publicUrl', 'quota'].includes(key)) continue;
    test(formatFlag(key), () => {
      const [first, second, third] = sampleValues(spec, random);
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      const file = ['--config', fileWith({ [key]: third[1] })];
      const others = companions.get(key) ?? {};
      const variable = { ...others, [formatVariable(key)]: second[0] };
      const flag = [formatFlag(key) + (random.below(2) === 0 ? '=' : ' ') + first[0]].flatMap((text) =>
        spec.value === undefined ? [text.replace(' ', '=')] : text.split(' '),
      );
      const message = `seed ${random.seed}`;
      assert.deepEqual(readOption(readOptions([...flag, ...file], variable), key), first[1], message);
      assert.deepEqual(readOption(readOptions(file, variable), key), second[1], message);
      assert.deepEqual(readOption(readOptions(file, others), key), third[1], message);
    });
  }
});

test('COUNTERSIGN_CONFIG names the file, and a toggle without a value is on', () => {
  const options = readOptions(['--memory'], {
    COUNTERSIGN_CONFIG: fileWith({ port: 3 }),
    COUNTERSIGN_EXPLAIN: '1',
  });
  assert.deepEqual([options.memory, options.explain, options.port], [true, true, 3]);
});

test('a quota is a string in flags and variables, and a string, an object or an array in the file', () => {
  const hourly = { name: '1h', requests: 1000, window: 3600 };
  const file = ['--config', fileWith({ quota: [{ name: 'burst', requests: 5, window: 1 }] })];
  assert.deepEqual(readOptions(['--quota', '1000/1h', ...file], {}).quota, [hourly]);
  assert.deepEqual(readOptions(file, { COUNTERSIGN_QUOTA: '1000/1h' }).quota, [hourly]);
  assert.deepEqual(readOptions(file, {}).quota, [{ name: 'burst', requests: 5, window: 1 }]);
  const object = fileWith({
    quota: { requests: 1000, window: '1h' },
    users: { ann: { secret: 'a', quota: 'none' } },
  });
  const options = readOptions(['--config', object], {});
  assert.deepEqual(options.quota, [hourly]);
  assert.equal(options.users.get('ann')?.quota, 'none');
  assert.deepEqual(listFaults(['--quota', '5']), ['--quota must be such as 1000/1h, 20/1s,1000/1h or none']);
  assert.deepEqual(fileFaults({ users: { ann: { secret: 'a', quota: {} } } }), [
    'requests of users.ann.quota must be a whole number from 1 to 1000000000, is missing',
  ]);
});

test('the file accepts hmac.requireBodyDigest and nonces.max as members of groups', () => {
  const options = readOptions(
    ['--config', fileWith({ hmac: { requireBodyDigest: true }, nonces: { max: 5 } })],
    {},
  );
  assert.deepEqual([options.hmacRequireBodyDigest, options.maxNonces], [true, 5]);
});

test('--max-nonces-per-user is at most --max-nonces', () => {
  const argv = ['--max-nonces', '20', '--max-nonces-per-user', '20'];
  assert.equal(readOptions(argv, {}).maxNoncesPerUser, 20);
  assert.equal(readOptions([], { COUNTERSIGN_MAX_NONCES_PER_USER: '7' }).maxNoncesPerUser, 7);
  const file = fileWith({ maxNoncesPerUser: 3 });
  assert.equal(readOptions(['--config', file], {}).maxNoncesPerUser, 3);
  const grouped = fileWith({ nonces: { max: 9, maxPerUser: 4 } });
  assert.equal(readOptions(['--config', grouped], {}).maxNoncesPerUser, 4);
  const perUser = (count: string): readonly string[] =>
    listFaults(['--max-nonces', '20', '--max-nonces-per-user', count]);
  assert.deepEqual(perUser('21'), ['--max-nonces-per-user must be at most --max-nonces, which is 20, is 21']);
  for (const count of ['0', 'x'])
    assert.match(
      perUser(count).join(),
      /^--max-nonces-per-user must be an integer from 1 to 2147483647, is /,
    );
});

test('every unknown flag is rejected', () => {
  const random = seeded();
  const known = new Set([...optionSpecs.keys()].map(formatFlag));
  for (let round = 0; round < 2000; round++) {
    const base = random.below(2) === 0 ? random.pick([...known]) : `-${random.text('-abcdemnoprst', 12)}`;
    const at = 1 + random.below(base.length);
    const name = base.slice(0, at) + random.text('abtp-_A', 2) + base.slice(at + random.below(2));
    if (known.has(name) || name === '-' || name === '--') continue;
    const faults = listFaults([`${name}=1`]);
    assert.equal(faults.length, 1, `seed ${random.seed}: ${name}`);
    assert.ok(faults[0]?.startsWith(`unknown option ${name}`), `seed ${random.seed}: ${faults[0]}`);
  }
});

test('a password that Basic rejects at login is rejected with its path and the rule', () => {
  const password = `p${'\u0301'.repeat(31)}`;
  const found = fileFaults({ users: { ann: { secret: 's', password } } });
  assert.equal(found.length, 1);
  const message = /^users\.ann\.password cannot be used with Basic: .*more than 30 (combining|consecutive)/;
  assert.match(found[0] ?? '', message);
});

test('a file that is missing or not UTF-8 is reported', () => {
  const path = join(directory, 'latin1.json');
  writeFileSync(path, Buffer.from('{ "data": "caf\xe9" }', 'latin1'));
  assert.deepEqual(listFaults(['--config', path]), [`${path}: the file is not valid UTF-8`]);
  const missing = catchRefusal(['--config', join(directory, 'missing.json')]);
  assert.equal(missing.code, 'unreadable');
  assert.match(missing.message, /missing\.json cannot be read: .*ENOENT/);
});

test('users of the file are read by name, even __proto__', () => {
  const config = fileWith(
    '{ "users": { "__proto__": { "secret": "s" }, "Zoë": { "secret": "t", "password": "p" } } }',
  );
  assert.deepEqual(
    [...readOptions(['--config', config], {}).users],
    [
      ['__proto__', { secret: 's' }],
      ['Zoë', { secret: 't', password: 'p' }],
    ],
  );
});

test('clients and consumers of the file are normalized and have defaults, and an unusable grant causes a warning', () => {
  const { clients, consumers, warnings } = readOptions(
    [
      '--config',
      fileWith({
        clients: { app: { secret: 's', users: '*', scopes: ['write', 'read'] }, phone: { grants: [] } },
        consumers: { key: { secret: 't', callbacks: ['oob'] } },
        lifetimes: { code: 30, oauth1Access: 60 },
      }),
    ],
    {},
  );
  assert.deepEqual(clients.get('app'), {
    secret: { plain: 's' },
    redirectUris: [],
    grants: ['authorization_code', 'refresh_token'],
    scopes: ['read', 'write'],
    users: '*',
  });
  assert.equal(clients.get('phone')?.secret, undefined);
  assert.deepEqual(consumers.get('key')?.methods, ['HMAC-SHA256', 'HMAC-SHA1']);
  assert.match(
    warnings.join(),
    /^\S+: clients\.app cannot use authorization_code because it has no redirectUris$/,
  );
});

const notes = {
  element: 'notes',
  item: 'note',
  fields: { text: { type: 'text' } },
  access: { read: 'anyone' },
};

test('declared collections replace the default ones, and a seed can fill a path of a template', () => {
  const config = fileWith({
    collections: { '/users/{name}/notes': notes },
    seed: { '/users/ann/notes': [{ text: 'one' }] },
  });
  const options = readOptions(['--config', config], {});
  assert.deepEqual(
    options.collections.map(({ path }) => path),
    ['/users/{name}/notes'],
  );
  assert.deepEqual(options.seed, { '/users/ann/notes': [{ text: 'one' }] });
});

test('each invalid collection and seed is reported with its path', () => {
  const collections = { '/a': { ...notes, fields: { text: { type: 'txt' } } }, '/b': { ...notes, item: 7 } };
  const [first, second, ...more] = fileFaults({ collections });
  assert.match(first ?? '', /^collections\.\/a\.fields\.text\.type: .*text/);
  assert.match(second ?? '', /^collections\.\/b\.item: /);
  assert.deepEqual(more, []);
  const seeds = fileFaults({ seed: { '/article': [], '/articles': [{ title: 5 }] } });
  assert.match(seeds[0] ?? '', /^seed\.\/article: /);
  assert.match(seeds[1] ?? '', /^seed\.\/articles\[0\]/);
});

test('no error message contains a secret of the file', () => {
  const config = fileWith({ users: { 'a:b': { secret: 'hunter2', password: '', x: 1 } }, secret: 'hunter2' });
  assert.ok(!catchRefusal(['--config', config]).message.includes('hunter2'));
});
