import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createParser, createWriter, XmlWriteError, type XmlWriter } from '../../src/xml/index.ts';
import { escapeAttribute, escapeText } from '../../src/xml/writer.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { parseWhole } from './events.ts';

describe('escaping', () => {
  it('does not change text without special characters', () => {
    assert.equal(escapeText('The Old Man — 日本 😀 "x"\t\n'), 'The Old Man — 日本 😀 "x"\t\n');
    assert.equal(escapeAttribute("it's 日本"), "it's 日本");
  });

  it('writes references for characters that a parser would interpret or normalize', () => {
    assert.equal(escapeText('a<b>&c]]>\r\n'), 'a&lt;b&gt;&amp;c]]&gt;&#13;\n');
    assert.equal(escapeAttribute('"<&>\t\n\r'), '&quot;&lt;&amp;&gt;&#9;&#10;&#13;');
  });

  for (const [character, name] of [
    ['\0', 'U+0000'],
    ['\u001f', 'U+001F'],
    ['\ud800', 'U+D800'],
    ['\udc00\ud800', 'U+DC00'],
    ['\ufffe', 'U+FFFE'],
    ['\uffff', 'U+FFFF'],
  ] as const) {
    it(`rejects ${name} and includes its name in the message`, () => {
      for (const escaping of [escapeText, escapeAttribute]) {
        assert.throws(
          () => escaping(`a${character}<`),
          (error: unknown) => {
            assert.ok(error instanceof XmlWriteError);
            assert.equal(error.code, 'character');
            return error.message.includes(name);
          },
        );
      }
    });
  }
});

describe('a writer', () => {
  it('writes elements, attributes, text, comments and instructions', () => {
    const document = createWriter()
      .processingInstruction('p', 'd')
      .start('articles')
      .start('article')
      .attribute('href', '/articles/1?a=1&b="2"')
      .element('title', 'Fish & chips')
      .element('empty', '')
      .comment(' c ')
      .end()
      .end()
      .toString();
    assert.equal(
      document,
      '<?p d?><articles><article href="/articles/1?a=1&amp;b=&quot;2&quot;"><title>Fish &amp; chips</title><empty/><!-- c --></article></articles>',
    );
  });

  const refused: readonly (readonly [what: string, code: string, write: (writer: XmlWriter) => unknown])[] = [
    ['an invalid name', 'name', (w) => w.start('a b')],
    ['a name with markup', 'name', (w) => w.start('a/><b')],
    ['an empty name', 'name', (w) => w.start('')],
    ['two colons', 'name', (w) => w.start('a:b:c')],
    ['an invalid attribute name', 'name', (w) => w.start('a').attribute('b="1" c', '')],
    [
      'an attribute twice',
      'duplicate-attribute',
      (w) => w.start('a').attribute('b', '1').attribute('b', '2'),
    ],
    ['an attribute after text', 'order', (w) => w.start('a').text('x').attribute('b', '1')],
    ['a second root', 'order', (w) => w.element('a', '').start('b')],
    ['text outside the root', 'order', (w) => w.text('x')],
    ['an end without a start', 'order', (w) => w.end()],
    ['a document that is not closed', 'order', (w) => w.start('a').toString()],
    ['a document without an element', 'order', (w) => w.comment('c').toString()],
    ['a comment that ends itself', 'comment', (w) => w.comment('--><a/><!--')],
    ['a comment that ends in a hyphen', 'comment', (w) => w.comment('a-')],
    ['a control in a comment', 'character', (w) => w.comment('\u0001')],
    ['CR in a comment', 'character', (w) => w.comment('\r')],
    ['an instruction that ends itself', 'instruction', (w) => w.processingInstruction('p', '?><a/>')],
    ['an XML declaration as an instruction', 'instruction', (w) => w.processingInstruction('XML', 'x')],
    ['white space before what an instruction says', 'instruction', (w) => w.processingInstruction('p', ' x')],
    ['a target that is no name', 'name', (w) => w.processingInstruction('p d?><a/><?', '')],
    ['a target with a colon', 'name', (w) => w.processingInstruction('a:b', '')],
    ['a prefix that is not declared', 'namespace', (w) => w.start('p:a').end()],
    [
      'a prefix of an attribute that is not declared',
      'namespace',
      (w) => w.start('a').attribute('p:b', '').end(),
    ],
    [
      'a prefix after the end of its scope',
      'namespace',
      (w) => w.start('a').start('b').attribute('xmlns:p', 'u').end().start('p:c').end(),
    ],
    ['a reserved namespace', 'namespace', (w) => w.start('a').attribute('xmlns:xml', 'u').end()],
  ];
  for (const [what, code, write] of refused) {
    it(`rejects ${what}`, () => {
      assert.throws(() => write(createWriter()), { name: 'XmlWriteError', code });
    });
  }
});

describe('a written document', () => {
  it('is parsed to exactly the content that was written', () => {
    const random = seeded();
    let written = 0;
    for (let round = 0; round < 3000; round++) {
      const writer = createWriter();
      const meant: string[] = [];
      if (!write(random, writer, meant, 1)) continue;
      written += 1;
      const { events, error } = parseWhole(writer.toString(), { maxDepth: 100 });
      const place = / \d+:\d+$/;
      const message = `seed ${random.seed}: ${JSON.stringify(writer.toString())}`;
      assert.equal(error, undefined, message);
      assert.deepEqual(
        events.map((event) => event.replace(place, '')),
        joined(meant),
        message,
      );
    }
    assert.ok(written > 500, `only ${written} were written`);
  });

  it('is unchanged after it is parsed and written again', () => {
    const random = seeded();
    for (let round = 0; round < 1000; round++) {
      const writer = createWriter();
      if (!write(random, writer, [], 1)) continue;
      const document = writer.toString();
      assert.equal(rewritten(document), document, `seed ${random.seed}`);
    }
  });

  it('does not depend on the form of the parsed source', () => {
    const forms = [
      `<a b="1 2" c='"'>x &gt; y<b></b>\r\n<![CDATA[<]]>&#x41;</a>`,
      `<a b='1&#32;2'\n c="&#34;" >x > y<b  />\n&lt;A</a\n>`,
    ];
    for (const form of forms) {
      assert.equal(rewritten(form), '<a b="1 2" c="&quot;">x &gt; y<b/>\n&lt;A</a>');
    }
  });
});

/** A document read and written again. */
function rewritten(document: string): string {
  const writer = createWriter();
  const parser = createParser({
    startElement(name, attributes) {
      writer.start(name);
      for (const [attribute, value] of attributes) writer.attribute(attribute, value);
    },
    endElement: () => writer.end(),
    text: (data) => writer.text(data),
    comment: (data) => writer.comment(data),
    processingInstruction: (target, data) => writer.processingInstruction(target, data),
  });
  parser.write(Buffer.from(document));
  parser.end();
  return writer.toString();
}

const NAMES = [
  ...['a', 'b-c', 'é', '日本', '_x.1', '__proto__', 'xml:lang', 'a b', '1', '', 'p:q', 'xmlns', 'xmlns:p'],
];
const STRINGS = [
  ...'x<"\t😀-',
  ...['', ' y ', ']]>', '&amp;', "'", '\r\n', '日本', '--', '?>', '\u0001', '\ud800', '\u0085', '\u2028'],
];

/** Writes an element at random and notes what should be read back; false if the writer refused. */
function write(random: Seeded, writer: XmlWriter, meant: string[], depth: number): boolean {
  try {
    writeElement(random, writer, meant, depth);
    return true;
  } catch (error) {
    if (error instanceof XmlWriteError) return false;
    throw error;
  }
}

function writeElement(random: Seeded, writer: XmlWriter, meant: string[], depth: number): void {
  const name = random.pick(NAMES.slice(0, random.below(8) === 0 ? NAMES.length : 7));
  writer.start(name);
  const attributes: [string, string][] = [];
  for (let count = random.below(3); count > 0; count--) {
    const attribute = random.pick(random.below(8) === 0 ? NAMES : NAMES.slice(0, 7));
    const value =
      random.pick(STRINGS.slice(0, random.below(8) === 0 ? STRINGS.length : 12)) +
      random.pick(STRINGS.slice(0, 12));
    writer.attribute(attribute, value);
    attributes.push([attribute, value]);
  }
  meant.push(`start ${name} ${JSON.stringify(attributes)}`);
  for (let count = random.below(4); count > 0; count--) writeNode(random, writer, meant, depth);
  writer.end();
  meant.push(`end ${name}`);
}

function writeNode(random: Seeded, writer: XmlWriter, meant: string[], depth: number): void {
  const data =
    random.pick(STRINGS.slice(0, random.below(8) === 0 ? STRINGS.length : 8)) +
    random.pick(STRINGS.slice(0, 12));
  const kind = random.below(6);
  if (kind === 0 && depth < 6) writeElement(random, writer, meant, depth + 1);
  else if (kind === 1) {
    writer.comment(data);
    meant.push(`comment ${JSON.stringify(data)}`);
  } else if (kind === 2) {
    writer.processingInstruction('p', data);
    meant.push(`instruction p ${JSON.stringify(data)}`);
  } else {
    writer.text(data);
    if (data !== '') meant.push(`text ${JSON.stringify(data)}`);
  }
}

/** Events with pieces of text that touch put together. */
function joined(events: readonly string[]): string[] {
  const list: string[] = [];
  for (const event of events) {
    const last = list.at(-1);
    if (last?.startsWith('text ') && event.startsWith('text ')) {
      list[list.length - 1] =
        `text ${JSON.stringify(JSON.parse(last.slice(5)) + JSON.parse(event.slice(5)))}`;
    } else {
      list.push(event);
    }
  }
  return list;
}
