import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  documentVariantsFor,
  writeDocument,
  writeProblem,
} from '../../../src/collections/formats/server-documents.ts';
import { Problem } from '../../../src/http/problem.ts';
import { createParser } from '../../../src/xml/parser.ts';
import { seeded } from '../../support/seeded.ts';

function isWellFormed(document: string): boolean {
  const parser = createParser({});
  parser.write(Buffer.from(document));
  parser.end();
  return true;
}

function writeProblemAs(format: 'xml' | 'json', problem: Problem, instance: string): string {
  return String(writeProblem(problem, instance, `application/problem+${format}`).body);
}

test('a document in XML has each member and each item of an array as an element, and in JSON as it is', () => {
  const doc = {
    href: '/a?b=1&c=2',
    count: 2,
    open: true,
    methods: ['GET', 'PUT'],
    none: [],
    nested: { deep: [{ a: '<' }] },
  };
  assert.equal(
    writeDocument('resource', doc, undefined).body,
    '<resource><href>/a?b=1&amp;c=2</href><count>2</count><open>true</open>' +
      '<methods><method>GET</method><method>PUT</method></methods><none></none>' +
      '<nested><deep><item><a>&lt;</a></item></deep></nested></resource>',
  );
  const [json] = documentVariantsFor('json');
  assert.deepEqual(JSON.parse(String(writeDocument('resource', doc, json).body)), doc);
});

const problem = new Problem('invalid-content', 'price must have exactly 2 fraction digits, has 1.', {
  members: {
    field: 'price',
    line: 3,
    errors: [
      { field: 'price', rule: 'fractionDigits' },
      { field: 'title', rule: 'required' },
    ],
  },
});

test('a problem in XML is in the namespace and form of RFC 9457 Appendix B', () => {
  assert.equal(
    writeProblemAs('xml', problem, '/articles/1'),
    '<problem xmlns="urn:ietf:rfc:7807"><type>/problems/invalid-content</type>' +
      '<title>The content is invalid</title><status>422</status>' +
      '<detail>price must have exactly 2 fraction digits, has 1.</detail><instance>/articles/1</instance>' +
      '<field>price</field><line>3</line><errors><i><field>price</field><rule>fractionDigits</rule></i>' +
      '<i><field>title</field><rule>required</rule></i></errors></problem>',
  );
});

test('a problem in JSON has the members of RFC 9457 §3.1 and its own', () => {
  assert.deepEqual(JSON.parse(writeProblemAs('json', problem, '/articles/1')), {
    type: '/problems/invalid-content',
    title: 'The content is invalid',
    status: 422,
    detail: 'price must have exactly 2 fraction digits, has 1.',
    instance: '/articles/1',
    ...problem.members,
  });
});

test('additional members of a problem never replace standard members', () => {
  const sly = new Problem('not-found', 'nothing', { members: { status: 200, type: 'x' } });
  assert.match(writeProblemAs('json', sly, '/'), /^\{"type":"\/problems\/not-found".*"status":404/);
  assert.match(writeProblemAs('xml', sly, '/'), /<status>404<\/status>/);
});

test('a problem with any characters is written as well-formed XML and as JSON', () => {
  const random = seeded();
  const alphabet =
    'a<>&"]\u0000\u0001\u000b\u001f\ufffe\uffff\ud800\udfff\u{1f600}\u{1ffff}\r\n\t\u007f\u0085';
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: 10 }, () => alphabet[random.below(alphabet.length)]).join('');
    const hostile = new Problem('not-found', text, { members: { field: text, errors: [{ detail: text }] } });
    const xml = writeProblemAs('xml', hostile, text);
    assert.ok(isWellFormed(xml), `seed ${random.seed}`);
    assert.equal(JSON.parse(writeProblemAs('json', hostile, text)).detail, text, `seed ${random.seed}`);
  }
  assert.match(
    writeProblemAs('xml', new Problem('not-found', 'a\u0000b\ud800c'), '/'),
    /<detail>a\ufffdb\ufffdc<\/detail>/,
  );
});
