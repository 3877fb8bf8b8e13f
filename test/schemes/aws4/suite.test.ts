import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Aws4Case,
  accessKeyId,
  aws4Cases,
  isNormalizedTarget,
  openAws4Service,
  received,
} from '../../support/schemes/clients/aws4.ts';

const headerCases = aws4Cases('header.json');
const presignedCases = aws4Cases('presigned.json');

function openCaseService({ service }: Aws4Case) {
  return openAws4Service({ service, unsignedPayload: service === 's3' });
}

test('all cases of the test suite of AWS, and further ones, are present', () => {
  assert.equal(headerCases.filter(({ name }) => !name.startsWith('own/')).length, 34);
  assert.ok(headerCases.length >= 41);
  assert.ok(presignedCases.length >= 7);
});

for (const each of [...headerCases, ...presignedCases]) {
  const isAsSigned = each.service === 's3' || isNormalizedTarget(each.target);
  test(`the request ${each.name} is ${isAsSigned ? 'accepted' : 'refused: its path is not signed as sent'}`, async () => {
    const expected = isAsSigned ? accessKeyId : 'malformed-credentials';
    assert.equal(await openCaseService(each).verdictOn(received(each)), expected);
  });
}

/** Changes one character to another one. */
function changed(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'b' ? 'c' : 'b'}${text.slice(at + 1)}`;
}

function withField(each: Aws4Case, name: string, change: (value: string) => string): Aws4Case {
  const fields = each.fields.map(([field, value]): [string, string] =>
    field.toLowerCase() === name ? [field, change(value)] : [field, value],
  );
  return { ...each, fields };
}

/** The signed headers of a case, in either form. */
function parseSignedHeaders(each: Aws4Case): string[] {
  const text = `${each.fields.find(([name]) => name === 'Authorization')?.[1]} ${each.target}`;
  return (/SignedHeaders=([^,& ]+)/.exec(text)?.[1] ?? '').split(/;|%3B/);
}

/** Each case with one change in each signed part. */
function listMutations(each: Aws4Case): [change: string, mutated: Aws4Case][] {
  const { target, content } = each;
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  const inFields = parseSignedHeaders(each).map((name): [string, Aws4Case] => [
    `another ${name}`,
    withField(each, name, (value) =>
      name === 'x-amz-date' ? '20150830T123601Z' : changed(value, value.length >> 1),
    ),
  ]);
  const signed = target.includes('X-Amz-Signature')
    ? { ...each, target: changed(target, target.length - 1) }
    : withField(each, 'authorization', (value) => changed(value, value.length - 1));
  return [
    ['another method', { ...each, method: each.method === 'GET' ? 'DELETE' : 'GET' }],
    ['another path', { ...each, target: `${path}x${target.slice(path.length)}` }],
    ['another parameter', { ...each, target: `${target}${query < 0 ? '?' : '&'}added=1` }],
    ['another signature', signed],
    ...inFields,
    ...(content === '' || (each.service === 's3' && query >= 0)
      ? []
      : [['another content', { ...each, content: changed(content, 1) }] satisfies [string, Aws4Case]]),
  ];
}

for (const each of [...headerCases, ...presignedCases]) {
  for (const [change, mutated] of listMutations(each)) {
    test(`the request ${each.name} with ${change} is refused`, async () => {
      const outcome = await openCaseService(each).verdictOn(received(mutated));
      assert.match(outcome, /^(?:credentials-refused|malformed-credentials|digest-mismatch)$/);
    });
  }
}
