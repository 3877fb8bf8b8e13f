import * as characters from '../characters.ts';
import { clipped, type XmlError } from '../error.ts';
import type { Name } from '../names.ts';
import { type Attributes, NamespaceScope } from '../namespace.ts';
import { MarkupReader } from './markup.ts';

// Destructured, because V8 constant-folds local constants but not imported ones. This makes the scan a third
// faster.
const { BANG, BLANK, DOUBLE_QUOTE, GREATER_THAN, LESS_THAN, QUESTION, SINGLE_QUOTE, SLASH } = characters;

/** Up to this many attributes are compared pairwise. */
const FEW = 8;

/** Reads elements and thereby whole documents. */
export class ElementReader extends MarkupReader {
  /**
   * Reads tokens until the chunk ends. The cursor is then at its end or at the beginning of an incomplete
   * token.
   */
  protected scan(): void {
    const { codes, length } = this;
    let at = this.cursor;
    while (at < length) {
      if (this.inSection) at = this.section(at);
      else if (codes[at] === LESS_THAN) at = this.markup(at);
      else at = this.depth === 0 ? this.outside(at) : this.characterData(at);
      if (at < 0) return;
    }
    this.cursor = at;
  }

  /** Reads the markup that begins with `<`. */
  private markup(begin: number): number {
    this.begin = begin;
    switch (this.codes[begin + 1]) {
      case SLASH:
        return this.endTag(begin);
      case BANG:
        return this.raw && !this.isRestAscii(begin) ? this.restart() : this.bang(begin);
      case QUESTION:
        return this.raw && !this.isRestAscii(begin) ? this.restart() : this.instruction(begin);
      default:
        return this.startTag(begin);
    }
  }

  /** Reads `<name attribute="value" …>` or `<name … />` (§3.1 [40], [44]). */
  private startTag(begin: number): number {
    const at = this.name(begin + 1, 'name', 'the name of an element');
    if (at < 0) return at;
    if (this.depth === 0 && this.rooted) throw this.afterRoot('second-root', begin);
    const name = this.lastName;
    if (this.codes[at] !== GREATER_THAN) return this.attributes(at, name);
    this.element(at + 1, name, [], name.namespaced);
    return at + 1;
  }

  private attributes(from: number, element: Name): number {
    const codes = this.codes;
    let attributes: Attributes | undefined;
    let namespaced = element.namespaced;
    let seenBits = 0;
    let maybeRepeated = false;
    let at = from;
    for (;;) {
      const earlier = at;
      at = this.blanks(at);
      const code = codes[at] ?? 0;
      if (code === GREATER_THAN || code === SLASH) break;
      if (at === earlier) return this.unexpected(at, 'tag', 'white space, ">" or "/>"');
      const begin = at;
      at = this.name(at, 'tag', 'an attribute, ">" or "/>"');
      if (at < 0) return at;
      const name = this.lastName;
      at = this.value(at);
      if (at < 0) return at;
      namespaced ||= name.namespaced;
      maybeRepeated ||= (seenBits & name.bloomBits) === name.bloomBits;
      seenBits |= name.bloomBits;
      // An array literal with one item has capacity for one; the first push() to an empty array allocates 17.
      if (attributes === undefined) attributes = [[name.text, this.lastValue]];
      else attributes.push([name.text, this.lastValue]);
      if (attributes.length > this.limits.maxAttributes) throw this.tooManyAttributes(begin);
    }
    if (maybeRepeated && attributes !== undefined) this.refuseDuplicates(attributes);
    return this.tagEnd(at, element, attributes ?? [], namespaced);
  }

  /** Reads `>` or `/>` after the attributes. */
  private tagEnd(at: number, name: Name, attributes: Attributes, namespaced: boolean): number {
    if (this.codes[at] === GREATER_THAN) {
      this.element(at + 1, name, attributes, namespaced);
      return at + 1;
    }
    if (this.codes[at + 1] !== GREATER_THAN) return this.unexpected(at + 1, 'tag', '">"');
    this.element(at + 2, name, attributes, namespaced);
    this.close(name);
    return at + 2;
  }

  /** Checks a complete start tag and delivers it. */
  private element(end: number, name: Name, attributes: Attributes, namespaced: boolean): void {
    const { limits, depth } = this;
    if (end - this.begin > limits.maxToken) throw this.tooLong();
    if (depth >= limits.maxDepth) throw this.tooDeep();
    if (namespaced && limits.namespaces) this.enterNamespaces(name, attributes);
    this.rooted = true;
    this.open[depth] = name;
    this.depth = depth + 1;
    this.handler.startElement?.(name.text, attributes);
  }

  /** Reads `</name>` (§3.1 [42]) by comparing its codes with those of the open element. */
  private endTag(begin: number): number {
    const name = this.open[this.depth - 1];
    if (this.depth === 0 || name === undefined)
      throw this.errorAt('unopened-tag', begin, 'an element', 'an end tag');
    const codes = this.codes;
    const expected = name.codes;
    const from = begin + 2;
    const end = from + expected.length;
    let index = 0;
    while (index < expected.length && codes[from + index] === expected[index]) index++;
    if (index < expected.length || codes[end] !== GREATER_THAN || !name.ascii)
      return this.endTagByName(name, from);
    if (end - begin >= this.limits.maxToken) throw this.tooLong();
    this.close(name);
    return end + 1;
  }

  /**
   * Reads an end tag that does not match by its codes: a different name, white space, an incomplete or a
   * non-ASCII one.
   */
  private endTagByName(expected: Name, from: number): number {
    const end = this.name(from, 'name', `the name "${clipped(expected.text)}"`);
    if (end < 0) return end;
    const at = this.blanks(end);
    if (this.lastName.text !== expected.text) {
      const found = `</${clipped(this.lastName.text)}`;
      throw this.errorAt('mismatched-tag', this.begin, `</${clipped(expected.text)}>`, found);
    }
    if (this.codes[at] !== GREATER_THAN) return this.unexpected(at, 'tag', '">"');
    if (at - this.begin >= this.limits.maxToken) throw this.tooLong();
    this.close(expected);
    return at + 1;
  }

  private close(name: Name): void {
    this.handler.endElement?.(name.text);
    this.scope?.leave(this.depth);
    this.depth -= 1;
  }

  private refuseDuplicates(attributes: Attributes): void {
    if (attributes.length > FEW) {
      this.refuseDuplicatesOfMany(attributes);
      return;
    }
    for (let index = 1; index < attributes.length; index++) {
      const name = attributes[index]?.[0];
      for (let earlier = 0; earlier < index; earlier++) {
        if (attributes[earlier]?.[0] === name) throw this.duplicate(index, name);
      }
    }
  }

  private refuseDuplicatesOfMany(attributes: Attributes): void {
    const seen = new Set<string>();
    for (const [name] of attributes) {
      if (seen.has(name)) throw this.duplicate(seen.size, name);
      seen.add(name);
    }
  }

  private duplicate(index: number, name = ''): XmlError {
    const at = this.attributeStart(index);
    return this.errorAt('duplicate-attribute', at, 'each attribute once', `"${clipped(name)}" again`);
  }

  private tooManyAttributes(at: number): XmlError {
    return this.errorAt(
      'limit-attributes',
      at,
      `at most ${this.limits.maxAttributes} attributes`,
      'one more',
    );
  }

  private tooDeep(): XmlError {
    const expected = `at most ${this.limits.maxDepth} nested elements`;
    return this.errorAt('limit-depth', this.begin, expected, 'one more');
  }

  private enterNamespaces(element: Name, attributes: Attributes): void {
    this.scope ??= new NamespaceScope();
    const violation = this.scope.enter(this.depth + 1, element.text, attributes);
    if (violation === undefined) return;
    const at = violation.attribute < 0 ? this.begin + 1 : this.attributeStart(violation.attribute);
    throw this.errorAt(violation.code, at, violation.expected, `"${clipped(violation.name)}"`);
  }

  /** Returns where an attribute of the last tag begins; computed for errors only. */
  private attributeStart(index: number): number {
    let at = this.begin + 1;
    while (BLANK[this.codes[at] ?? 0] === 0) at++;
    for (let passed = 0; passed < index; passed++) {
      while (this.codes[at] !== DOUBLE_QUOTE && this.codes[at] !== SINGLE_QUOTE) at++;
      at = this.text.indexOf(this.text.charAt(at), at + 1) + 1;
    }
    return this.blanks(at);
  }
}
