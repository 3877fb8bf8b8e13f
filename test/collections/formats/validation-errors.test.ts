import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultCollections } from '../../../src/collections/declaration.ts';
import {
  briefly,
  buildShape,
  catchProblem,
  fromJson,
  fromXml,
  listFaults,
} from '../../support/collections/decode.ts';

const shape = buildShape({
  title: { type: 'text', required: true, maxLength: 5 },
  price: {
    type: 'decimal',
    fractionDigits: 2,
    required: true,
    attributes: { currency: { type: 'currency', required: true }, net: { type: 'boolean' } },
  },
  address: {
    type: 'element',
    fields: { street: { type: 'text', required: true }, zip: { type: 'integer' } },
    attributes: { kind: { type: 'text', enum: ['home', 'work'] } },
  },
  tags: { type: 'list', of: { type: 'text', maxLength: 2 } },
  people: {
    type: 'list',
    of: { type: 'element', fields: { name: { type: 'text', required: true } } },
    item: 'person',
  },
});

const good = '<title>A</title><price currency="EUR">1.00</price>';

const xmlCases: [document: string, faults: string[]][] = [
  ['<thing/>', ['title required 1:1', 'price required 1:1']],
  ['<thing>\n <title>too long</title>\n</thing>', ['title maxLength 2:17', 'price required 3:1']],
  [
    `<thing>${good}<colour/><b><c>x</c></b></thing>`,
    ['colour unknown-element 1:58', 'b unknown-element 1:67'],
  ],
  [`<thing>${good}<title>B</title></thing>`, ['title repeated 1:58']],
  [
    '<thing><title>A</title><price currency="EU" curency="EUR">1.0</price></thing>',
    ['price/@currency currency 1:24', 'price/@curency unknown-attribute 1:24', 'price fractionDigits 1:62'],
  ],
  ['<thing><title>A</title><price>1.00</price></thing>', ['price/@currency required 1:24']],
  [
    '<thing><title>A</title><price currency="EUR" net="no"/></thing>',
    ['price/@net boolean 1:24', 'price decimal 1:24'],
  ],
  [
    `<thing a="1" xmlns="urn:x">${good}</thing>`,
    ['@a unknown-attribute 1:1', '@xmlns unknown-attribute 1:1'],
  ],
  [`<x:thing xmlns:x="urn:x">${good}</x:thing>`, ['thing root 1:1']],
  [
    `<thing xmlns:x="urn:x">${good}<x:title>A</x:title></thing>`,
    ['@xmlns:x unknown-attribute 1:1', 'x:title unknown-element 1:74'],
  ],
  [
    `<thing>${good}x<address>y<street>s</street>z</address></thing>`,
    ['thing unexpected-text 1:58', 'address unexpected-text 1:68'],
  ],
  [`<thing>${good}&#160;</thing>`, ['thing unexpected-text 1:58']],
  [
    `<thing>${good}<address kind="sea"><zip>x</zip></address></thing>`,
    ['address/@kind enum 1:58', 'address/zip integer 1:84', 'address/street required 1:90'],
  ],
  [
    `<thing>${good}<tags>\n<item>ok</item>\n<item>bad</item>\n<tag/>\n<item>bad</item></tags></thing>`,
    ['tags/item[2] maxLength 3:10', 'tags/tag unknown-element 4:1', 'tags/item[3] maxLength 5:10'],
  ],
  [
    `<thing>${good}<people><person><name>A</name></person><person/></people></thing>`,
    ['people/person[2]/name required 1:97'],
  ],
  [
    '<thing><title><b>A</b></title><price currency="EUR">1.00</price></thing>',
    ['title/b unknown-element 1:15'],
  ],
  ['<other><title>A</title></other>', ['thing root 1:1']],
  [
    '\n<!-- é\u{1f600} --><thing><title>é\u{1f600}23456</title></thing>',
    ['title maxLength 2:33', 'price required 2:41'],
  ],
];

for (const [document, expected] of xmlCases) {
  test(`XML: ${document.replaceAll('\n', '⏎')}`, () => {
    assert.deepEqual(briefly(listFaults(() => fromXml(shape, document))), expected);
  });
}

const goodMembers = '"title":"A","price":{"value":"1.00","currency":"EUR"}';

const jsonCases: [document: string, faults: string[]][] = [
  ['{}', ['title required 1:1', 'price required 1:1']],
  ['{\n "title":\n  "too long"}', ['title maxLength 3:3', 'price required 1:1']],
  [`{${goodMembers},"colour":1,"b":{"c":"x"}}`, ['colour unknown-element 1:56', 'b unknown-element 1:67']],
  [
    '{"title":"A","price":{"value":"1.0","currency":"EU","curency":"EUR"}}',
    ['price fractionDigits 1:31', 'price/@currency currency 1:48', 'price/@curency unknown-attribute 1:53'],
  ],
  ['{"title":"A","price":{"value":"1.00"}}', ['price/@currency required 1:22']],
  ['{"title":"A","price":{"currency":"EUR"}}', ['price required 1:22']],
  ['{"title":"A","price":"1.00"}', ['price attributes 1:22']],
  ['{"title":"A","price":{"value":"1.00","currency":"EUR","net":"true"}}', ['price/@net boolean 1:61']],
  [
    `{${goodMembers},"address":{"kind":"sea","zip":"x"}}`,
    ['address/@kind enum 1:74', 'address/zip integer 1:86', 'address/street required 1:66'],
  ],
  [`{${goodMembers},"tags":["ok","bad",null]}`, ['tags/item[2] maxLength 1:69', 'tags/item[3] text 1:75']],
  [`{${goodMembers},"people":[{"name":"A"},{}]}`, ['people/person[2]/name required 1:79']],
  [`{${goodMembers},"href":"/things/1"}`, ['href unknown-element 1:56']],
  [
    `{${goodMembers},"__proto__":{"a":1},"constructor":1}`,
    ['__proto__ unknown-element 1:56', 'constructor unknown-element 1:76'],
  ],
  ['[]', ['thing root 1:1']],
  [' null', ['thing root 1:2']],
];

for (const [document, expected] of jsonCases) {
  test(`JSON: ${document.replaceAll('\n', '⏎')}`, () => {
    assert.deepEqual(briefly(listFaults(() => fromJson(shape, document))), expected);
  });
}

test('the problem names the first fault and lists them all', () => {
  const document = '<thing><title>too long</title><price currency="eur">1.00</price></thing>';
  const { status, type, detail, members } = catchProblem(() => fromXml(shape, document));
  assert.deepEqual(
    [status, type, detail],
    [422, 'invalid-content', '2 errors. title must have at most 5 characters, has 8.'],
  );
  assert.deepEqual(members, {
    field: 'title',
    line: 1,
    column: 23,
    errors: [
      {
        field: 'title',
        rule: 'maxLength',
        detail: 'must have at most 5 characters, has 8',
        line: 1,
        column: 23,
      },
      {
        field: 'price/@currency',
        rule: 'currency',
        detail: 'must be an ISO 4217 currency code in upper case, is “eur”',
        line: 1,
        column: 31,
      },
    ],
  });
});

test('an unknown name is reported with the nearest known name', () => {
  const details = listFaults(() =>
    fromXml(shape, '<thing><titel/><price curency="EUR">1.00</price></thing>'),
  ).map(({ detail }) => detail);
  assert.equal(details[0], 'is not known here; did you mean "title"?');
  assert.equal(details[1], 'is not known here; did you mean "currency"?');
  assert.equal(
    catchProblem(() => fromJson(shape, `{${goodMembers},"titel":1}`)).detail,
    'titel is not known here; did you mean "title"?',
  );
});

for (const [name, decode, item] of [
  ['XML', fromXml, (content: string) => `<thing>${good}<tags>${content}</tags></thing>`],
  ['JSON', fromJson, (content: string) => `{${goodMembers},"tags":[${content}]}`],
] as const) {
  const bad = name === 'XML' ? '<item>bad</item>' : '"bad"';
  const join = (count: number): string =>
    Array.from({ length: count }, () => bad).join(name === 'XML' ? '' : ',');
  test(`${name}: the problem lists at most twenty errors, and reports that there are more`, () => {
    const twenty = catchProblem(() => decode(shape, item(join(20))));
    assert.match(twenty.detail, /^20 errors\. tags\/item\[1\] must have at most 2 characters/);
    const more = catchProblem(() => decode(shape, item(join(21))));
    assert.match(more.detail, /^More than 20 errors; the first 20 are listed\. tags\/item\[1\] /);
    for (const { members } of [twenty, more]) {
      assert.equal(Array.isArray(members['errors']) && members['errors'].length, 20);
    }
  });

  test(`${name}: a document with tens of thousands of invalid items or unknown names is rejected`, () => {
    assert.equal(listFaults(() => decode(shape, item(join(60_000)))).length, 20);
    const unknown =
      name === 'XML'
        ? '<itme/>'.repeat(100_000)
        : `{${Array.from({ length: 100_000 }, (_, at) => `"itme${at}":1`).join(',')}}`;
    assert.ok(listFaults(() => decode(shape, item(unknown))).length > 0);
  });
}

test('a document that is not well-formed is rejected with 400, and its earlier errors are not listed', () => {
  const xml = catchProblem(() => fromXml(shape, '<thing><titel/><price>1</price>\n</thin>'));
  assert.deepEqual(
    [xml.type, xml.status, xml.members['line'], xml.members['column']],
    ['xml-malformed', 400, 2, 1],
  );
  const json = catchProblem(() => fromJson(shape, '{"titel":1,\n"price":2'));
  assert.deepEqual([json.type, json.status, json.members], ['json-malformed', 400, { line: 2, column: 10 }]);
});

test('a DOCTYPE is rejected with its position', () => {
  const problem = catchProblem(() => fromXml(shape, '\n <!DOCTYPE thing [<!ENTITY a "b">]><thing/>'));
  assert.deepEqual([problem.type, problem.members], ['doctype-refused', { line: 2, column: 2 }]);
});

for (const [encoding, bytes] of [
  ['UTF-16LE', Buffer.from('\ufeff<thing/>', 'utf16le')],
  ['UTF-16BE', Buffer.from('\ufeff<thing/>', 'utf16le').swap16()],
  ['ISO-8859-1', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><thing/>')],
] as const) {
  test(`XML in ${encoding} is rejected with 415 and the name of its encoding`, () => {
    const problem = catchProblem(() => fromXml(shape, bytes));
    assert.deepEqual([problem.type, problem.status], ['unsupported-charset', 415]);
    assert.equal(String(problem.members['encoding']).slice(0, 6), encoding.slice(0, 6));
  });
}

for (const [encoding, bytes] of [
  ['UTF-16LE', Buffer.from('{}', 'utf16le')],
  ['UTF-16BE', Buffer.from('{}', 'utf16le').swap16()],
  ['UTF-16LE', Buffer.from('\ufeff{}', 'utf16le')],
  ['UTF-32LE', Buffer.from([0x7b, 0, 0, 0, 0x7d, 0, 0, 0])],
  ['UTF-32BE', Buffer.from([0, 0, 0, 0x7b, 0, 0, 0, 0x7d])],
] as const) {
  test(`JSON in ${encoding} (${bytes.toString('hex')}) is rejected with the name of its encoding`, () => {
    const problem = catchProblem(() => fromJson(shape, bytes));
    assert.deepEqual([problem.type, problem.members], ['unsupported-charset', { encoding }]);
  });
}

for (const [what, bytes] of [
  ['a stray continuation byte', [0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
  ['a character past U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ['a character that breaks off', [0xe6, 0xbc]],
] as const) {
  test(`JSON with ${what} is rejected at its position, also far into the document`, () => {
    for (const before of ['{\n"é":"', `{\n"${'漢é'.repeat(3000)}":"`]) {
      const problem = catchProblem(() =>
        fromJson(shape, Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from('"}')])),
      );
      assert.deepEqual(
        [problem.type, problem.members],
        ['json-malformed', { line: 2, column: before.length - 1 }],
      );
      assert.match(problem.detail, /found bytes that are not UTF-8/);
    }
  });
}

test('a partial document may omit fields, but its fields must be complete', () => {
  assert.deepEqual(fromXml(shape, '<thing/>', true), {});
  assert.deepEqual(fromJson(shape, '{}', true), {});
  const faults = listFaults(() => fromXml(shape, '<thing><price>1.00</price><address/></thing>', true));
  assert.deepEqual(
    faults.map(({ field, rule }) => [field, rule]),
    [
      ['price/@currency', 'required'],
      ['address/street', 'required'],
    ],
  );
  const json = listFaults(() => fromJson(shape, '{"price":{"value":"1.00"},"address":{}}', true));
  assert.deepEqual(
    json.map(({ field, rule }) => [field, rule]),
    [
      ['price/@currency', 'required'],
      ['address/street', 'required'],
    ],
  );
});

test('the configured limits on depth and attributes apply', () => {
  const deep = (depth: number): string =>
    `<thing>${'<a>'.repeat(depth - 1)}${'</a>'.repeat(depth - 1)}</thing>`;
  assert.equal(catchProblem(() => fromXml(shape, deep(32))).type, 'invalid-content');
  assert.equal(catchProblem(() => fromXml(shape, deep(33))).type, 'limit-exceeded');
  assert.equal(
    catchProblem(() => fromJson(shape, `{"a":${'['.repeat(31)}${']'.repeat(31)}}`)).type,
    'invalid-content',
  );
  assert.equal(
    catchProblem(() => fromJson(shape, `{"a":${'['.repeat(32)}${']'.repeat(32)}}`)).type,
    'json-malformed',
  );
  const many = Array.from({ length: 65 }, (_, at) => ` a${at}=""`).join('');
  assert.equal(catchProblem(() => fromXml(shape, `<thing${many}/>`)).type, 'limit-exceeded');
});

test('hostile names are truncated and sanitized in the problem', () => {
  const name = `\u202e\u0000${'n'.repeat(10_000)}\ud800`;
  const [fault] = listFaults(() => fromJson(shape, JSON.stringify({ [name]: 1 })));
  assert.ok(fault !== undefined && fault.field.length <= 40 && !/[\u202e\u0000\ud800]/.test(fault.field));
  const xml = listFaults(() => fromXml(shape, `<thing ${'a'.repeat(900)}="x"><${'b'.repeat(900)}/></thing>`));
  assert.ok(xml.every(({ field }) => field.length <= 41));
});

test('names that objects inherit are unknown like any other, in both formats', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const [xml] = listFaults(() => fromXml(shape, `<thing ${name}=""><${name}/>${good}</thing>`));
    assert.deepEqual([xml?.field, xml?.rule], [`@${name}`, 'unknown-attribute']);
    const [json] = listFaults(() => fromJson(shape, `{"${name}":1,${goodMembers}}`));
    assert.deepEqual([json?.field, json?.rule], [name, 'unknown-element']);
  }
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});

test('the price 12.3 is rejected with the documented detail', () => {
  const [articles] = defaultCollections();
  assert.ok(articles !== undefined);
  const { detail } = catchProblem(() =>
    fromXml(articles.shape, '<article><title>A</title><price currency="EUR">12.3</price></article>'),
  );
  assert.equal(detail, 'price must have exactly 2 fraction digits, has 1.');
});
