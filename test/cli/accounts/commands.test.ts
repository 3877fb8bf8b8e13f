// What the commands of users, clients and consumers have in common: each test is made with all three.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { clientFile, consumerFile } from '../../../src/accounts/clients.ts';
import { verifyPassword } from '../../../src/accounts/passwords.ts';
import { userFile } from '../../../src/accounts/users.ts';
import { call } from '../../support/cli/command.ts';
import { done, printedIn } from '../../support/cli/oauth.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** A kind of accounts. */
interface Kind {
  /** What `add` needs besides a name. */
  readonly adding: readonly string[];
  /** What `list` shows of an account. */
  readonly listed: string;
  /** The account in a configuration file, and what `list` shows of it. */
  readonly declared: object;
  readonly listedDeclared: string;
  /** The actions that change an account, besides `rotate` and `remove`. */
  readonly others: readonly string[];
  /** Those that read a secret from standard input. */
  readonly reading: readonly string[];
  /** Returns the stored account with this name. */
  read(data: string): Promise<object | undefined>;
  /** Returns what is stored of a generated secret. */
  store(secret: string): object;
  /** Returns whether a given secret is stored. Default: it is stored as a generated one. */
  holds?(data: string, secret: string): Promise<boolean>;
}

const name = 'app';
const kinds: Readonly<Record<'user' | 'client' | 'consumer', Kind>> = {
  user: {
    adding: [],
    listed: '1 valid secret',
    declared: { secret: 'of the file' },
    listedDeclared: '1 valid secret',
    others: ['password', 'disable', 'enable', 'quota', 'schemes'],
    reading: ['add'],
    read: async (data) => (await userFile.read(data)).entries.get(name),
    store: (secret) => ({ secrets: [{ secret }] }),
  },
  client: {
    adding: ['--redirect-uri', 'https://client.example/cb'],
    listed: 'with a secret; authorization_code refresh_token; read; https://client.example/cb',
    declared: { secret: 'of the file', grants: [] },
    listedDeclared: 'with a secret; no grant; read',
    others: [],
    reading: ['add', 'rotate'],
    read: async (data) => (await clientFile.read(data)).entries.get(name),
    store: (secret) => ({ secret: { sha256: createHash('sha256').update(secret).digest('base64url') } }),
    // A given secret may be weak.
    async holds(data, secret) {
      const stored = (await clientFile.read(data)).entries.get(name)?.secret;
      return stored !== undefined && 'scrypt' in stored && verifyPassword(secret, stored.scrypt);
    },
  },
  consumer: {
    adding: ['--callback', 'oob'],
    listed: 'with a secret; HMAC-SHA256 HMAC-SHA1; read; oob',
    declared: { secret: 'of the file', callbacks: ['oob'] },
    listedDeclared: 'with a secret; HMAC-SHA256 HMAC-SHA1; read; oob',
    others: [],
    reading: ['add', 'rotate'],
    read: async (data) => (await consumerFile.read(data)).entries.get(name),
    store: (secret) => ({ secret }),
  },
};

for (const [kind, { adding, listed, declared, listedDeclared, others, reading, ...stored }] of Object.entries(
  kinds,
))
  describe(`countersign ${kind}`, () => {
    const separator = kind === 'user' ? ', ' : '; ';
    const file = (data: string): string => join(data, `${kind}s.json`);
    const assertStored = async (data: string, secret: string): Promise<void> => {
      const entry = await stored.read(data);
      assert.deepEqual({ ...entry, ...stored.store(secret) }, entry);
    };
    const wordsOf = (action: string): readonly string[] => [
      kind,
      action,
      name,
      ...(action === 'add' ? adding : []),
    ];

    test('adds, lists, rotates and removes an account, and prints a secret of 256 bits once', async () => {
      const data = join(temporaryDirectory(), 'deep', 'data');
      const at = ['--data', data];
      const added = await call([...wordsOf('add'), ...at]);
      assert.equal(added.status, 0, added.stderr);
      assert.match(added.stderr, /^no server uses .*; the change takes effect at the next start\n$/);
      const secret = printedIn(added.stdout, 'secret');
      assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
      assert.deepEqual(
        [statSync(data).mode & 0o777, statSync(file(data)).mode & 0o777],
        process.platform === 'win32' ? [0o666, 0o666] : [0o700, 0o600],
      );
      const before = await stored.read(data);
      assert.ok(before !== undefined && 'since' in before && typeof before.since === 'number');
      await assertStored(data, secret);
      const again = await call([...wordsOf('add'), ...at]);
      assert.equal(again.status, 1);
      assert.match(again.stderr, new RegExp(`the ${kind} ${name} already exists`));
      assert.equal(await done([kind, 'list', ...at]), `${name}  ${listed}\n`);
      const grace = kind === 'user' ? ['--grace', '0'] : [];
      const rotated = await call([...wordsOf('rotate'), ...grace, ...at]);
      assert.equal(rotated.status, 0, rotated.stderr);
      const renewed = printedIn(rotated.stdout, 'secret');
      assert.notEqual(renewed, secret);
      assert.equal(rotated.stdout, `${kind.padEnd(10)}${name}\nsecret    ${renewed}\n`);
      assert.match(rotated.stderr, /^the old secret is no longer valid\nno server uses /);
      assert.deepEqual(await stored.read(data), { ...before, ...stored.store(renewed) });
      assert.equal(await done([kind, 'list', ...at]), `${name}  ${listed}\n`);
      assert.equal(await done([...wordsOf('remove'), ...at]), `removed   ${name}\n`);
      assert.equal(await stored.read(data), undefined);
    });

    for (const action of reading)
      test(`${action} stores a secret from standard input, and does not print it`, async () => {
        const data = join(temporaryDirectory(), 'data');
        const at = ['--secret-stdin', '--data', data];
        if (action !== 'add') await done([...wordsOf('add'), '--data', data]);
        const before = existsSync(data) && readFileSync(file(data));
        assert.deepEqual(await call([...wordsOf(action), ...at]), {
          status: 2,
          stdout: '',
          stderr: 'countersign: no secret: write it to standard input\n',
        });
        assert.deepEqual(existsSync(data) && readFileSync(file(data)), before);
        const { status, stdout, stderr } = await call([...wordsOf(action), ...at], {
          input: 'chosen-by-somebody\nmore',
        });
        assert.equal(status, 0, stderr);
        assert.match(stdout, /^secret {4}the given secret$/m);
        assert.ok(!`${stdout}${stderr}`.includes('chosen-by'));
        if (stored.holds === undefined) await assertStored(data, 'chosen-by-somebody');
        else assert.ok(await stored.holds(data, 'chosen-by-somebody'));
        const other = kind === 'user' ? [kind, 'add', 'other', ...adding] : wordsOf('rotate');
        assert.deepEqual(await call([...other, ...at], { input: 'chosen-by-somebody\n' }), {
          status: 1,
          stdout: '',
          stderr: `countersign: the given secret is already the secret of the ${kind} ${name}; each user, client and consumer needs its own\n`,
        });
      });

    test('changes no account of the configuration file, and lists the one that it overrides', async () => {
      const data = join(temporaryDirectory(), 'data');
      await done([...wordsOf('add'), '--data', data]);
      await done([kind, 'add', 'kept', ...adding, '--data', data]);
      const before = readFileSync(file(data));
      const config = join(temporaryDirectory(), 'config.json');
      writeFileSync(config, JSON.stringify({ data, [`${kind}s`]: { [name]: declared } }), { mode: 0o600 });
      for (const action of ['add', 'rotate', 'remove', ...others]) {
        const { status, stderr } = await call([...wordsOf(action), '--config', config]);
        assert.equal(status, 1, action);
        assert.equal(
          stderr,
          `countersign: the ${kind} ${name} is declared in ${config}; change it there\n`,
          action,
        );
      }
      assert.equal(
        await done([kind, 'list', '--config', config]),
        `${name}  ${listedDeclared}${separator}in ${config}
${name}  ${listed}${separator}overridden by ${config}
kept  ${listed}
`,
      );
      assert.deepEqual(readFileSync(file(data)), before);
    });

    test('reports an account that does not exist, with the nearest name, and creates no directory', async () => {
      const data = join(temporaryDirectory(), 'data');
      for (const action of ['rotate', 'remove', ...others])
        assert.deepEqual(await call([...wordsOf(action), '--data', data]), {
          status: 1,
          stdout: '',
          stderr: `countersign: there is no ${kind} ${name} in ${data}; if a configuration file declares it, change it there\n`,
        });
      await call([kind, 'list', '--data', data]);
      assert.ok(!existsSync(data));
      await done([...wordsOf('add'), '--data', data]);
      const { stderr } = await call([kind, 'remove', 'apq', '--data', data]);
      assert.equal(stderr, `countersign: there is no ${kind} apq; did you mean "${name}"?\n`);
    });

    test('reports a damaged file, and does not change it', async () => {
      const data = temporaryDirectory();
      const content = `{ "version": 1, "${kind}s": `;
      writeFileSync(file(data), content, { mode: 0o600 });
      const { status, stderr } = await call([...wordsOf('add'), '--data', data]);
      assert.equal(status, 1);
      assert.match(stderr, new RegExp(`^countersign: .*${kind}s\\.json cannot be used`));
      assert.equal(readFileSync(file(data), 'utf8'), content);
    });
  });
