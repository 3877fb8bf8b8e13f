import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultCollections } from '../../../src/collections/declaration.ts';
import { merge } from '../../../src/collections/fields/merge.ts';
import { formats, selectFormat } from '../../../src/collections/formats/index.ts';
import { writeItemJson } from '../../../src/collections/formats/json/writer.ts';
import type { ListItem } from '../../../src/collections/formats/list-item.ts';
import { PageWriter } from '../../../src/collections/formats/page.ts';
import { writeItemXml } from '../../../src/collections/formats/xml/writer.ts';
import type { StoredRecord } from '../../../src/store/store.ts';
import { buildShape, fromJson, fromXml } from '../../support/collections/decode.ts';
import { drawFields, drawRecord } from '../../support/collections/random-schema.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';

const rounds = 600;

/** A record drawn for a shape drawn; the text of its JSON is its stored form. */
function draw(random: Seeded): { fields: unknown; json: string } {
  const fields = drawFields(random, 3, ['href']);
  return { fields, json: JSON.stringify(drawRecord(random, fields)) };
}

test('a stored value is read back unchanged from its XML and its JSON, in the declared order', () => {
  const random = seeded();
  for (let round = 0; round < rounds; round++) {
    const { fields, json } = draw(random);
    const told = `seed ${random.seed}, round ${round}: ${JSON.stringify(fields)} ${json}`;
    const shape = buildShape(fields);
    const value = fromJson(shape, json);
    assert.equal(JSON.stringify(value), json, told);
    const xml = writeItemXml(shape, value);
    assert.equal(JSON.stringify(fromXml(shape, xml)), json, `${told} ${xml}`);
    assert.equal(writeItemXml(shape, fromXml(shape, xml)), xml, told);
    assert.equal(writeItemJson(shape, value), json, told);
    assert.equal(writeItemJson(shape, fromJson(shape, writeItemJson(shape, value))), json, told);
  }
});

test('a document is read the same regardless of chunk boundaries', async () => {
  const random = seeded();
  for (let round = 0; round < 60; round++) {
    const { fields, json } = draw(random);
    const shape = buildShape(fields);
    const value = fromJson(shape, json);
    for (const format of formats) {
      const decoder = await format.decoder(shape, { partial: false, maxDepth: 32, maxAttributes: 64 });
      const bytes = Buffer.from(format.writeItem(shape, value));
      for (let at = 0; at < bytes.length; ) {
        const next = at + 1 + random.below(5);
        const piece = Uint8Array.from(bytes.subarray(at, next));
        decoder.write(piece);
        // Whoever receives bytes may use their memory again.
        piece.fill(0x3c);
        at = next;
      }
      assert.equal(
        JSON.stringify(decoder.end()),
        json,
        `seed ${random.seed}, round ${round}: ${format.type}`,
      );
    }
  }
});

const [articles, records] = defaultCollections();
assert.ok(articles !== undefined && records !== undefined);
const article: StoredRecord = { title: 'A & B', price: { value: '12.30', currency: 'EUR' } };

function writePage(mark: string, items: readonly ListItem[]): string {
  assert.ok(articles !== undefined);
  const page = new PageWriter(selectFormat({ type: '', mark }), articles.shape);
  for (const item of items) assert.ok(page.add(item));
  return Buffer.from(page.end()).toString();
}

test('a list contains its items with their href', () => {
  const entries = [
    { href: '/articles/1', value: article },
    { href: '/articles/a%20&b', value: { title: '' } },
  ];
  assert.equal(
    writePage('x', entries),
    '<articles><article href="/articles/1"><title>A &amp; B</title><price currency="EUR">12.30</price></article>' +
      '<article href="/articles/a%20&amp;b"><title></title></article></articles>',
  );
  assert.deepEqual(JSON.parse(writePage('j', entries)), {
    articles: [
      { href: '/articles/1', ...article },
      { href: '/articles/a%20&b', title: '' },
    ],
  });
  assert.equal(writePage('x', []), '<articles></articles>');
  assert.equal(writePage('j', []), '{"articles":[]}');
  assert.equal(writePage('j', [{ href: '/a', value: {} }]), '{"articles":[{"href":"/a"}]}');
});

test('elements, lists and their attributes have one form in each format', () => {
  const shape = buildShape({
    address: {
      type: 'element',
      fields: { street: { type: 'text' }, zip: { type: 'integer' } },
      attributes: { kind: { type: 'text' } },
    },
    tags: {
      type: 'list',
      of: { type: 'text', attributes: { lang: { type: 'text' } } },
      item: 'tag',
      attributes: { n: { type: 'integer' } },
    },
    flags: { type: 'list', of: 'boolean' },
  });
  const json =
    '{"address":{"street":"Hauptstraße","zip":8000,"kind":"home"},' +
    '"tags":{"value":[{"value":"a","lang":"en"},{"value":"b"}],"n":2},"flags":[true,false]}';
  const xml =
    '<thing><address kind="home"><street>Hauptstraße</street><zip>8000</zip></address>' +
    '<tags n="2"><tag lang="en">a</tag><tag>b</tag></tags><flags><item>true</item><item>false</item></flags></thing>';
  assert.equal(writeItemXml(shape, fromJson(shape, json)), xml);
  assert.equal(writeItemJson(shape, fromXml(shape, xml)), json);
});

test('fields are accepted in any order, with white space, comments and processing instructions between them', () => {
  const xml = `<?xml version="1.0"?>
    <article>
      <price currency='EUR'><![CDATA[12]]>.30</price> <!-- a comment -->
      <?go on?>
      <title>A<!-- within --> &#38; B</title>
    </article>`;
  assert.equal(JSON.stringify(fromXml(articles.shape, xml)), JSON.stringify(article));
  const json = ' {"price" : {"currency":"EUR", "value":"12.30"},\n"title":"A \\u0026 B"}\n';
  assert.equal(JSON.stringify(fromJson(articles.shape, json)), JSON.stringify(article));
});

test('a stored value that no longer matches its field throws an error with the name of the field', () => {
  for (const value of [{ price: '12.30' }, { price: { currency: 'EUR' } }, { title: { a: 'b' } }]) {
    assert.throws(
      () => writeItemXml(articles.shape, value),
      /the stored value of (price|title) does not match/,
    );
  }
  assert.throws(() => writeItemJson(articles.shape, { price: ['12.30'] }), /stored value of price/);
});

test('a partial document changes only the fields that it contains', () => {
  const partial = fromXml(articles.shape, '<article><price currency="USD">9.99</price></article>', true);
  assert.deepEqual(merge(articles.shape, article, partial), {
    title: 'A & B',
    price: { value: '9.99', currency: 'USD' },
  });
  assert.deepEqual(merge(articles.shape, article, fromJson(articles.shape, '{}', true)), article);
  const record = merge(records.shape, { amount: { value: '1.00' } }, { date: '2013-04-20', description: '' });
  assert.equal(JSON.stringify(record), '{"date":"2013-04-20","description":"","amount":{"value":"1.00"}}');
});

test('the formats are application/xml, text/xml and application/json, each with its own mark', () => {
  assert.deepEqual(
    formats.map(({ type, mark, reads }) => [type, mark, reads]),
    [
      ['application/xml; charset=utf-8', 'x', 'application/xml'],
      ['text/xml; charset=utf-8', 't', 'text/xml'],
      ['application/json', 'j', 'application/json'],
    ],
  );
  for (const format of formats) assert.equal(selectFormat(format), format);
  assert.equal(selectFormat(undefined), formats[0]);
});
