import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { createParser, XmlError } from '../../src/xml/index.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { cases, resolved, unlessInstalled, utf16 } from '../support/xml/suite.ts';
import { DOCUMENTS } from './documents.ts';

/** As much of the parser compared with as is used here. */
interface Saxes {
  on(event: string, handler: (data: never) => void): void;
  write(text: string): Saxes;
  close(): Saxes;
}

/** What a parser made of a document: its events, or undefined if it refused it. */
type Verdict = string | undefined;

const LIMITS = { maxDepth: 1000, maxAttributes: 1000 };

/** Where the two parsers may differ, and why; `ours` is the code of the refusal, empty for none. */
const DIFFERENCES: readonly { why: string; applies: (document: string, ours: string) => boolean }[] = [
  { why: 'a document type declaration is refused here by policy', applies: (_, ours) => ours === 'doctype' },
  { why: 'encodings other than UTF-8 are refused here by policy', applies: (_, ours) => ours === 'encoding' },
  {
    why: 'saxes reads version 1.1 by its own rules, and no higher one; the fifth edition reads any 1.x as 1.0',
    applies: (document) => /^\ufeff?<\?xml\s+version\s*=\s*["']1\.(?!0["'])/.test(document),
  },
  {
    why: 'saxes does not ask of a local name that it begin like a name (Namespaces in XML 1.0 §4 [10])',
    applies: (document, ours) => ours === 'qualified-name' && /:[-.0-9\u00b7]/.test(document),
  },
  {
    why: 'saxes lets a target be followed by "?" and more (XML 1.0 §2.6 [16])',
    applies: (document, ours) => ours === 'instruction' && /<\?[^ \t\r\n?>]+\?[^>]/.test(document),
  },
  {
    why: 'saxes trims namespace names, so that one of white space or U+FEFF, written or by reference, is empty to it',
    applies: (document, ours) =>
      ours === '' && namespaceNames(document).some((name) => name !== '' && !name.trim()),
  },
];

describe('the parser and saxes agree', unlessInstalled('saxes'), () => {
  it('on random documents', () => {
    compareAll((random) => madeUp(random, 0), 3000);
  });

  it('on randomly damaged random documents', () => {
    compareAll((random) => damaged(random, madeUp(random, 0)), 6000);
  });

  it("on randomly damaged documents of the W3C's suite", () => {
    const texts = [...cases()]
      .filter(({ bytes }) => bytes.length < 600)
      .map(({ bytes }) => utf16(bytes) ?? bytes.toString());
    for (const document of DOCUMENTS) texts.push(document.toString());
    compareAll((random) => damaged(random, random.pick(texts)), 6000);
  });
});

/** The values of attributes that bind a prefix, with references to characters put in. */
function namespaceNames(document: string): readonly string[] {
  const values = [...document.matchAll(/xmlns:[^=]+=\s*(?:"([^"]*)"|'([^']*)')/g)];
  return values.map(([, double, single]) =>
    (double ?? single ?? '').replace(/&#(x?)([0-9a-f]+);/gi, (_, hex, digits) =>
      String.fromCodePoint(Number.parseInt(digits, hex === '' ? 10 : 16)),
    ),
  );
}

function compareAll(make: (random: Seeded) => string, rounds: number): void {
  const random = seeded();
  for (let round = 0; round < rounds; round++) {
    const document = make(random).toString();
    if (/[\ud800-\udfff]/.test(document.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''))) continue; // no UTF-8 can say it
    const ours = byUs(document);
    const theirs = bySaxes(document);
    if (ours.verdict === theirs) continue;
    const known = DIFFERENCES.some(({ applies }) => applies(document, ours.code));
    assert.ok(
      known,
      `seed ${random.seed}: ${JSON.stringify(document)}\n${ours.code} ${ours.verdict}\n${theirs}`,
    );
  }
}

function byUs(document: string): { readonly verdict: Verdict; readonly code: string } {
  const told = new Telling();
  const parser = createParser(
    {
      startElement: (name, attributes) => told.tell(`<${name} ${JSON.stringify(attributes)}`),
      endElement: (name) => told.tell(`/${name}`),
      text: (data) => told.text(data),
      comment: (data) => told.tell(`!${data}`),
      processingInstruction: (target, data) => told.tell(`?${target} ${data}`),
    },
    LIMITS,
  );
  try {
    parser.write(Buffer.from(document));
    parser.end();
    return { verdict: told.toString(), code: '' };
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return { verdict: undefined, code: error.code };
  }
}

function bySaxes(document: string): Verdict {
  const told = new Telling();
  const parser = newSaxes();
  let depth = 0;
  parser.on('opentag', (tag: { name: string; attributes: Record<string, { value: string }> }) => {
    depth += 1;
    told.tell(
      `<${tag.name} ${JSON.stringify(Object.entries(tag.attributes).map(([name, { value }]) => [name, value]))}`,
    );
  });
  parser.on('closetag', (tag: { name: string }) => {
    depth -= 1;
    told.tell(`/${tag.name}`);
  });
  parser.on('text', (data: string) => {
    if (depth > 0) told.text(data);
  });
  parser.on('cdata', (data: string) => told.text(data));
  parser.on('comment', (data: string) => told.tell(`!${data}`));
  parser.on('processinginstruction', ({ target, body }: { target: string; body: string }) =>
    told.tell(`?${target} ${body}`),
  );
  try {
    parser.write(document).close();
    return told.toString();
  } catch {
    return undefined;
  }
}

function newSaxes(): Saxes {
  const path = resolved('saxes');
  assert.ok(path !== undefined);
  const { SaxesParser } = createRequire(import.meta.url)(path);
  return new SaxesParser({ xmlns: true });
}

/** Events as lines; text that comes in pieces is put together. */
class Telling {
  private readonly lines: string[] = [];
  private pending = '';

  tell(line: string): void {
    if (this.pending !== '') this.lines.push(`"${this.pending}`);
    this.pending = '';
    this.lines.push(line);
  }

  text(data: string): void {
    this.pending += data;
  }

  toString(): string {
    return this.lines.join('\n');
  }
}

const NAMES = ['a', 'b', 'long-name.1', 'é', '名前', 'p:a', 'q:b', 'xml:lang', '__proto__', 'constructor'];
const TEXTS = [
  ...'x \n\té😀]>"',
  ...['\r\n', '日本', ']]', '&amp;', '&lt;', '&#65;', '&#x1F600;', '&#13;', "'"],
];

/** A document that is mostly well-formed. */
function madeUp(random: Seeded, depth: number): string {
  if (depth > 0) return element(random, depth);
  const prolog = random.pick([
    ...['', '', '<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>\n', '\ufeff', '\n'],
  ]);
  const before = random.pick(['', '', '<!-- c -->', '<?p d?>', '\r\n']);
  return `${prolog}${before}${element(random, 1, ' xmlns:p="u" xmlns:q="v"')}${random.pick(['', '\n', '<!---->', '<?e?>'])}`;
}

function element(random: Seeded, depth: number, declared = ''): string {
  const name = random.pick(NAMES);
  const attributes = Array.from({ length: random.below(4) }, () => attribute(random)).join('');
  if (random.below(5) === 0) return `<${name}${declared}${attributes}/>`;
  const content = Array.from({ length: random.below(5) }, () => node(random, depth)).join('');
  return `<${name}${declared}${attributes}>${content}</${name}>`;
}

function attribute(random: Seeded): string {
  const quote = random.pick(['"', "'"]);
  const value = random.pick(TEXTS).replace(quote, '').replace('<', '');
  return `${random.pick([' ', '\n', '  '])}${random.pick(NAMES)}${random.pick(['=', ' = '])}${quote}${value}${quote}`;
}

function node(random: Seeded, depth: number): string {
  const kind = random.below(8);
  if (kind < 2 && depth < 6) return element(random, depth + 1, random.below(6) === 0 ? ' xmlns:p="w"' : '');
  if (kind === 2) return `<!--${random.pick(['', ' c ', '-c', 'é'])}-->`;
  if (kind === 3) return `<?${random.pick(['p', 'q.r', 'é'])}${random.pick(['', ' d', '  d ? ', '\n'])}?>`;
  if (kind === 4) return `<![CDATA[${random.pick(TEXTS)}${random.pick(TEXTS)}]]>`;
  return random.pick(TEXTS);
}

const SCRAPS = [
  ...'<>/&;"= -:0\0é\r',
  ...["'", '--', ']]>', '<!', '<![CDATA[', '<?', '?>', 'xmlns', '\u0001', '\ufffe', '\u0085', '&#', '&#x'],
  ...['xml', '<!--', '\u00b7', '\ufeff'],
];

/** A document with a few of its characters taken out, put in, doubled or exchanged. */
function damaged(random: Seeded, document: string): string {
  let text = document;
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(text.length + 1);
    const to = Math.min(text.length, at + random.below(4));
    const put = random.pick(['', random.pick(SCRAPS), text.slice(at, to).repeat(2), random.pick(SCRAPS)]);
    text = text.slice(0, at) + put + text.slice(to);
  }
  return text;
}
