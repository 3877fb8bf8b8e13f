import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeText } from '../../../src/xml/writer.ts';
import { buildShape, fromJson, fromXml, listFaults } from '../../support/collections/decode.ts';

interface Case {
  readonly is: string;
  readonly field: Readonly<Record<string, unknown>>;
  readonly good: readonly string[];
  readonly bad: readonly (readonly [values: readonly string[], rule: string, detail: RegExp])[];
}

const decimalForm = /must be digits with an optional leading minus/;
const calendar = /must be a calendar date in the form YYYY-MM-DD, is “/;
const moment = /must be a date and time with an offset \(RFC 3339\)/;

const cases: Case[] = [
  {
    is: 'text keeps every character as it is',
    field: { type: 'text' },
    good: ['', ' ', '  a  b ', 'a\nb\tc\r\nd', ']]>', '<&>"\'', '\u{1f600}é\u0085', 'x'.repeat(70_000)],
    bad: [],
  },
  {
    is: 'maxLength counts code points',
    field: { type: 'text', maxLength: 3 },
    good: ['', 'abc', '\u{1f600}\u{1f600}\u{1f600}'],
    bad: [
      [['abcd'], 'maxLength', /^must have at most 3 characters, has 4$/],
      [['\u{1f600}\u{1f600}\u{1f600}\u{1f600}'], 'maxLength', /has 4$/],
    ],
  },
  {
    is: 'pattern is matched against the whole value',
    field: { type: 'text', pattern: '^[A-Z]{3}-\\d+$' },
    good: ['ABC-1', 'XYZ-12345'],
    bad: [
      [['abc-1'], 'pattern', /^must match the pattern \^\[A-Z\]\{3\}-\\d\+\$, is “abc-1”$/],
      [['ABC-1 '], 'pattern', /is “ABC-1 ”/],
      [['ABC-1\n'], 'pattern', /is “ABC-1\ufffd”/],
    ],
  },
  {
    is: 'enum of text',
    field: { type: 'text', enum: ['red', 'green'] },
    good: ['red', 'green'],
    bad: [
      [['Red'], 'enum', /^must be one of red, green; is “Red”$/],
      [[''], 'enum', /is empty$/],
      [['__proto__'], 'enum', /must be one of/],
    ],
  },
  {
    is: 'a decimal has exactly its fraction digits',
    field: { type: 'decimal', fractionDigits: 2 },
    good: ['0.00', '12.30', '-0.01', '-12.30', '123456789012345678901234567890.12'],
    bad: [
      [['12.3'], 'fractionDigits', /^must have exactly 2 fraction digits, has 1$/],
      [['12'], 'fractionDigits', /has 0$/],
      [['12.300'], 'fractionDigits', /has 3$/],
      [[''], 'decimal', /is empty$/],
      [
        [
          ...['12,30', '+1.00', '01.00', '1.00e1', '.50', '1.', '- 1.00', '-0.00', ' 1.00'],
          ...['1.00\n', '١.٠٠', 'NaN'],
        ],
        'decimal',
        decimalForm,
      ],
    ],
  },
  {
    is: 'a decimal without fractionDigits has none',
    field: { type: 'decimal' },
    good: ['0', '-7', '98765432109876543210'],
    bad: [
      [['1.0'], 'fractionDigits', /^must have exactly 0 fraction digits, has 1$/],
      [['-0'], 'decimal', decimalForm],
    ],
  },
  {
    is: 'decimals are compared by their digits',
    field: { type: 'decimal', fractionDigits: 1, min: '-10.5', max: '9007199254740993.1' },
    good: ['-10.5', '-9.9', '0.0', '9007199254740993.0', '9007199254740993.1'],
    bad: [
      [['-10.6'], 'min', /^must be at least -10\.5, is “-10\.6”$/],
      [['-100.0'], 'min', /at least/],
      [['9007199254740993.2'], 'max', /^must be at most 9007199254740993\.1, is “/],
    ],
  },
  {
    is: 'date is a day of the calendar',
    field: { type: 'date' },
    good: ['2013-04-20', '2000-02-29', '2024-02-29', '0000-01-01', '9999-12-31'],
    bad: [
      [
        [
          ...['2013-02-29', '1900-02-29', '2013-04-31', '2013-00-10', '2013-13-10', '2013-04-00'],
          ...['2013-4-20', '20130420', '13-04-20', '+2013-04-20', '2013-04-20Z', '2013-04-20 '],
        ],
        'date',
        calendar,
      ],
    ],
  },
  {
    is: 'dates are compared as days',
    field: { type: 'date', min: '2012-02-29', max: '2013-04-20' },
    good: ['2012-02-29', '2012-12-31', '2013-04-20'],
    bad: [
      [['2012-02-28'], 'min', /at least 2012-02-29/],
      [['2013-04-21'], 'max', /at most 2013-04-20/],
    ],
  },
  {
    // RFC 3339 §5.8 gives the first five.
    is: 'dateTime is a moment of RFC 3339, kept as it is written',
    field: { type: 'dateTime' },
    good: [
      ...['1985-04-12T23:20:50.52Z', '1996-12-19T16:39:57-08:00', '1990-12-31T23:59:60Z'],
      ...['1990-12-31T15:59:60-08:00', '1937-01-01T12:00:27.87+00:20', '2013-04-20t12:59:24z'],
      ...['2013-04-20T12:59:24-00:00', '2015-07-01T08:59:60+09:00'],
    ],
    bad: [
      [
        [
          ...['2013-04-20T12:59:24', '2013-04-20 12:59:24Z', '2013-04-20T24:00:00Z'],
          ...['2013-04-20T12:60:00Z', '2013-04-20T12:59:61Z', '2013-04-20T12:59:60Z'],
          ...['2013-04-20T23:59:60Z', '1990-12-31T23:59:60-08:00', '2013-02-29T12:59:24Z'],
          ...['2013-04-20T12:59:24.Z', '2013-04-20T12:59Z', '2013-04-20T12:59:24+0200'],
          ...['2013-04-20T12:59:24+24:00', '2013-04-20T12:59:24+02:60'],
        ],
        'dateTime',
        moment,
      ],
    ],
  },
  {
    is: 'moments are compared regardless of their offsets',
    field: { type: 'dateTime', min: '2013-04-20T12:00:00Z', max: '2013-04-20T14:00:00.5+01:00' },
    good: [
      '2013-04-20T12:00:00.000Z',
      '2013-04-20T14:30:00+02:00',
      '2013-04-20T13:00:00.50Z',
      '2013-04-20T00:30:00-12:00',
    ],
    bad: [
      [['2013-04-20T11:59:59.999Z', '2013-04-20T13:59:59+02:00'], 'min', /at least/],
      [['2013-04-20T13:00:00.51Z', '2013-04-20T13:00:00.5000000000000000000001Z'], 'max', /at most/],
    ],
  },
  {
    is: 'currency is an active code of ISO 4217',
    field: { type: 'currency' },
    good: ['EUR', 'USD', 'JPY', 'XCG', 'ZWG', 'XTS', 'XXX'],
    bad: [
      [['eur'], 'currency', /^must be an ISO 4217 currency code in upper case, is “eur”$/],
      [['DEM', 'HRK', 'BGN', 'EURO', ' EUR'], 'currency', /ISO 4217/],
      [[''], 'currency', /is empty/],
    ],
  },
  {
    is: 'a currency may be one of a few',
    field: { type: 'currency', enum: ['EUR', 'CHF'] },
    good: ['EUR'],
    bad: [
      [['USD'], 'enum', /must be one of EUR, CHF/],
      [['XYZ'], 'currency', /ISO 4217/],
    ],
  },
];

for (const { is, field, good, bad } of cases) {
  const shape = buildShape({ f: { ...field, attributes: { a: field } } });
  test(`${is}: valid values are unchanged in content and attributes, in both formats`, () => {
    for (const value of good) {
      const expected = { f: { value, a: value } };
      const attribute = escapeText(value).replace(/["\t\n]/g, (character) => `&#${character.charCodeAt(0)};`);
      const xml = `<thing><f a="${attribute}">${escapeText(value)}</f></thing>`;
      if (value.length < 65_536) assert.deepEqual(fromXml(shape, xml), expected, value);
      assert.deepEqual(fromJson(shape, JSON.stringify(expected)), expected, value);
    }
  });
  for (const [values, rule, detail] of bad)
    for (const value of values)
      test(`${is}: ${JSON.stringify(value)} is rejected by the rule ${rule}`, () => {
        const plain = buildShape({ f: field });
        const json = listFaults(() => fromJson(plain, JSON.stringify({ f: value })));
        const xml = listFaults(() => fromXml(plain, `<thing><f>${escapeText(value)}</f></thing>`));
        for (const faults of [json, xml]) {
          assert.deepEqual(
            faults.map((fault) => [fault.field, fault.rule]),
            [['f', rule]],
          );
          assert.match(faults[0]?.detail ?? '', detail);
        }
      });
}

const numbers = buildShape({
  n: { type: 'integer', min: -5, max: 9007199254740991 },
  b: { type: 'boolean' },
});

test('an integer is digits in XML and a number in JSON', () => {
  for (const n of [0, -5, 7, 9007199254740991]) {
    assert.deepEqual(fromXml(numbers, `<thing><n>${n}</n></thing>`), { n });
    assert.deepEqual(fromJson(numbers, `{"n":${n}}`), { n });
  }
});

for (const [written, rule] of [
  ['-0', 'integer'],
  ['1.0', 'integer'],
  ['1e2', 'integer'],
  ['9007199254740992', 'integer'],
  ['-6', 'min'],
] as const) {
  test(`the integer ${written} is rejected by the rule ${rule} in both formats`, () => {
    assert.equal(listFaults(() => fromXml(numbers, `<thing><n>${written}</n></thing>`))[0]?.rule, rule);
    assert.equal(listFaults(() => fromJson(numbers, `{"n":${written}}`))[0]?.rule, rule);
  });
}

for (const written of ['', ' 1', '+1', '007', '1_000', '0x10', '٣', '9'.repeat(400)]) {
  test(`the integer "${written.slice(0, 12)}" is rejected in XML`, () => {
    assert.equal(listFaults(() => fromXml(numbers, `<thing><n>${written}</n></thing>`))[0]?.rule, 'integer');
  });
}

test('a boolean must be true or false', () => {
  assert.deepEqual(fromXml(numbers, '<thing><b>true</b></thing>'), { b: true });
  assert.deepEqual(fromJson(numbers, '{"b":false}'), { b: false });
  for (const written of ['True', '1', '0', '', ' true', 'yes']) {
    assert.equal(listFaults(() => fromXml(numbers, `<thing><b>${written}</b></thing>`))[0]?.rule, 'boolean');
  }
});

const every = buildShape({
  text: { type: 'text' },
  decimal: { type: 'decimal' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'date' },
  dateTime: { type: 'dateTime' },
  currency: { type: 'currency' },
  element: { type: 'element', fields: {} },
  list: { type: 'list', of: 'text' },
});

test('null is rejected by the rule of the field type, and does not count as absent', () => {
  for (const type of every.schema.byName.keys()) {
    const [fault] = listFaults(() => fromJson(every, `{"${type}":null}`));
    assert.equal(fault?.rule, type);
    assert.match(fault?.detail ?? '', /is null; omit a member that has no value/);
  }
});

test('a JSON value of the wrong type is rejected with its actual type', () => {
  const faults = listFaults(() =>
    fromJson(every, '{"text":1,"integer":"1","boolean":"true","date":[],"list":{},"element":"x"}'),
  );
  assert.deepEqual(
    faults.map(({ detail }) => detail),
    [
      'must be a JSON string, is the number 1',
      'must be a JSON number, is a string',
      'must be a JSON boolean, is a string',
      'must be a JSON string, is an array',
      'must be an array, is an object',
      'must be an object of fields, is a string',
    ],
  );
});

test('a decimal that is a JSON number is rejected with the advice to send a string of digits', () => {
  const [fault] = listFaults(() => fromJson(every, '{"decimal":12.30}'));
  assert.equal(fault?.rule, 'decimal');
  assert.match(
    fault?.detail ?? '',
    /must be sent as a string of digits, such as "12\.30", is the number 12\.30/,
  );
});

for (const [name, written] of [
  ['NUL', '\\u0000'],
  ['an escape character', '\\u001b'],
  ['a noncharacter', '\\ufffe'],
  ['a lone high surrogate', 'a\\ud800b'],
  ['a lone low surrogate', '\\udc00'],
  ['surrogates in the wrong order', '\\udc00\\ud800'],
] as const) {
  test(`text with ${name} is rejected because XML cannot represent it`, () => {
    const [fault] = listFaults(() => fromJson(every, `{"text":"${written}"}`));
    assert.equal(fault?.rule, 'character');
    assert.match(fault?.detail ?? '', /contains U\+[0-9A-F]{4}$/);
  });
}

test('text with a surrogate pair, a C1 control character and a carriage return is accepted', () => {
  assert.deepEqual(fromJson(every, '{"text":"\\ud83d\\ude00\\u0085\\r"}'), { text: '\u{1f600}\u0085\r' });
});

test('a value that breaks several rules is reported for each of them', () => {
  const shape = buildShape({ f: { type: 'text', maxLength: 9, pattern: '[a-z]*', enum: ['a', 'b'] } });
  assert.deepEqual(
    listFaults(() => fromJson(shape, '{"f":"C"}')).map(({ rule }) => rule),
    ['pattern', 'enum'],
  );
});

test('a message shows the value of a client truncated and without control characters', () => {
  const long = `\u202e<script>\u0000${'x'.repeat(5000)}`;
  const [fault] = listFaults(() => fromJson(every, JSON.stringify({ date: long })));
  assert.ok(fault !== undefined && fault.detail.length < 150);
  assert.ok(!/[\p{C}]/u.test(fault.detail.replaceAll('\ufffd', '')), fault.detail);
});
