import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  type CertificateParts,
  makeCertificate,
  makeKey,
  pemOfKey,
  sequence,
} from '../../../src/net/tls/certificate.ts';

import { missing } from '../../support/net/program.ts';
import { seeded } from '../../support/seeded.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const day = 86_400_000;
const from = Date.UTC(2030, 0, 1);
const key = makeKey();

function made(parts: Partial<CertificateParts> = {}): string {
  const names = ['localhost', '127.0.0.1', '::1'];
  return makeCertificate({
    subject: 'A test',
    key,
    names,
    from,
    until: from + day,
    random: randomBytes,
    ...parts,
  });
}

const directory = temporaryDirectory();

/** Runs openssl in a directory that has these files. */
function openssl(args: readonly string[], files: Readonly<Record<string, string>>): string {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  const { status, stdout, stderr } = spawnSync('openssl', args, { cwd: directory, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test('a length is encoded in as few octets as possible (X.690 §10.1)', () => {
  for (const [length, octets] of [
    [0, '3000'],
    [127, '307f'],
    [128, '308180'],
    [255, '3081ff'],
    [256, '30820100'],
    [257, '30820101'],
    [65_536, '3083010000'],
  ] as const)
    assert.equal(
      sequence(Buffer.alloc(length))
        .subarray(0, octets.length / 2)
        .toString('hex'),
      octets,
    );
});

test('a certificate has the requested names and validity, and is signed with its own key', () => {
  const certificate = new X509Certificate(made());
  assert.equal(certificate.subject, 'CN=A test');
  assert.equal(certificate.issuer, 'CN=A test');
  assert.equal(certificate.subjectAltName, 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
  assert.equal(certificate.validFrom, 'Jan  1 00:00:00 2030 GMT');
  assert.equal(certificate.validTo, 'Jan  2 00:00:00 2030 GMT');
  assert.equal(certificate.ca, false);
  assert.ok(certificate.checkPrivateKey(key));
  assert.ok(certificate.verify(certificate.publicKey));
  assert.deepEqual(
    ['localhost', 'example.com'].map((name) => certificate.checkHost(name)),
    ['localhost', undefined],
  );
  assert.ok(
    certificate.checkIP('127.0.0.1') && certificate.checkIP('::1') && !certificate.checkIP('127.0.0.2'),
  );
});

describe('openssl', { skip: missing('openssl') }, () => {
  const valid = { from: Date.now() - day, until: Date.now() + 396 * day };

  test('trusts a self-issued certificate for the names in it, also with strict verification', () => {
    const files = { 'own.pem': made(valid) };
    for (const strictly of [[], ['-x509_strict']]) {
      for (const name of [
        ['-verify_hostname', 'localhost'],
        ['-verify_ip', '127.0.0.1'],
        ['-verify_ip', '::1'],
      ]) {
        const args = [
          'verify',
          ...strictly,
          '-purpose',
          'sslserver',
          ...name,
          '-CAfile',
          'own.pem',
          'own.pem',
        ];
        assert.equal(openssl(args, files), 'own.pem: OK\n');
      }
    }
  });

  test('reads every extension, and which of them are critical', () => {
    const text = openssl(['x509', '-in', 'own.pem', '-noout', '-text'], { 'own.pem': made() });
    assert.match(text, /Version: 3 \(0x2\)/);
    assert.match(text, /Basic Constraints: critical\s+CA:FALSE\n/);
    assert.match(text, /Key Usage: critical\s+Digital Signature\n/);
    assert.match(text, /Extended Key Usage: \n\s+TLS Web Server Authentication\n/);
    const [subject, issuer] = [...text.matchAll(/Key Identifier: \n\s+(?:keyid:)?([0-9A-F:]{59})\n/g)];
    assert.ok(subject?.[1] !== undefined && subject[1] === issuer?.[1]);
  });

  test('trusts a server through the authority that signed it, and no other', () => {
    const [authorityKey, strangerKey] = [makeKey(), makeKey()];
    const files = {
      'authority.pem': made({ ...valid, subject: 'An authority', key: authorityKey, names: 'authority' }),
      'stranger.pem': made({ ...valid, subject: 'An authority', key: strangerKey, names: 'authority' }),
      'server.pem': made({ ...valid, issuer: { name: 'An authority', key: authorityKey } }),
    };
    const args = [
      ...['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'authority.pem', 'server.pem'],
    ];
    assert.equal(openssl(args, files), 'server.pem: OK\n');
    assert.match(
      openssl(['x509', '-in', 'authority.pem', '-noout', '-text'], files),
      /CA:TRUE, pathlen:0\n.*\n\s+Certificate Sign, CRL Sign\n/,
    );
    const wrong = ['verify', '-CAfile', 'stranger.pem', 'server.pem'];
    assert.throws(() => openssl(wrong, files), /unable to get local issuer certificate|lookup/);
  });

  test('does not trust a certificate that has expired or is not yet valid', () => {
    for (const [begun, ended] of [
      [-3, -1],
      [1, 3],
    ] as const) {
      const validity = { from: Date.now() + begun * day, until: Date.now() + ended * day };
      const files = { 'own.pem': made(validity) };
      assert.throws(
        () => openssl(['verify', '-CAfile', 'own.pem', 'own.pem'], files),
        /expired|not yet valid/,
      );
    }
  });

  test('sees UTCTime through the year 2049 and GeneralizedTime from 2050 on', () => {
    const edge = Date.UTC(2050, 0, 1);
    const text = openssl(['asn1parse', '-in', 'own.pem'], {
      'own.pem': made({ from: edge - 1000, until: edge }),
    });
    assert.match(text, /UTCTIME +:491231235959Z\n.*GENERALIZEDTIME +:20500101000000Z\n/);
  });

  test('recognizes the key as one of the curve P-256', () => {
    assert.match(
      openssl(['pkey', '-in', 'key.pem', '-noout', '-text'], { 'key.pem': pemOfKey(key) }),
      /NIST CURVE: P-256/,
    );
  });
});

test('every serial number is positive and has 20 octets, regardless of the random octets', () => {
  const random = seeded();
  const octets = [0, 0xff, 0x7f, 0x80].map((octet) => () => new Uint8Array(20).fill(octet));
  const drawn = Array.from({ length: 200 }, () => (size: number) => {
    return Uint8Array.from({ length: size }, () => random.pick([0, 0xff, random.below(256)]));
  });
  for (const chance of [...octets, ...drawn]) {
    const { serialNumber } = new X509Certificate(made({ random: chance }));
    assert.match(serialNumber, /^[4-7][0-9A-F]{39}$/, `seed ${random.seed}`);
  }
});

test('every time from 1950 to 9999 is encoded to the second, including 2050 and leap days', () => {
  const random = seeded();
  const edges = [
    [1950, 0, 1],
    [1999, 11, 31],
    [2000, 1, 29],
    [2048, 1, 29],
    [2049, 11, 31],
    [2050, 0, 1],
    [2096, 1, 29],
    [2100, 1, 28],
    [2400, 1, 29],
    [9999, 11, 31],
  ].map(([year = 0, month, date]) => Date.UTC(year, month ?? 0, date));
  const [least, most] = [Date.UTC(1950, 0, 1), Date.UTC(9999, 11, 31)];
  const drawn = Array.from({ length: 300 }, () => least + random.below(most - least));
  for (const [at, begin] of [...edges, ...edges.map((edge) => edge + day - 1), ...drawn].entries()) {
    const until = edges[at % edges.length] ?? begin;
    const { validFrom, validTo } = new X509Certificate(made({ from: begin, until }));
    const message = `seed ${random.seed}: ${begin} ${until}`;
    assert.equal(Date.parse(validFrom), Math.floor(begin / 1000) * 1000, message);
    assert.equal(Date.parse(validTo), Math.floor(until / 1000) * 1000, message);
  }
});

test('IPv6 addresses are encoded correctly in any notation', () => {
  const random = seeded();
  for (let round = 0; round < 200; round += 1) {
    const groups = Array.from({ length: 8 }, () => (random.below(2) === 0 ? 0 : random.below(65_536)));
    const plain = groups.map((group) => group.toString(16).toUpperCase()).join(':');
    const short = plain.toLowerCase().replace(/(^|:)0(:0)+(:|$)/, '::');
    for (const address of [plain, short]) {
      const { subjectAltName } = new X509Certificate(made({ names: [address] }));
      assert.equal(subjectAltName, `IP Address:${plain}`, `seed ${random.seed}: ${address}`);
    }
  }
});

test('a common name may have any characters, and may need a length of several octets', () => {
  for (const subject of ['Zoë’s server', 'x'.repeat(100), 'y'.repeat(300)]) {
    // OpenSSL writes what is beyond ASCII in octets: the parsed form is compared.
    assert.equal(new X509Certificate(made({ subject })).toLegacyObject().subject.CN, subject);
  }
});

test('invalid keys, names and times are rejected with a RangeError', () => {
  const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  assert.throws(() => made({ key: other }), RangeError);
  assert.throws(() => made({ key: generateKeyPairSync('ed25519').privateKey }), RangeError);
  for (const name of [
    ...['', 'a b', 'a..b', 'caf\u00e9', '1.2.3.4.', 'a\0b', 'x,IP:1.2.3.4', '1.2.3', '1.2.3.256'],
    ...['1::2::3', '::g', 'h]:1'],
  ])
    assert.throws(() => made({ names: [name] }), RangeError, name);
  for (const moment of [Date.UTC(1949, 11, 31), Date.UTC(10_000, 0, 1), Number.NaN])
    assert.throws(() => made({ from: moment }), RangeError);
});
