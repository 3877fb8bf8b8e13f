import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  keepMasterKey,
  openMasterKey,
  openSharedMasterKey,
  readMasterKey,
} from '../../src/accounts/master-key.ts';
import { createSecretBox, SecretBoxError } from '../../src/accounts/secret-box.ts';
import { CorruptionError } from '../../src/store/corruption-error.ts';
import { fileDocuments } from '../support/module/shared-store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const key = Uint8Array.from({ length: 32 }, (_, at) => at);
const never = (): never => assert.fail('nothing is to be drawn');

describe('the master key', () => {
  test('is generated if it is missing, and does not change once it is stored', async (context) => {
    const directory = temporaryDirectory(context);
    const first = await openMasterKey(directory, undefined, () => key);
    assert.deepEqual(first, { bytes: key, fresh: true });
    assert.deepEqual(await readdir(directory), [], 'it is kept only when it is needed');
    await keepMasterKey(directory, first.bytes, undefined);
    const path = join(directory, 'oauth.key');
    assert.equal(await readFile(path, 'utf8'), 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const again = await openMasterKey(directory, undefined, never);
    assert.deepEqual([Buffer.from(again.bytes), again.fresh], [Buffer.from(key), false]);
  });

  test('is derived from the key of the secret box with HKDF', async (context) => {
    const directory = temporaryDirectory(context);
    const { bytes, fresh } = await openMasterKey(directory, createSecretBox(key, randomBytes), never);
    // Made by `openssl kdf … HKDF` with SHA-256, the key, no salt and the info ["countersign",1,"OAuth 1.0a token secrets"].
    const expected = '7931b447b5ef8798c4a442590e8a6c4af05b1c16cfce227e4e7b59c6fe157866';
    assert.deepEqual([Buffer.from(bytes).toString('hex'), fresh], [expected, false]);
    assert.deepEqual(await readdir(directory), []);
  });

  test('does not change when a secret box is added, and is then stored encrypted', async (context) => {
    const directory = temporaryDirectory(context);
    const secretBox = createSecretBox(randomBytes(32), randomBytes);
    const made = randomBytes(32);
    await keepMasterKey(directory, made, undefined);
    assert.deepEqual(Buffer.from((await openMasterKey(directory, secretBox, never)).bytes), made);
    const text = await readFile(join(directory, 'oauth.key'), 'utf8');
    assert.ok(!text.includes(made.toString('base64url')));
    assert.deepEqual(Buffer.from((await openMasterKey(directory, secretBox, never)).bytes), made);
    assert.equal(await readFile(join(directory, 'oauth.key'), 'utf8'), text);
    await assert.rejects(openMasterKey(directory, undefined, never), SecretBoxError);
    const other = createSecretBox(randomBytes(32), randomBytes);
    await assert.rejects(openMasterKey(directory, other, never), SecretBoxError);
  });

  test('is rejected if it is damaged, with a remedy and without showing the content', async (context) => {
    const directory = temporaryDirectory(context);
    for (const content of ['', 'not-a-key', `${'A'.repeat(43)}A`, 'sealed:', '\u0000'.repeat(32)]) {
      await writeFile(join(directory, 'oauth.key'), content);
      const secretBox = content.startsWith('sealed') ? createSecretBox(key, randomBytes) : undefined;
      await assert.rejects(readMasterKey(directory, secretBox), (error) => {
        assert.ok(error instanceof CorruptionError || error instanceof SecretBoxError);
        assert.match(error.message, /oauth\.key/);
        if (error instanceof CorruptionError)
          assert.match(
            error.message,
            /is not a key of 32 bytes.*remove it: all issued tokens .* are then invalid/,
          );
        assert.ok(!error.message.includes('not-a-key'));
        return true;
      });
    }
  });

  test('is the same for all processes that open shared documents at once, with and without a secret box', async (context) => {
    for (const secretBox of [undefined, createSecretBox(key, randomBytes)]) {
      const documents = fileDocuments(temporaryDirectory(context));
      const opened = await Promise.all(
        Array.from({ length: 8 }, () => openSharedMasterKey(documents, secretBox, randomBytes)),
      );
      const [first] = opened;
      for (const bytes of opened) assert.deepEqual(Buffer.from(bytes), Buffer.from(first ?? []));
      const stored = await readMasterKey(documents, secretBox);
      assert.deepEqual(Buffer.from(stored?.bytes ?? []), Buffer.from(first ?? []));
      assert.equal(stored?.clear, secretBox === undefined);
    }
  });
});
