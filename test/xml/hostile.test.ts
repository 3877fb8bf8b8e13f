import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XmlErrorCode } from '../../src/xml/error.ts';
import { createParser, XmlError, type XmlParserOptions } from '../../src/xml/index.ts';

const KIB = 1024;

/** How many bytes of an endless document the parser takes until it refuses it, and as what. */
function endured(
  head: string,
  endless: string,
  chunk: number,
  options: XmlParserOptions = {},
): { code: string; bytes: number } {
  const parser = createParser({}, options);
  const length = Buffer.byteLength(endless);
  const unit = Buffer.from(endless.repeat(Math.ceil(chunk / length) + 1));
  let bytes = 0;
  try {
    parser.write(Buffer.from(head));
    for (; bytes < 4096 * KIB; bytes += chunk)
      parser.write(unit.subarray(bytes % length, (bytes % length) + chunk));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return { code: error.code, bytes: bytes + chunk };
  }
  return { code: 'none', bytes };
}

describe('the parser rejects an endless document', () => {
  const endless: readonly (readonly [
    what: string,
    head: string,
    unit: string,
    code: XmlErrorCode,
    most: number,
  ])[] = [
    ['nested', '', '<a>', 'limit-depth', 4 * KIB],
    ['nested with namespaces', '', '<p:a xmlns:p="u" p:b="">', 'limit-depth', 4 * KIB],
    ['a name', '<', 'a', 'limit-name', 520 * KIB],
    ['a name beyond ASCII', '<', '日', 'limit-name', 520 * KIB],
    ['a value', '<a b="', 'x', 'limit-token', 520 * KIB],
    ['a value of references', '<a b="', '&lt;', 'limit-token', 520 * KIB],
    ['attributes with one name', '<a', ' b="x"', 'limit-attributes', 520 * KIB],
    ['white space in a tag', '<a', ' \n', 'limit-token', 520 * KIB],
    ['a comment', '<!--', ' x\n', 'limit-token', 520 * KIB],
    ['a comment of hyphens', '<!--', ' -', 'limit-token', 520 * KIB],
    ['an instruction', '<?p ', '?', 'limit-token', 520 * KIB],
    ['a reference', '<a>&', 'x', 'limit-name', 520 * KIB],
    ['a reference of zeros', '<a>&#', '0', 'limit-name', 520 * KIB],
    ['an end tag', '<a></a', ' ', 'limit-token', 520 * KIB],
  ];
  for (const [what, head, unit, code, most] of endless) {
    it(`${what}, in chunks of any size`, () => {
      for (const chunk of [1, 7, 1000, 64 * KIB]) {
        const { code: told, bytes } = endured(head, unit, chunk);
        assert.equal(told, code, `chunks of ${chunk}`);
        assert.ok(bytes <= most + chunk, `chunks of ${chunk}: after ${bytes} bytes`);
      }
    });
  }

  it('with attributes above the limit, and finds a duplicate among many below a higher limit', () => {
    const attributes = Array.from({ length: 20_000 }, (_, index) => ` a${index}=""`).join('');
    assert.equal(refusal(`<a${attributes}/>`, {}), 'limit-attributes');
    const wide = { maxAttributes: 1e6, maxToken: 1e6 };
    assert.equal(refusal(`<a${attributes}/>`, wide), undefined);
    assert.equal(refusal(`<a${attributes} a7=""/>`, wide), 'duplicate-attribute');
  });
});

describe('the parser accepts without limit', () => {
  for (const [what, unit] of [
    ['text', 'x'],
    ['references', '&#65;'],
    ['brackets', ']'],
    ['carriage returns', '\r'],
    ['characters of four bytes', '😀'],
  ] as const) {
    it(what, () => assert.equal(endured('<a>', unit, 1000 * Buffer.byteLength(unit)).code, 'none'));
  }

  it('the content of a CDATA section', () => {
    assert.equal(endured('<a><![CDATA[', ']]', 1000).code, 'none');
  });
});

describe('the parser rejects malicious input', () => {
  const refused: readonly (readonly [what: string, document: string, code: XmlErrorCode])[] = [
    ['entities that grow', '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><a>&c;</a>', 'doctype'],
    ['an external entity', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'doctype'],
    ['an entity without a declaration', '<a>&xxe;</a>', 'undeclared-entity'],
    ['a version that is not known', '<?xml version="2.0"?><a/>', 'version'],
    ['another encoding in a declaration', '<?xml version="1.0" encoding="UTF-7"?><a/>', 'encoding'],
    ['two byte order marks', '\ufeff\ufeff<a/>', 'misplaced-text'],
    ['a reference past 2^32', '<a>&#x100000041;</a>', 'character-reference'],
    ['a reference past 2^64', '<a>&#18446744073709551681;</a>', 'character-reference'],
  ];
  for (const [what, document, code] of refused) it(what, () => assert.equal(refusal(document, {}), code));

  it('bytes that are not UTF-8, with their position', () => {
    for (const bytes of [
      [0xc0, 0xbc], // overlong
      [0xe0, 0x80, 0xbc],
      [0xf0, 0x80, 0x80, 0xbc],
      [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], // CESU-8
      [0xf4, 0x90, 0x80, 0x80], // past U+10FFFF
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0x80],
      [0xe6, 0x97, 0x3c],
      [0xfe],
    ]) {
      const parser = createParser({});
      const document = Buffer.concat([Buffer.from('<a>\n日'), Buffer.from(bytes), Buffer.from('</a>')]);
      assert.throws(() => parser.write(document), { code: 'invalid-utf8', line: 2, column: 2 });
    }
  });
});

describe('names', () => {
  it('are distinguished if they share a slot of the table', () => {
    // 31 · a + b is the same for each of these pairs, and so for all names made of them
    const pairs = ['Aa', 'BB'];
    const names = pairs.flatMap((x) =>
      pairs.flatMap((y) => pairs.flatMap((z) => pairs.map((w) => x + y + z + w))),
    );
    const seen: string[] = [];
    const parser = createParser({
      startElement: (name, attributes) => seen.push(name, ...attributes.map(([key]) => key)),
    });
    parser.write(
      Buffer.from(
        `<r>${names.map((name) => `<${name} ${names.map((key) => `${key}=""`).join(' ')}/>`).join('')}</r>`,
      ),
    );
    parser.end();
    assert.deepEqual(
      seen.slice(1),
      names.flatMap((name) => [name, ...names]),
    );
  });

  it('of object properties are treated like any other', () => {
    const document = '<__proto__ constructor="1" __proto__="2" toString="3"><hasOwnProperty/></__proto__>';
    assert.equal(refusal(document, {}), undefined);
    assert.equal(refusal('<a __proto__="1" __proto__="2"/>', {}), 'duplicate-attribute');
    assert.equal(refusal('<__proto__:a/>', {}), 'unbound-prefix');
    assert.equal(refusal('<a>&constructor;</a>', {}), 'undeclared-entity');
  });
});

function refusal(document: string, options: XmlParserOptions): string | undefined {
  const parser = createParser({}, options);
  try {
    parser.write(Buffer.from(document));
    parser.end();
    return undefined;
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return error.code;
  }
}
