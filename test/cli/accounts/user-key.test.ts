import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { userFile } from '../../../src/accounts/users.ts';
import { call } from '../../support/cli/command.ts';
import { rsa } from '../../support/keys.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

interface Place {
  readonly directory: string;
  readonly data: string;
}

async function place(): Promise<Place> {
  const directory = temporaryDirectory();
  const data = join(directory, 'data');
  for (const name of ['ann', 'bob'])
    assert.equal((await call(['user', 'add', name, '--data', data])).status, 0);
  return { directory, data };
}

async function key({ data }: Place, args: readonly string[], input?: string) {
  const end = await call(['user', 'key', ...args, '--data', data], input === undefined ? {} : { input });
  return { ...end, first: end.stderr.split('\n')[0] };
}

function written({ directory }: Place, name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe('countersign user key', () => {
  test('add stores a public key from a PEM or JWK file, with the algorithm of its type', async () => {
    const at = await place();
    const { publicKey } = generateKeyPairSync('ed25519');
    const pem = written(at, 'key.pem', publicKey.export({ type: 'spki', format: 'pem' }));
    const jwk = written(at, 'key.jwk', JSON.stringify(publicKey.export({ format: 'jwk' })));
    const added = await key(at, ['add', 'ann', '--key-id', 'key-1', '--public-key', pem]);
    assert.equal(added.stdout, 'user      ann\nkey       key-1\nalgorithm ed25519\n');
    assert.equal((await key(at, ['add', 'ann', '--key-id', 'key-2', '--public-key', jwk])).status, 0);
    assert.equal((await key(at, ['list', 'ann'])).stdout, 'key-1  ed25519\nkey-2  ed25519\n');
    const { keys } = (await userFile.read(at.data)).entries.get('ann') ?? {};
    assert.deepEqual(keys?.['key-1'], keys?.['key-2']);
  });

  test('add --generate prints the private key once and stores only the public key', async () => {
    const at = await place();
    for (const algorithm of ['ed25519', 'ecdsa-p256-sha256', 'ecdsa-p384-sha384', 'rsa-pss-sha512']) {
      const { stdout } = await key(at, ['add', 'ann', '--key-id', algorithm, '--generate', algorithm]);
      const privateKey = createPrivateKey(stdout.slice(stdout.indexOf('-----BEGIN')));
      const stored = (await userFile.read(at.data)).entries.get('ann')?.keys?.[algorithm];
      assert.ok(stored !== undefined && 'publicKey' in stored && typeof stored.publicKey === 'string');
      const digest = algorithm === 'ed25519' ? null : 'sha256';
      const signature = sign(digest, Buffer.from('message'), privateKey);
      assert.ok(verify(digest, Buffer.from('message'), createPublicKey(stored.publicKey), signature));
    }
    assert.ok(!readFileSync(join(at.data, 'users.json'), 'utf8').includes('PRIVATE'));
  });

  test('add stores a given or generated secret for algorithms with a shared secret', async () => {
    const at = await place();
    const given = await key(
      at,
      ['add', 'ann', '--key-id', 'AKIDEXAMPLE', '--algorithm', 'aws4', '--secret-stdin'],
      'secret of a key\n',
    );
    assert.equal(
      given.stdout,
      'user      ann\nkey       AKIDEXAMPLE\nalgorithm aws4\nsecret    the given secret\n',
    );
    const generated = await key(at, ['add', 'ann', '--key-id', 'other', '--generate', 'hmac-sha256']);
    const secret = /^secret {4}(\S{20,})$/m.exec(generated.stdout)?.[1];
    const { keys } = (await userFile.read(at.data)).entries.get('ann') ?? {};
    assert.deepEqual(keys?.['AKIDEXAMPLE'], {
      algorithm: 'aws4',
      secret: 'secret of a key',
    });
    assert.deepEqual(keys?.['other'], { algorithm: 'hmac-sha256', secret });
  });

  test('remove removes one key, and list then no longer shows it', async () => {
    const at = await place();
    await key(at, ['add', 'ann', '--key-id', 'key-1', '--generate', 'ed25519']);
    assert.equal(
      (await key(at, ['remove', 'ann', '--key-id', 'key-2'])).first,
      'countersign: the user ann has no key key-2; did you mean "key-1"?',
    );
    assert.equal((await key(at, ['remove', 'ann', '--key-id', 'key-1'])).stdout, 'removed   key-1\n');
    const { stdout, first } = await key(at, ['list', 'ann']);
    assert.deepEqual([stdout, first], ['', 'the user ann has no keys']);
  });

  test('a new user cannot have the id of a key as its name', async () => {
    const at = await place();
    await key(at, ['add', 'ann', '--key-id', 'eve', '--generate', 'ed25519']);
    assert.deepEqual(await call(['user', 'add', 'eve', '--data', at.data]), {
      status: 1,
      stdout: '',
      stderr: 'countersign: eve is the id of a key of the user ann; a user needs another name\n',
    });
    assert.equal((await call(['check', '--data', at.data, '--no-tls'])).status, 0);
  });

  test('rejects a private key, and stores nothing of it', async () => {
    const at = await place();
    const { privateKey } = generateKeyPairSync('ed25519');
    const file = written(at, 'key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const refused = await key(at, ['add', 'ann', '--key-id', 'k', '--public-key', file]);
    assert.equal(refused.status, 1);
    assert.equal(
      refused.stderr,
      `countersign: ${file} is a private key or a secret; only the public key belongs here\n`,
    );
    assert.equal((await userFile.read(at.data)).entries.get('ann')?.keys, undefined);
  });

  test('rejects invalid calls with the reason', async () => {
    const at = await place();
    const file = written(at, 'rsa.pem', rsa.publicPem);
    await key(at, ['add', 'bob', '--key-id', 'taken', '--generate', 'ed25519']);
    const cases: [readonly string[], number, string][] = [
      [
        ['add', 'ann', '--key-id', 'k', '--generate', 'ed2551'],
        2,
        '"ed2551" is not an algorithm of a key; did you mean "ed25519"?',
      ],
      [
        ['add', 'ann', '--key-id', 'k', '--public-key', file],
        2,
        `${file} requires --algorithm, such as rsa-pss-sha512 or rsa-v1_5-sha256 for an RSA key`,
      ],
      [
        ['add', 'ann', '--key-id', 'k', '--public-key', file, '--algorithm', 'ed25519'],
        1,
        `${file} is not an Ed25519 key, which ed25519 requires`,
      ],
      [['add', 'ann', '--key-id', 'k', '--public-key', '/none'], 1, '/none cannot be read (ENOENT)'],
      [
        ['add', 'ann', '--key-id', 'taken', '--generate', 'ed25519'],
        1,
        'the user bob already has a key taken',
      ],
      [['add', 'ann', '--key-id', 'bob', '--generate', 'ed25519'], 1, 'bob is the name of another user'],
      [
        ['add', 'nan', '--key-id', 'k', '--generate', 'ed25519'],
        1,
        'there is no user nan; did you mean "ann"?',
      ],
    ];
    for (const [args, status, message] of cases) {
      const end = await key(at, args);
      assert.equal(end.status, status, args.join(' '));
      assert.ok(end.first?.startsWith(`countersign: ${message}`), `${args.join(' ')}: ${end.stderr}`);
      assert.equal(end.stdout, '');
    }
  });
});
