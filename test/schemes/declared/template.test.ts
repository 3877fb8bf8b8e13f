import assert from 'node:assert/strict';
import test from 'node:test';
import { HttpHeaders } from '../../../src/http/fields.ts';
import type { MessageSource } from '../../../src/schemes/declared/message.ts';
import { parseTemplate, placeholders } from '../../../src/schemes/declared/template.ts';
import { messageBytes } from '../../../src/schemes/message.ts';
import { seeded } from '../../support/seeded.ts';

const source: MessageSource = {
  request: {
    method: 'POST',
    headers: new HttpHeaders(['X-Tenant', 'acme']),
    connection: { secure: true, peer: '' },
  },
  target: '/a%20b/c?z=1&b=2&a=3',
  host: 'example.com:8443',
  content: Buffer.from('b=2&a=x+y%26&a=1&b=2'),
  json: () => undefined,
  hasForm: true,
  signed: { keyId: 'ann', user: 'ann', timestamp: '1709208000', nonce: 'n1', id: 'i1' },
};

function message(text: string, changes: Partial<MessageSource> = {}): string {
  const template = parseTemplate(text);
  if ('fault' in template) throw new RangeError(template.fault);
  return messageBytes(template.map(({ read }) => read({ ...source, ...changes }))).toString('latin1');
}

const values: [template: string, expected: string][] = [
  ['{method} {method-lower}', 'POST post'],
  ['{target}', '/a%20b/c?z=1&b=2&a=3'],
  ['{path}|{query}|{query-sorted}', '/a%20b/c|z=1&b=2&a=3|a=3&b=2&z=1'],
  ['{url}', 'https://example.com:8443/a%20b/c?z=1&b=2&a=3'],
  ['{host}:{user}:{timestamp}:{nonce}:{id}', 'example.com:8443:ann:1709208000:n1:i1'],
  ['{form-sorted}', 'a1ax y&b2'],
  ['v0:{field:X-Tenant}{field:X-Other}', 'v0:acme'],
  ['\u00e9{user}', '\u00c3\u00a9ann'],
];

for (const [template, expected] of values) {
  test(`the message ${JSON.stringify(template)} contains the values of the request`, () => {
    assert.equal(message(template), expected);
  });
}

test('the message contains exactly the bytes of the content', () => {
  const content = Uint8Array.from({ length: 256 }, (_, at) => at);
  assert.deepEqual(Buffer.from(message('{body}', { content }), 'latin1'), Buffer.from(content));
});

test('digests of the empty content are those of RFC 6234 and RFC 1321', () => {
  const content = new Uint8Array(0);
  assert.equal(
    message('{body-sha256} {body-md5-base64}', { content }),
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 1B2M2Y8AsgTpgAmY7PhCfg==',
  );
});

test('a target in absolute form is its own URL', () => {
  const target = 'http://other.example/p?q=1';
  assert.equal(message('{url} {path} {query}', { target }), 'http://other.example/p?q=1 /p q=1');
});

const faults: [template: string, fault: RegExp][] = [
  ['', /has a placeholder/],
  ['text', /has a placeholder/],
  ['{body', /position 1 is not part/],
  ['{body}}', /position 7 is not part/],
  ['{Body}', /\{Body\} is not a placeholder/],
  ['{field:}', /is not a field name/],
  ['{field:a b}', /is not a field name/],
  [`{body}${'x'.repeat(5000)}`, /at most 4096/],
];

for (const [template, fault] of faults) {
  test(`the template ${JSON.stringify(template.slice(0, 20))} is invalid`, () => {
    const parsed = parseTemplate(template);
    assert.ok('fault' in parsed);
    assert.match(parsed.fault, fault);
  });
}

test('any text is rejected or parsed to a template that contains all of it', () => {
  const random = seeded();
  const pieces = [
    ...placeholders.map((name) => `{${name}}`),
    '{field:X}',
    '{',
    '}',
    '{}',
    'é',
    '.',
    '\n',
    'field:',
    '{bod}',
  ];
  for (let round = 0; round < 5000; round += 1) {
    const text = Array.from({ length: random.below(8) }, () => random.pick(pieces)).join('');
    const parsed = parseTemplate(text);
    if ('fault' in parsed) continue;
    const written = parsed.map(({ name, text: literal }) =>
      literal === undefined ? `{${name}}` : Buffer.from(literal, 'latin1').toString('utf8'),
    );
    assert.equal(written.join(''), text, `seed ${random.seed}`);
  }
});
