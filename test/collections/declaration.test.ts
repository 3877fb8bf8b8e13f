import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CollectionDeclaration,
  DeclarationError,
  decodeSeed,
  defaultCollections,
  defaultDeclarations,
  defineCollection,
  readCollection,
  readCollections,
} from '../../src/collections/declaration.ts';

const fields = { title: { type: 'text' } } as const;
const plain: CollectionDeclaration = { element: 'things', item: 'thing', fields };

function refusal(declare: () => unknown): DeclarationError {
  try {
    declare();
  } catch (error) {
    if (error instanceof DeclarationError) return error;
    throw error;
  }
  throw new Error('the declaration was expected to be refused');
}

/** The path within the collection, and the rest of the message. */
function ofFields(declared: unknown): string {
  const { message } = refusal(() => readCollection('/things', { ...plain, fields: declared }));
  return message.replace('collections./things.', '');
}

test('the default collections are the two documented ones', () => {
  assert.deepEqual(defaultDeclarations, {
    '/articles': {
      element: 'articles',
      item: 'article',
      fields: {
        title: { type: 'text', required: true },
        price: {
          type: 'decimal',
          fractionDigits: 2,
          required: true,
          attributes: { currency: { type: 'currency', required: true } },
        },
      },
      access: { read: 'anyone', write: 'authenticated' },
      createWithPut: true,
    },
    '/users/{username}/financialrecords': {
      element: 'financialrecords',
      item: 'record',
      fields: {
        date: { type: 'date' },
        description: { type: 'text' },
        amount: { type: 'decimal', fractionDigits: 2, attributes: { currency: { type: 'currency' } } },
      },
      access: { read: 'owner:username', write: 'nobody' },
    },
  });
  assert.deepEqual(
    defaultCollections().map(({ path }) => path),
    Object.keys(defaultDeclarations),
  );
});

test('the access to a collection defaults to "nobody", and createWithPut to true', () => {
  const { access, createWithPut, path, shape } = defineCollection('/things', plain);
  assert.deepEqual(access, {
    GET: 'nobody',
    HEAD: 'nobody',
    POST: 'nobody',
    change: 'nobody',
    PUT: 'nobody',
    putNew: 'nobody',
    putExisting: 'nobody',
    DELETE: 'nobody',
  });
  assert.deepEqual([createWithPut, path, shape.element, shape.item], [true, '/things', 'things', 'thing']);
  assert.equal(defineCollection('/things', { ...plain, createWithPut: false }).createWithPut, false);
  const { idempotency, requirePrecondition } = defineCollection('/things', plain);
  assert.deepEqual([idempotency, requirePrecondition], ['off', false]);
});

test('the rule of a method overrides read and write, and HEAD defaults to the rule of GET', () => {
  const access = { read: 'anyone', write: 'authenticated', GET: ['ann', 'bob'], DELETE: 'nobody' } as const;
  assert.deepEqual(defineCollection('/things', { ...plain, access }).access, {
    GET: ['ann', 'bob'],
    HEAD: ['ann', 'bob'],
    POST: 'authenticated',
    change: 'authenticated',
    PUT: 'authenticated',
    putNew: 'authenticated',
    putExisting: 'authenticated',
    DELETE: 'nobody',
  });
  assert.equal(
    defineCollection('/things', { ...plain, access: { ...access, HEAD: 'anyone' } }).access.HEAD,
    'anyone',
  );
  const owned = defineCollection('/u/{name}/things', { ...plain, access: { read: 'owner:name' } }).access;
  assert.deepEqual([owned.GET, owned.HEAD, owned.PUT], ['owner:name', 'owner:name', 'nobody']);
});

for (const [path, message] of [
  ['things', /^collections\.things: must begin with a slash$/],
  ['', /must begin with a slash/],
  ['/', /has an empty segment or a trailing slash/],
  ['/things/', /or a trailing slash$/],
  ['/a/../b', /has the segment "\.\."/],
  ['/a b', /has the segment "a b", which is not a sequence of pchar/],
  ['/a?b', /has the segment "a\?b"/],
  ['/%2f', /has the segment "%2f"/],
  ['/ärger', /has the segment "ärger"/],
  ['/x{a}', /has the segment "x\{a\}"/],
  ['/{1a}', /has the segment "\{1a\}"/],
  ['/{__proto__}', /has the segment/],
  ['/{a}/{a}', /has the parameter a twice/],
] as const) {
  test(`the path "${path}" is rejected`, () => {
    const error = refusal(() => defineCollection(path, plain));
    assert.equal(error.code, 'path');
    assert.match(error.message, message);
  });
}

test('paths of literals, parameters and escapes are accepted', () => {
  for (const path of ['/a', '/{a}', '/a/{b}/c.d/{e_1}', "/~a-b!$&'()*+,;=:@", '/%2Fa']) {
    assert.equal(defineCollection(path, plain).path, path);
  }
});

for (const [declaration, message] of [
  [null, 'collections./things: must be an object, is null'],
  [
    { ...plain, feilds: {} },
    'collections./things.feilds: is not a key of a collection; did you mean "fields"?',
  ],
  [{ item: 'thing', fields }, 'collections./things.element: must be non-empty text, is missing'],
  [{ ...plain, element: '' }, 'collections./things.element: must be non-empty text, is empty'],
  [{ ...plain, item: 'a:b' }, 'collections./things.item: must be an XML name without a colon'],
  [
    { ...plain, element: 'Xmlthings' },
    'collections./things.element: names that begin with "xml" are reserved by XML',
  ],
  [{ ...plain, fields: undefined }, 'collections./things.fields: must be an object, is missing'],
  [
    { ...plain, idempotency: 'on' },
    'collections./things.idempotency: must be "off", "accepted" or "required"',
  ],
  [
    { ...plain, requirePrecondition: 1 },
    'collections./things.requirePrecondition: must be true or false, is 1',
  ],
  [
    { ...plain, createWithPut: 'no' },
    'collections./things.createWithPut: must be true or false, is a string',
  ],
  [
    { ...plain, access: { reed: 'anyone' } },
    'collections./things.access.reed: is not a method, read, write, create or change; did you mean "read"?',
  ],
  [
    { ...plain, access: { read: 'anyoen' } },
    'collections./things.access.read: "anyoen" is not known; did you mean "anyone"?',
  ],
  [
    { ...plain, access: { read: 'owner:name' } },
    'collections./things.access.read: the path has no parameter "name"; known are title',
  ],
  [
    { ...plain, access: { read: true } },
    'collections./things.access.read: must be one of anyone, authenticated, nobody, owner, owner:PARAMETER, owner:FIELD, role:NAME, scope:NAME, or a list of user names, is a boolean',
  ],
  [{ ...plain, access: { PUT: ['ann', 'ann'] } }, 'collections./things.access.PUT[1]: ann is listed twice'],
  [
    { ...plain, access: { read: ['ann', 'anyone'] } },
    'collections./things.access.read[1]: "anyone" cannot be in a list; use it instead of the list',
  ],
  [
    { ...plain, access: { read: ['group:editors'] } },
    'collections./things.access.read[0]: "group:editors" is not known: a user name must have no colon; did you mean "role:editors"?',
  ],
] as const) {
  test(`a collection is rejected: ${message}`, () => {
    assert.equal(refusal(() => readCollection('/things', declaration)).message, message);
  });
}

test('a misspelt parameter of an owner rule is rejected with a suggestion', () => {
  const declared = { ...plain, access: { read: 'owner:usrname' } as const };
  assert.match(
    refusal(() => defineCollection('/users/{username}/x', declared)).message,
    /did you mean "username"\?/,
  );
});

/** 3,000 characters, none of which follows another. */
const commas = Array.from({ length: 3000 }, (_, at) => String.fromCodePoint(0x4e00 + 2 * at)).join('');

const decimal = { type: 'decimal', fractionDigits: 2 };
const fieldCases: [declared: unknown, message: string][] = [
  [{ a: 'text' }, 'fields.a: must be an object, is a string'],
  [
    { a: {} },
    'fields.a.type: must be one of text, decimal, integer, boolean, date, dateTime, currency, json, reference, element, list, is missing',
  ],
  [{ a: { type: 'datetime' } }, 'fields.a.type: "datetime" is not a field type; did you mean "dateTime"?'],
  [
    { a: { type: 'constructor' } },
    'fields.a.type: "constructor" is not a field type; known are text, decimal, integer, boolean, date, dateTime, currency, json, reference, element, list',
  ],
  [
    { price: { ...decimal, fractiondigits: 2 } },
    'fields.price.fractiondigits: is not an option of decimal; did you mean "fractionDigits"?',
  ],
  [
    { price: { type: 'decimal', fractionDigits: -1 } },
    'fields.price.fractionDigits: must be a whole number from 0 to 100, is -1',
  ],
  [{ a: { type: 'text', required: 1 } }, 'fields.a.required: must be true or false, is 1'],
  [
    { a: { type: 'text', pattern: '(?=a)' } },
    'fields.a.pattern: "(?" must be followed by ":"; lookaround, named groups and flags are not supported (character 1)',
  ],
  [
    { a: { type: 'text', pattern: '(ab){250}' } },
    'fields.a.pattern: has 501 states, too many for a text of this length; set maxLength to at most 99800',
  ],
  [
    { a: { type: 'list', of: { type: 'text', maxLength: 1000, pattern: '(ab){250}' } } },
    'fields.a.of.pattern: takes 501 steps per character; in a list, at most 47 are allowed; simplify it',
  ],
  [
    {
      a: {
        type: 'list',
        of: { type: 'element', fields: { b: { type: 'text', maxLength: 9, pattern: '(ab){30}' } } },
      },
    },
    'fields.a.of.fields.b.pattern: takes 61 steps per character; in a list, at most 47 are allowed; simplify it',
  ],
  [
    {
      a: { type: 'text', maxLength: 5000, pattern: '(ab){3000}' },
      b: { type: 'element', fields: { c: { type: 'text', maxLength: 5000, pattern: '(ab){3000}' } } },
    },
    'fields: the patterns together take too many steps; reduce maxLength',
  ],
  [
    { a: { type: 'text', pattern: `[${commas}]*` } },
    'fields.a.pattern: has 4 states, too many for a text of this length; set maxLength to at most 16666',
  ],
  [
    { a: { type: 'text', enum: [] } },
    'fields.a.enum: must be an array of at least one value, is an empty array',
  ],
  [{ a: { type: 'text', enum: ['x', 'x'] } }, 'fields.a.enum[1]: x is listed twice'],
  [
    { a: { type: 'text', maxLength: 1, enum: ['xy'] } },
    'fields.a.enum[0]: must have at most 1 characters, has 2',
  ],
  [
    { a: { type: 'text', enum: ['\u0000'] } },
    'fields.a.enum[0]: must not contain a character that XML cannot represent, contains U+0000',
  ],
  [{ a: { ...decimal, min: 0 } }, 'fields.a.min: must be a JSON string, is 0'],
  [{ a: { ...decimal, min: '0' } }, 'fields.a.min: must have exactly 2 fraction digits, has 0'],
  [{ a: { ...decimal, min: '1.00', max: '0.99' } }, 'fields.a.min: 1.00 is greater than max, which is 0.99'],
  [
    { a: { ...decimal, min: '1.00', enum: ['2.00', '0.50'] } },
    'fields.a.enum[1]: must be at least 1.00, is “0.50”',
  ],
  [{ a: { type: 'integer', max: '1' } }, 'fields.a.max: must be a JSON number, is a string'],
  [
    { a: { type: 'integer', max: 1.5 } },
    'fields.a.max: must be a whole number: digits with an optional leading minus, no leading zeros; is “1.5”',
  ],
  [
    { a: { type: 'date', min: '2013-02-29' } },
    'fields.a.min: must be a calendar date in the form YYYY-MM-DD, is “2013-02-29”',
  ],
  [
    { a: { type: 'dateTime', min: '2013-01-01T00:00:00+01:00', max: '2012-12-31T22:59:59Z' } },
    'fields.a.min: 2013-01-01T00:00:00+01:00 is greater than max, which is 2012-12-31T22:59:59Z',
  ],
  [
    { a: { type: 'currency', enum: ['DEM'] } },
    'fields.a.enum[0]: must be an ISO 4217 currency code in upper case, is “DEM”',
  ],
  [{ a: { type: 'text', min: 'a' } }, 'fields.a.min: is not an option of text; did you mean "minLength"?'],
  [
    { a: { type: 'boolean', enum: [true] } },
    'fields.a.enum: is not an option of boolean; known are type, required, readOnly, set, unique, attributes, default',
  ],
  [
    { a: { type: 'integer', pattern: '1' } },
    'fields.a.pattern: is not an option of integer; known are type, required, readOnly, set, unique, attributes, default, enum, min, max, exclusiveMin, exclusiveMax',
  ],
  [
    { a: { type: 'element', fields: {}, maxLength: 1 } },
    'fields.a.maxLength: is not an option of element; known are type, required, readOnly, set, unique, attributes, fields',
  ],
  [
    { a: { type: 'list', of: { type: 'text', required: true } } },
    'fields.a.of.required: is not an option of text; known are type, attributes, minLength, maxLength, format, pattern, enum',
  ],
  [
    { a: { type: 'text', attributes: { b: { type: 'text', attributes: {} } } } },
    'fields.a.attributes.b.attributes: is not an option of text; known are type, required, minLength, maxLength, format, pattern, enum',
  ],
  [
    { a: { type: 'text', attributes: { xmlns: { type: 'text' } } } },
    'fields.a.attributes.xmlns: names that begin with "xml" are reserved by XML',
  ],
  [{ '': { type: 'text' } }, 'fields.: must be an XML name without a colon'],
  [{ a: { type: 'element' } }, 'fields.a.fields: must be an object, is missing'],
  [
    { a: { type: 'element', fields: { b: { type: 'txt' } } } },
    'fields.a.fields.b.type: "txt" is not a field type; did you mean "text"?',
  ],
  [{ a: { type: 'list' } }, 'fields.a.of: must be an object, is missing'],
  [{ a: { type: 'list', of: 'text', item: 'a b' } }, 'fields.a.item: must be an XML name without a colon'],
  [{ 'a:b': { type: 'text' } }, 'fields.a:b: must be an XML name without a colon'],
  [{ xmlns: { type: 'text' } }, 'fields.xmlns: names that begin with "xml" are reserved by XML'],
  [
    { href: { type: 'text' } },
    'fields.href: the name is reserved: in a list, href is the address of an item',
  ],
  [JSON.parse('{"__proto__":{"type":"text"}}'), 'fields.__proto__: is not allowed as a name'],
  [
    { a: { type: 'text', attributes: { value: { type: 'text' } } } },
    'fields.a.attributes.value: the name is reserved: in JSON, value is the content of a field with attributes',
  ],
  [
    { a: { type: 'list', of: 'text', attributes: { value: { type: 'text' } } } },
    'fields.a.attributes.value: the name is reserved: in JSON, value is the content of a field with attributes',
  ],
  [
    { a: { type: 'element', fields: { b: { type: 'text' } }, attributes: { b: { type: 'text' } } } },
    'fields.a.attributes.b: is also a field of this element; in JSON, both are members of one object',
  ],
  [
    { a: { type: 'text', attributes: { b: { type: 'list', of: 'text' } } } },
    'fields.a.attributes.b.type: "list" is not a field type; known are text, decimal, integer, boolean, date, dateTime, currency',
  ],
];

for (const [declared, message] of fieldCases) {
  test(`a field is rejected: ${message}`, () => assert.equal(ofFields(declared), message));
}

test('declarations at the limits are accepted', () => {
  const declared = {
    codes: {
      type: 'list',
      of: { type: 'text', pattern: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}' },
    },
    long: { type: 'text', pattern: '.{46}' },
    other: { type: 'text', pattern: '.{46}' },
    constructor: { type: 'text' },
    ключ: { type: 'integer', min: 3, max: 3, enum: [3] },
    value: { type: 'element', fields: { href: { type: 'text' } }, attributes: { value: { type: 'date' } } },
    nested: { type: 'list', of: { type: 'list', of: { type: 'list', of: 'boolean' } } },
    code: { type: 'text', maxLength: 20, pattern: '[A-Z]{1,20}', enum: ['A', 'BC'] },
  };
  assert.equal(readCollection('/things', { ...plain, fields: declared }).shape.schema.fields.length, 8);
});

test('a configuration can declare several collections, but no two with the same path', () => {
  assert.deepEqual(
    readCollections({ '/a': plain, '/{b}/c': plain }).map(({ path }) => path),
    ['/a', '/{b}/c'],
  );
  assert.equal(refusal(() => readCollections([])).message, 'collections: must be an object, is an array');
  const twice = refusal(() => readCollections({ '/a/{b}': plain, '/a/{c}': plain }));
  assert.equal(twice.message, 'collections./a/{c}: is the same path as /a/{b}');
});

const [articles] = defaultCollections();
assert.ok(articles !== undefined);

test('a seed is decoded by the rules of its collection, with its fields in the declared order', () => {
  const item = { price: { currency: 'EUR', value: '9.99' }, title: 'A' };
  const value = decodeSeed(articles, item, 'seed./articles[0]');
  assert.equal(JSON.stringify(value), '{"title":"A","price":{"value":"9.99","currency":"EUR"}}');
});

for (const [item, message] of [
  [
    { title: 'A', price: { value: '9.9', currency: 'EUR' } },
    'seed./articles[0].price: must have exactly 2 fraction digits, has 1',
  ],
  [
    { title: 'A', price: { value: 9.99, currency: 'EUR' } },
    'seed./articles[0].price: must be sent as a string of digits, such as "12.30", is the number 9.99',
  ],
  [{ title: 'A', price: { value: '9.99' } }, 'seed./articles[0].price/@currency: is required'],
  [{ titel: 'A' }, 'seed./articles[0].titel: is not known here; did you mean "title"?'],
  [null, 'seed./articles[0]: must be an object of fields, is null; omit a member that has no value'],
  [{ title: undefined }, 'seed./articles[0].title: must be JSON, is missing'],
  [JSON.parse('{"__proto__":{}}'), 'seed./articles[0].__proto__: is not known here; known are title, price'],
] as const) {
  test(`a seed is rejected: ${message}`, () => {
    const error = refusal(() => decodeSeed(articles, item, 'seed./articles[0]'));
    assert.deepEqual([error.code, error.message], ['seed', message]);
  });
}
