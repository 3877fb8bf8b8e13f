import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createParser, XmlError } from '../../src/xml/index.ts';
import { XmlNames } from '../../src/xml/names.ts';
import { parse, parseWhole } from './events.ts';

describe('the parser delivers', () => {
  const delivered: readonly (readonly [name: string, document: string, events: readonly string[]])[] = [
    ['an element', '<a/>', ['start a [] 1:1', 'end a 1:1']],
    ['attributes in their order', `<a b="1" c='2'/>`, ['start a [["b","1"],["c","2"]] 1:1', 'end a 1:1']],
    ['text between tags', '<a>x</a>', ['start a [] 1:1', 'text "x" 1:4', 'end a 1:5']],
    ['white space in tags', '<a\n b = "1"\t></a >', ['start a [["b","1"]] 1:1', 'end a 2:11']],
    [
      'the five entities',
      '<a>&lt;&gt;&amp;&apos;&quot;</a>',
      ['start a [] 1:1', 'text "<>&\'\\"" 1:4', 'end a 1:29'],
    ],
    [
      'references to characters',
      '<a>&#65;&#x1F600;&#0000066;</a>',
      ['start a [] 1:1', 'text "A😀B" 1:4', 'end a 1:28'],
    ],
    ['a section as text', '<a>x<![CDATA[<&]]]>y</a>', ['start a [] 1:1', 'text "x<&]y" 1:4', 'end a 1:21']],
    ['line ends as LF', '<a>1\r\n2\r3\n4</a>', ['start a [] 1:1', 'text "1\\n2\\n3\\n4" 1:4', 'end a 4:2']],
    ['CR by reference as CR', '<a>&#13;\r\n</a>', ['start a [] 1:1', 'text "\\r\\n" 1:4', 'end a 2:1']],
    [
      'white space in values as spaces',
      '<a b="1\t2\r\n3\n4&#9;&#10;&#13;"/>',
      ['start a [["b","1 2 3 4\\t\\n\\r"]] 1:1', 'end a 1:1'],
    ],
    ['the other quote in a value', `<a b='"' c="'"/>`, ['start a [["b","\\""],["c","\'"]] 1:1', 'end a 1:1']],
    [
      'comments',
      '<!--1--><a><!-- - --></a>',
      ['comment "1" 1:1', 'start a [] 1:9', 'comment " - " 1:12', 'end a 1:22'],
    ],
    [
      'instructions',
      '<?p?><?q  r ?><a/>',
      ['instruction p "" 1:1', 'instruction q "r " 1:6', 'start a [] 1:15', 'end a 1:15'],
    ],
    [
      'no declaration',
      '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<a/>',
      ['start a [] 2:1', 'end a 2:1'],
    ],
    ['no byte order mark', '\ufeff<a/>', ['start a [] 1:1', 'end a 1:1']],
    [
      'text beyond ASCII',
      '<é à="ü">日本😀</é>',
      ['start é [["à","ü"]] 1:1', 'text "日本😀" 1:10', 'end é 1:13'],
    ],
    [
      'names like any other',
      '<__proto__ constructor="1"/>',
      ['start __proto__ [["constructor","1"]] 1:1', 'end __proto__ 1:1'],
    ],
    [
      'names with prefixes as written',
      '<p:a xmlns:p="u"/>',
      ['start p:a [["xmlns:p","u"]] 1:1', 'end p:a 1:1'],
    ],
  ];
  for (const [name, document, events] of delivered) {
    it(name, () => {
      const outcome = parseWhole(document);
      assert.equal(outcome.error, undefined);
      assert.deepEqual(outcome.events, events);
    });
  }
});

describe('the parser rejects', () => {
  const refused: readonly (readonly [document: string | Uint8Array, code: string, place: string])[] = [
    ['', 'empty', '1:1'],
    ['\ufeff', 'empty', '1:1'],
    [' \n', 'missing-root', '2:1'],
    ['x', 'misplaced-text', '1:1'],
    ['<a/>x', 'misplaced-text', '1:5'],
    ['<a/>&amp;', 'misplaced-text', '1:5'],
    ['<![CDATA[]]><a/>', 'misplaced-text', '1:1'],
    ['\ufeff\ufeff<a/>', 'misplaced-text', '1:1'],
    ['<a/><b/>', 'second-root', '1:5'],
    ['<a>', 'unclosed', '1:4'],
    ['<a>\n<b></b>', 'unclosed', '2:8'],
    ['<a', 'truncated', '1:3'],
    ['<a>&am', 'truncated', '1:7'],
    ['<a><![CDATA[x]', 'truncated', '1:15'],
    ['<a><!-- ', 'truncated', '1:9'],
    ['<a></b>', 'mismatched-tag', '1:4'],
    ['</a>', 'unopened-tag', '1:1'],
    ['<a></a', 'truncated', '1:7'],
    ['<a></a b>', 'tag', '1:8'],
    ['<1/>', 'name', '1:2'],
    ['< a/>', 'name', '1:2'],
    ['<a b/>', 'tag', '1:5'],
    ['<a b=1/>', 'tag', '1:6'],
    ['<a b="1"c="2"/>', 'tag', '1:9'],
    ['<a/ >', 'tag', '1:4'],
    ['<a b="<"/>', 'less-than-in-value', '1:7'],
    ['<a b="1" b="2"/>', 'duplicate-attribute', '1:10'],
    ['<a>& </a>', 'reference', '1:5'],
    ['<a>&;</a>', 'reference', '1:5'],
    ['<a>&#;</a>', 'reference', '1:6'],
    ['<a>&#xg;</a>', 'reference', '1:7'],
    ['<a>&foo;</a>', 'undeclared-entity', '1:4'],
    ['<a>&__proto__;</a>', 'undeclared-entity', '1:4'],
    ['<a b="&#0;"/>', 'character-reference', '1:7'],
    ['<a>&#xD800;</a>', 'character-reference', '1:4'],
    ['<a>&#xFFFE;</a>', 'character-reference', '1:4'],
    ['<a>&#x110000;</a>', 'character-reference', '1:4'],
    ['<a>&#4294967361;</a>', 'character-reference', '1:4'],
    ['<a>\0</a>', 'invalid-character', '1:4'],
    ['<a>\n日\ufffe</a>', 'invalid-character', '2:2'],
    ['<a>]]></a>', 'cdata-end', '1:4'],
    ['<a><!-- -- --></a>', 'comment', '1:9'],
    ['<!-- --->', 'comment', '1:6'],
    ['<a><!b></a>', 'markup', '1:4'],
    ['<!DOCTYPE a><a/>', 'doctype', '1:1'],
    ['<?xml version="1.0"?>\n<!DOCTYPE a><a/>', 'doctype', '2:1'],
    ['<?xml version="2.0"?><a/>', 'version', '1:16'],
    ['<?xml encoding="UTF-8"?><a/>', 'declaration', '1:7'],
    ['<?xml version="1.0" standalone="maybe"?><a/>', 'declaration', '1:33'],
    ['<?xml version="1.0" standalone="no" encoding="UTF-8"?><a/>', 'declaration', '1:37'],
    [' <?xml version="1.0"?><a/>', 'misplaced-declaration', '1:2'],
    ['<a><?XML x?></a>', 'misplaced-declaration', '1:4'],
    ['<?p+?><a/>', 'instruction', '1:4'],
    [Buffer.from([0x3c, 0x61, 0x3e, 0xe9, 0x3c]), 'invalid-utf8', '1:4'],
    [Buffer.from([0x3c, 0x61, 0x3e, 0xc0, 0xaf]), 'invalid-utf8', '1:4'],
    [Buffer.from([0x3c, 0x61, 0x3e, 0xed, 0xa0, 0x80]), 'invalid-utf8', '1:4'],
    [Buffer.from([0x3c, 0x61, 0x3e, 0xe2, 0x82]), 'invalid-utf8', '1:4'],
  ];
  for (const [document, code, place] of refused) {
    it(`${JSON.stringify(String(document))} as ${code}`, () => {
      const { error } = parseWhole(document);
      assert.equal(error?.code, code, error?.message);
      assert.equal(`${error?.line}:${error?.column}`, place, error?.message);
    });
  }
});

describe('an error message has the found and expected text, the position and the enclosing elements', () => {
  const cases: readonly (readonly [document: string, message: string])[] = [
    [
      '<articles>\n  <article>\n    <price currency=EUR/>',
      'Line 3, column 21, in /articles/article: found "E", expected a quoted value',
    ],
    [
      '<a>\n日本&nbsp;',
      'Line 2, column 3, in /a: found &nbsp;, expected &lt;, &gt;, &amp;, &apos;, &quot; or a character reference',
    ],
    ['<a><b></c>', 'Line 1, column 7, in /a/b: found </c, expected </b>'],
    ['<a>\n\u0007', 'Line 2, column 1, in /a: found U+0007, expected an XML character'],
    ['<a', 'Line 1, column 3: found the end of the document, expected the rest of "<a"'],
    ['<a b="1\n', 'Line 2, column 1: found the end of the document, expected the rest of "<a b=\\"1\\n"'],
    ['<a><b>', 'Line 1, column 7, in /a/b: found the end of the document, expected </b>'],
    [
      '<!DOCTYPE a>',
      'Line 1, column 1: found <!DOCTYPE, expected a document without a document type declaration',
    ],
    ['<a é="1" é="2"/>', 'Line 1, column 10: found "é" again, expected each attribute once'],
    [
      '<a/>\n<b/>',
      'Line 2, column 1: found "<", expected only comments and processing instructions after the root element',
    ],
    ['<p:a/>', 'Line 1, column 2: found "p:a", expected a declaration of the prefix, such as xmlns:p="…"'],
    ['<?xml version="1.0" encoding="latin1"?>', 'Line 1, column 31: found "latin1", expected UTF-8'],
  ];
  for (const [document, message] of cases) {
    it(message, () => assert.equal(parseWhole(document).error?.message, message));
  }

  it('and truncates long names', () => {
    const long = 'n'.repeat(900);
    const message = parseWhole(`<${long}><${long}><${long}></b>`).error?.message ?? '';
    assert.ok(message.length < 700, message);
  });
});

describe('encodings', () => {
  const encoded: readonly (readonly [encoding: string, bytes: Buffer])[] = [
    ['UTF-16LE', Buffer.from('\ufeff<a/>', 'utf16le')],
    ['UTF-16LE', Buffer.from('<a/>', 'utf16le')],
    ['UTF-16BE', Buffer.from('\ufeff<a/>', 'utf16le').swap16()],
    ['UTF-16BE', Buffer.from('<a/>', 'utf16le').swap16()],
    ['UTF-32BE', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c])],
    ['UTF-32LE', Buffer.from([0x3c, 0, 0, 0])],
    ['ISO-8859-1', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a/>')],
    ['UTF-16', Buffer.from("<?xml version='1.0' encoding='UTF-16'?><a/>")],
  ];
  for (const [encoding, bytes] of encoded) {
    it(`${encoding} is rejected by name: ${bytes.toString('hex', 0, 8)}`, () => {
      const { error } = parseWhole(bytes);
      assert.equal(error?.code, 'encoding');
      assert.equal(error?.encoding, encoding);
    });
  }

  it('UTF-8 is accepted in upper and lower case', () => {
    assert.equal(parseWhole('<?xml version="1.0" encoding="Utf-8"?><a/>').error, undefined);
  });
});

describe('namespaces', () => {
  const refused: readonly (readonly [document: string, code: string])[] = [
    ['<p:a/>', 'unbound-prefix'],
    ['<a p:b="1"/>', 'unbound-prefix'],
    ['<a><b xmlns:p="u"/><p:c/></a>', 'unbound-prefix'],
    ['<a:b:c/>', 'qualified-name'],
    ['<:a/>', 'qualified-name'],
    ['<a: />', 'qualified-name'],
    ['<a xmlns:p="u" p:1="x"/>', 'qualified-name'],
    ['<?a:b?><a/>', 'qualified-name'],
    ['<a xmlns:p=""/>', 'reserved-namespace'],
    ['<a xmlns:xmlns="u"/>', 'reserved-namespace'],
    ['<a xmlns:xml="u"/>', 'reserved-namespace'],
    ['<a xmlns="http://www.w3.org/2000/xmlns/"/>', 'reserved-namespace'],
    ['<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>', 'reserved-namespace'],
    ['<xmlns:a/>', 'reserved-namespace'],
    ['<a xmlns:p="u" xmlns:q="u" p:k="1" q:k="2"/>', 'duplicate-attribute'],
  ];
  for (const [document, code] of refused) {
    it(`${document} is rejected as ${code}, but accepted without namespaces`, () => {
      assert.equal(parseWhole(document).error?.code, code);
      assert.equal(parseWhole(document, { namespaces: false }).error, undefined);
    });
  }

  it('bound prefixes are accepted, also nested and bound again', () => {
    const document =
      '<p:a xmlns:p="u" xmlns="v" k="1" p:k="2" xml:lang="en"><p:b xmlns:p="w"/><p:c/><d xmlns="" xmlns:xml="http://www.w3.org/XML/1998/namespace"/></p:a>';
    assert.equal(parseWhole(document).error, undefined);
  });
});

describe('limits', () => {
  it('are reported by name and position if they are exceeded', () => {
    const told = (document: string, options: object): string => {
      const { error } = parseWhole(document, options);
      return `${error?.code} ${error?.line}:${error?.column}`;
    };
    assert.equal(told('<a><b><c/></b></a>', { maxDepth: 2 }), 'limit-depth 1:7');
    assert.equal(told('<a b="1" c="2"/>', { maxAttributes: 1 }), 'limit-attributes 1:10');
    assert.equal(told('<abc/>', { maxName: 2 }), 'limit-name 1:2');
    assert.equal(told('<a b="123"/>', { maxValue: 2 }), 'limit-value 1:7');
    assert.equal(told('<a><!-- 12345 --></a>', { maxToken: 8 }), 'limit-token 1:4');
    assert.equal(told('<a><!-- 12345', { maxToken: 8 }), 'limit-token 1:4');
  });

  it('accept a document that exactly reaches them', () => {
    const options = { maxDepth: 2, maxAttributes: 1, maxName: 2, maxValue: 2, maxToken: 12 };
    assert.equal(parseWhole('<ab c="12"  ><d/></ab>', { ...options, maxToken: 13 }).error, undefined);
  });
});

describe('a parser', () => {
  it('throws the same error again after a fault', () => {
    const parser = createParser({});
    const thrown = (work: () => void): unknown => {
      try {
        work();
      } catch (error) {
        return error;
      }
      return undefined;
    };
    const first = thrown(() => parser.write(Buffer.from('<a></b>')));
    assert.ok(first instanceof XmlError);
    assert.equal(
      thrown(() => parser.write(Buffer.from('<a/>'))),
      first,
    );
    assert.equal(
      thrown(() => parser.end()),
      first,
    );
  });

  it("throws a handler's error, and the same error on the next call", () => {
    const fault = new RangeError('enough');
    const parser = createParser({
      startElement() {
        throw fault;
      },
    });
    assert.throws(() => parser.write(Buffer.from('<a/>')), fault);
    assert.throws(() => parser.end(), fault);
  });

  it('throws an error if it is used after its end or from inside its handler', () => {
    const parser = createParser({});
    parser.write(Buffer.from('<a/>'));
    parser.end();
    assert.throws(() => parser.write(Buffer.from('<a/>')), { code: 'closed' });
    const inner = createParser({ startElement: () => inner.write(Buffer.from('<b/>')) });
    assert.throws(() => inner.write(Buffer.from('<a/>')), { code: 'closed' });
  });

  it('produces the same events if it shares its names with other parsers', () => {
    const names = new XmlNames();
    const document = Array.from({ length: 2000 }, (_, index) => `<n${index} a${index}="${index}"/>`).join('');
    const expected = parseWhole(`<a>${document}</a>`).events;
    assert.deepEqual(parseWhole(`<a>${document}</a>`, { names }).events, expected);
    assert.deepEqual(parseWhole(`<a>${document}</a>`, { names }).events, expected);
  });

  it('accepts any Uint8Array, also a view of another', () => {
    const bytes = new Uint8Array(Buffer.from('xx<a>é</a>')).subarray(2);
    assert.equal(parse([bytes]).error, undefined);
  });
});
