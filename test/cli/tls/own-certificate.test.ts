import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CommandError } from '../../../src/cli/errors.ts';
import type { Certificate } from '../../../src/cli/tls/certificate.ts';
import { openOwnCertificate, temporaryCertificate } from '../../../src/cli/tls/own-certificate.ts';
import { createManualClock } from '../../../src/clock.ts';
import { makeCertificate, makeKey, pemOfKey } from '../../../src/net/tls/certificate.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const day = 86_400_000;
const start = Date.UTC(2030, 5, 15, 12);

/** A directory for a certificate, a clock, and what is in the directory. */
function place() {
  const directory = join(temporaryDirectory(), 'tls');
  const clock = createManualClock(start);
  const surroundings = { clock, random: randomBytes };
  const read = (name: string): string => readFileSync(join(directory, `${name}.pem`), 'utf8');
  const write = (name: string, content: string): void =>
    writeFileSync(join(directory, `${name}.pem`), content);
  return { directory, clock, read, write, open: () => openOwnCertificate(directory, surroundings) };
}

/** A place where a certificate was kept. */
async function settled(): Promise<ReturnType<typeof place>> {
  const made = place();
  await (await made.open()).save();
  return made;
}

function pems({ identity }: Certificate): readonly string[] {
  return [String(identity.cert), String(identity.key)];
}

function until(cert: string | Buffer): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

async function awaitRefusal(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => assert.fail('it was taken'),
    (error: unknown) => {
      assert.ok(error instanceof CommandError && error.status === 1);
      assert.equal(error.faults.length, 1);
      return error.faults[0] ?? '';
    },
  );
}

test('the first save creates both files with mode 0600; the certificate is valid for 397 days since yesterday', async () => {
  const { directory, open, read } = place();
  const certificate = await open();
  assert.throws(() => readdirSync(directory), { code: 'ENOENT' });
  await certificate.save();
  assert.deepEqual(readdirSync(directory).sort(), ['certificate.pem', 'key.pem']);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  for (const name of readdirSync(directory))
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600);
  assert.deepEqual(pems(certificate), [read('certificate'), read('key')]);
  const { subject, validFrom, validTo } = new X509Certificate(read('certificate'));
  assert.equal(subject, 'CN=Countersign on localhost');
  assert.equal(Date.parse(validFrom), start - day);
  assert.equal(Date.parse(validTo), start - day + 397 * day - 1000);
  assert.deepEqual(certificate.notes, []);
});

test('a later start loads the same key and certificate, and writes nothing', async () => {
  const { directory, open } = await settled();
  const before = readdirSync(directory).map((name) => statSync(join(directory, name)).ino);
  const [first, second] = [await open(), await open()];
  for (const each of [first, second]) await each.save();
  assert.deepEqual(pems(first), pems(second));
  assert.deepEqual(
    readdirSync(directory).map((name) => statSync(join(directory, name)).ino),
    before,
  );
  assert.equal(await first.reload(), undefined);
  assert.equal(await first.renew(), undefined);
});

test('a key without a certificate after a crash gets a certificate, and temporary files are removed', async () => {
  const { directory, open, read } = await settled();
  const key = read('key');
  rmSync(join(directory, 'certificate.pem'));
  writeFileSync(join(directory, 'certificate.pem.4194304-1.tmp'), 'half', { mode: 0o600 });
  const certificate = await open();
  await certificate.save();
  assert.equal(read('key'), key);
  assert.ok(new X509Certificate(read('certificate')).checkPrivateKey(createPrivateKey(key)));
  assert.deepEqual(readdirSync(directory).sort(), ['certificate.pem', 'key.pem']);
});

test('a start renews the certificate within 30 days of its expiry, after it, and before its validity begins', async () => {
  for (const [passed, renewed] of [
    [365, false],
    [367, true],
    [1000, true],
    [-2, true],
  ] as const) {
    const { clock, open, read } = await settled();
    const [cert, key] = [read('certificate'), read('key')];
    clock.set(start + passed * day);
    const certificate = await open();
    await certificate.save();
    assert.equal(read('certificate') !== cert, renewed, `${passed} days`);
    assert.equal(read('key'), key);
    assert.deepEqual(pems(certificate), [read('certificate'), key]);
    assert.equal(certificate.notes.length, renewed ? 1 : 0);
    if (renewed)
      assert.match(
        certificate.notes[0] ?? '',
        /certificate\.pem is valid until 2031-.* renewed with the same key/,
      );
    if (renewed) assert.equal(until(read('certificate')), clock.now() + 396 * day - 1000);
  }
});

test('a running server renews the certificate once, with the same key', async () => {
  for (const kept of [true, false]) {
    const { directory, clock, open, read } = await settled();
    const surroundings = { clock, random: randomBytes };
    const certificate = kept ? await open() : await temporaryCertificate(surroundings);
    clock.advance(365 * day);
    assert.equal(await certificate.renew(), undefined);
    clock.advance(2 * day);
    const renewal = await certificate.renew();
    assert.ok(renewal !== undefined);
    assert.match(renewal.message, /renewed the certificate with the same key, valid until 2032-/);
    assert.equal(until(renewal.identity.cert), clock.now() + 396 * day - 1000);
    assert.equal(String(renewal.identity.key), String(certificate.identity.key));
    if (kept) assert.equal(read('certificate'), renewal.identity.cert);
    assert.equal(await certificate.renew(), undefined);
    assert.equal(readdirSync(directory).length, 2);
  }
});

describe('a damaged file is reported with its path, and is not changed', () => {
  const cases: readonly [what: string, name: string, content: string, told: RegExp][] = [
    [
      'a certificate of garbage',
      'certificate',
      'garbage',
      /certificate\.pem: there is no certificate in PEM/,
    ],
    [
      'a certificate cut off',
      'certificate',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
      /certificate\.pem: the certificate cannot be read/,
    ],
    ['a key of garbage', 'key', 'garbage', /key\.pem: there is no private key in PEM that can be read/],
    [
      'another key',
      'key',
      pemOfKey(makeKey()),
      /certificate\.pem and .*key\.pem: the private key is not that of/,
    ],
  ];
  for (const [what, name, content, told] of cases) {
    test(what, async () => {
      const { open, read, write } = await settled();
      write(name, content);
      const fault = await awaitRefusal(open());
      assert.match(fault, told);
      assert.match(fault, /if both files are removed, a start generates new ones$/);
      assert.equal(read(name), content);
    });
  }

  test('a missing key', async () => {
    const { directory, open } = await settled();
    rmSync(join(directory, 'key.pem'));
    assert.match(
      await awaitRefusal(open()),
      /key\.pem: the file does not exist, and .*certificate\.pem cannot be used/,
    );
  });

  test('a key of another type, without a certificate', async () => {
    const { directory, open, write } = await settled();
    rmSync(join(directory, 'certificate.pem'));
    write('key', pemOfKey(generateKeyPairSync('ed25519').privateKey));
    assert.match(await awaitRefusal(open()), /key\.pem: .*P-256/);
  });

  test('a directory in place of a file', async () => {
    const { directory, open } = await settled();
    rmSync(join(directory, 'key.pem'));
    mkdirSync(join(directory, 'key.pem'));
    assert.match(await awaitRefusal(open()), /key\.pem cannot be read \(EISDIR\)$/);
  });
});

test('a certificate that the server did not generate is used unchanged, and is never renewed', async () => {
  const { clock, open, read, write } = await settled();
  const key = makeKey();
  const parts = { subject: 'Somebody else', key, names: ['localhost'], from: start, until: start + day };
  const cert = makeCertificate({ ...parts, random: randomBytes });
  write('certificate', cert);
  write('key', pemOfKey(key));
  const fresh = await open();
  assert.deepEqual(fresh.notes, []);
  clock.advance(2 * day);
  const late = await open();
  assert.match(late.notes.join(), /certificate\.pem: the certificate expired at 2030-06-16T12:00:00Z/);
  await late.save();
  assert.equal(await late.renew(), undefined);
  assert.equal(read('certificate'), cert);
});
