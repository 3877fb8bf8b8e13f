import assert from 'node:assert/strict';
import test from 'node:test';
import { createRequest } from '../../../src/http/message.ts';
import { canonicalPath, canonicalQuery } from '../../../src/schemes/aws4/canonical-request.ts';
import { parseCredentialsField, parsePresigned } from '../../../src/schemes/aws4/credentials.ts';
import { presignAws4 } from '../../../src/schemes/aws4/sign.ts';
import {
  accessKeyId,
  isNormalizedTarget,
  openAws4Service,
  selectPathRules,
  signOptions,
  time,
} from '../../support/schemes/clients/aws4.ts';
import { absent, signWithSmithy } from '../../support/schemes/clients/aws4-clients.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';

const region = 'us-east-1';
const host = 'example.amazonaws.com';
const marks = 'aZ09-._~!$\'()*,;:@ é😀%+&=?#/\\"<>[]{}|^`';

/** A text of random characters, encoded as a part of a URL. */
function encoded(random: Seeded): string {
  return encodeURIComponent(random.text(marks, 8)).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function randomPath(random: Seeded): string {
  const segments = Array.from({ length: random.below(5) }, () =>
    random.pick([encoded(random), encoded(random), 'a', '', '.', '..']),
  );
  return `/${segments.join('/')}`;
}

test('requests of @smithy/signature-v4 with random paths, queries and headers are accepted if their paths are normalized', async (context) => {
  const reason = absent('@smithy/signature-v4');
  if (reason !== undefined) return context.skip(reason);
  const random = seeded();
  for (let count = 0; count < 400; count += 1) {
    const service = random.pick(['execute-api', 's3']);
    const opened = openAws4Service({ region, service });
    const names = Array.from({ length: random.below(4) }, () => random.text(marks, 6));
    const query = Object.fromEntries(
      names.map((name) => [name, random.pick([random.text(marks, 8), ['b', random.text(marks, 4), 'a']])]),
    );
    const body = random.pick(['', 'abc', '{"a":"é"}']) || undefined;
    const headers = {
      host,
      'x-amz-meta-a': random.text('ab  \t;,"', 12),
      'content-type': random.text('a/b; =', 9),
    };
    const request = {
      method: random.pick(['GET', 'PUT', 'POST', 'DELETE']),
      path: randomPath(random),
      query,
      headers,
      body,
    };
    const signed = await signWithSmithy(request, { region, service, time });
    const fields = Object.entries(signed.headers).map(([name, value]): [string, string] => [name, value]);
    const arrived = createRequest({
      method: signed.method,
      target: signed.path,
      headers: fields,
      ...(body === undefined ? {} : { body: body }),
    });
    assert.equal(
      await opened.verdictOn(arrived),
      service === 's3' || isNormalizedTarget(signed.path) ? accessKeyId : 'malformed-credentials',
      `SEED=${random.seed}, request ${count}: ${signed.method} ${signed.path}`,
    );
  }
});

const good = `Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${'0a'.repeat(32)}`;

/** Changes a text in a few random places. */
function mutated(text: string, random: Seeded): string {
  let result = text;
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const at = random.below(result.length + 1);
    const piece = random.pick([
      '',
      ',',
      ';',
      '=',
      '/',
      ' ',
      '%',
      '%2F',
      '&',
      'A',
      '0',
      '\u0000',
      'é',
      'Signature=',
      'Credential=',
    ]);
    result = result.slice(0, at) + piece + result.slice(at + random.below(4));
  }
  return result;
}

test('the parser of Authorization returns the credentials that were sent, or a message', () => {
  const random = seeded();
  for (let count = 0; count < 20_000; count += 1) {
    const rest = mutated(good, random);
    const parsed = parseCredentialsField(rest);
    const where = `SEED=${random.seed}, text ${count}: ${JSON.stringify(rest)}`;
    if (typeof parsed === 'string') {
      assert.ok(parsed.length > 0, where);
      continue;
    }
    const { accessKeyId: id, scope, signedHeaders, signature } = parsed;
    assert.match(signature, /^[0-9a-f]{64}$/, where);
    assert.deepEqual([...signedHeaders].sort(), signedHeaders, where);
    const written = `Credential=${id}/${scope.date}/${scope.region}/${scope.service}/aws4_request`;
    assert.ok(
      Buffer.from(rest, 'latin1').toString('utf8').includes(written) || rest.includes(written),
      where,
    );
  }
});

test('the parser of a presigned query returns credentials or a message', () => {
  const random = seeded();
  const { target } = presignAws4({ method: 'GET', target: '/', fields: [['Host', host]] }, signOptions(), 60);
  const query = target.slice(2);
  for (let count = 0; count < 20_000; count += 1) {
    const text = mutated(query, random);
    const parsed = parsePresigned(text, 's3');
    const where = `SEED=${random.seed}, query ${count}: ${JSON.stringify(text)}`;
    if (typeof parsed === 'string') continue;
    const { expires = 0 } = parsed.presigned ?? {};
    assert.ok(expires >= 1 && expires <= 604_800, where);
  }
});

test('canonical paths and queries of any octets are ASCII, and canonicalization is idempotent', () => {
  const random = seeded();
  const octets = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet)).join('');
  for (let count = 0; count < 5000; count += 1) {
    const text = random.text(`${octets}${'%&=+/.'.repeat(20)}`, 40);
    const where = `SEED=${random.seed}, text ${count}: ${JSON.stringify(text)}`;
    const query = canonicalQuery(text);
    assert.match(query, /^[\w.~%=&-]*$/, where);
    assert.equal(canonicalQuery(query), query, where);
    const path = canonicalPath(`/${text}`, selectPathRules('s3'));
    assert.match(path, /^[\w.~%/-]*$/, where);
    assert.equal(canonicalPath(path, selectPathRules('s3')), path, where);
    assert.match(canonicalPath(`/${text}`, selectPathRules('service')), /^\/[\w.~%/-]*$/, where);
  }
});

test('canonical paths, queries and credentials take linear time', () => {
  const long = 100_000;
  const texts = [
    '/..'.repeat(long),
    '/a/'.repeat(long),
    '%41'.repeat(long),
    'a=&'.repeat(long),
    '='.repeat(long),
    ' '.repeat(long),
  ];
  const begun = process.cpuUsage();
  for (const text of texts) {
    canonicalPath(`/${text}`, selectPathRules('service'));
    canonicalPath(`/${text}`, selectPathRules('s3'));
    canonicalQuery(text);
    parseCredentialsField(`Credential=${text}`);
    parseCredentialsField(text);
    parsePresigned(text, 's3');
  }
  const { user, system } = process.cpuUsage(begun);
  assert.ok(user + system < 10_000_000, `${user + system} µs`);
});
