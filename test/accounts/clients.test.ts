import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { clientFile, consumerFile } from '../../src/accounts/clients.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';
import type { ConsumerRegistration } from '../../src/accounts/registration.ts';
import { createSecretBox, SecretBoxError } from '../../src/accounts/secret-box.ts';
import { userFile } from '../../src/accounts/users.ts';
import { CorruptionError } from '../../src/store/corruption-error.ts';
import { rsa } from '../support/keys.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const rest = { redirectUris: [], grants: ['refresh_token'], scopes: ['read'], users: [] } as const;
const sha256 = 'A'.repeat(43);

describe('the clients file', () => {
  test('returns the stored clients, and has mode 0600', async (context) => {
    const directory = temporaryDirectory(context);
    const scrypt = await hashPassword('s', new Uint8Array(16), 16);
    const clients = new Map([
      ['app', { ...rest, secret: { sha256 }, redirectUris: ['https://a.example/?a=b'] }],
      ['__proto__', { ...rest, secret: { scrypt }, users: '*' as const }],
      ['7', { ...rest, secret: undefined, users: ['ann'] }],
    ]);
    await clientFile.write(directory, clients);
    const { entries, clear } = await clientFile.read(directory);
    assert.equal(entries.size, 3);
    for (const [id, client] of clients) assert.deepEqual(entries.get(id), client);
    assert.equal(clear, 0);
    assert.equal((await stat(join(directory, 'clients.json'))).mode & 0o777, 0o600);
  });

  const wrong: readonly (readonly [client: unknown, says: RegExp])[] = [
    [{ secret: 's3cret-in-clear' }, /secret of the client "app" must be a digest of a secret/],
    [{ secret: { plain: 's3cret-in-clear' } }, /secret of the client "app" must be a digest of a secret/],
    [
      { secret: { scrypt: 'scrypt$s3cret-in-clear' } },
      /secret of the client "app" must be a digest of a secret/,
    ],
    [{ redirectUris: ['http://a.example'] }, /redirectUris\[0\] of the client "app" is plain HTTP/],
    [{ 's3cret-in-clear': 1 }, /the client "app" has a member that is not known/],
    [[], /the client "app" must be an object, is an array/],
  ];
  for (const [client, says] of wrong)
    test(`is rejected as damaged with ${JSON.stringify(client)}, without showing a secret`, async (context) => {
      const directory = temporaryDirectory(context);
      const content = JSON.stringify({ version: 1, clients: { app: client } });
      await writeFile(join(directory, 'clients.json'), content);
      await assert.rejects(clientFile.read(directory), (error) => {
        assert.ok(error instanceof CorruptionError);
        assert.match(error.message, says);
        assert.ok(!error.message.includes('s3cret'));
        return true;
      });
    });
});

describe('the consumers file', () => {
  const consumers = new Map<string, ConsumerRegistration>([
    [
      'key',
      {
        secret: 's3cret-in-clear',
        rsaPublicKey: undefined,
        callbacks: ['oob'],
        methods: ['PLAINTEXT'],
        scopes: ['read'],
        users: [],
        plainHttp: false,
      },
    ],
    [
      'rsa',
      {
        secret: undefined,
        rsaPublicKey: rsa.publicPem,
        callbacks: [],
        methods: ['RSA-SHA1', 'RSA-SHA512'],
        scopes: ['write'],
        users: '*',
        plainHttp: true,
      },
    ],
  ]);

  test('returns the stored consumers, and counts the secrets in the clear', async (context) => {
    const directory = temporaryDirectory(context);
    await consumerFile.write(directory, consumers);
    const { entries, clear } = await consumerFile.read(directory);
    assert.deepEqual([...entries], [...consumers]);
    assert.equal(clear, 1);
  });

  test('seals each secret for its consumer, and rejects it for another consumer or in the users file', async (context) => {
    const directory = temporaryDirectory(context);
    const secretBox = createSecretBox(randomBytes(32), randomBytes);
    await consumerFile.write(directory, consumers, { secretBox });
    const path = join(directory, 'consumers.json');
    const text = await readFile(path, 'utf8');
    assert.ok(!text.includes('s3cret'));
    const { entries, clear } = await consumerFile.read(directory, { secretBox });
    assert.deepEqual([...entries], [...consumers]);
    assert.equal(clear, 0);
    await assert.rejects(consumerFile.read(directory), SecretBoxError);
    const { sealed } = JSON.parse(text).consumers.key.secret;
    await writeFile(path, text.replace('"key"', '"yek"'));
    await assert.rejects(consumerFile.read(directory, { secretBox }), SecretBoxError, 'under another key');
    const user = { version: 1, users: { key: { secrets: [{ secret: { sealed } }] } } };
    await writeFile(join(directory, 'users.json'), JSON.stringify(user));
    await assert.rejects(userFile.read(directory, { secretBox }), SecretBoxError, 'as a user');
  });
});
