import * as characters from '../characters.ts';
import { clipped, type XmlError } from '../error.ts';
import type { Name } from '../names.ts';
import { type Attributes, NamespaceScope } from '../namespace.ts';
import { MarkupReader } from './markup.ts';

// Constants of this module, not imported ones, are folded into the machine code: it is a third faster.
const { BANG, BLANK, DOUBLE_QUOTE, GREATER_THAN, LESS_THAN, QUESTION, SINGLE_QUOTE, SLASH } = characters;

/** Up to so many attributes are compared each with each. */
const FEW = 8;

/** Reads elements, and with that whole documents. */
export class ElementReader extends MarkupReader {
  /** Reads on until the stretch is used up or ends inside a token, which then begins at the cursor. */
  protected scan(): void {
    const { codes, length } = this;
    let at = this.cursor;
    while (at < length) {
      if (this.inSection) at = this.section(at);
      else if (codes[at] === LESS_THAN) at = this.markup(at);
      else at = this.depth === 0 ? this.outside(at) : this.characters(at);
      if (at < 0) return;
    }
    this.cursor = at;
  }

  /** `<` … */
  private markup(begin: number): number {
    this.begin = begin;
    switch (this.codes[begin + 1]) {
      case SLASH:
        return this.endTag(begin);
      case BANG:
        return this.raw && !this.isRestAscii(begin) ? this.again() : this.bang(begin);
      case QUESTION:
        return this.raw && !this.isRestAscii(begin) ? this.again() : this.instruction(begin);
      default:
        return this.startTag(begin);
    }
  }

  /** `<name attribute="value" …>`, `<name … />` (§3.1 [40], [44]). */
  private startTag(begin: number): number {
    const at = this.name(begin + 1, 'name', 'the name of an element');
    if (at < 0) return at;
    if (this.depth === 0 && this.rooted) throw this.afterRoot('second-root', begin);
    const name = this.taken;
    if (this.codes[at] !== GREATER_THAN) return this.attributes(at, name);
    this.element(at + 1, name, [], name.namespaced);
    return at + 1;
  }

  private attributes(from: number, element: Name): number {
    const codes = this.codes;
    let attributes: Attributes | undefined;
    let namespaced = element.namespaced;
    let marks = 0;
    let repeated = false;
    let at = from;
    for (;;) {
      const before = at;
      at = this.blanks(at);
      const code = codes[at] ?? 0;
      if (code === GREATER_THAN || code === SLASH) break;
      if (at === before) return this.unlessEnd(at, 'tag', 'white space, ">" or "/>"');
      const begin = at;
      at = this.name(at, 'tag', 'an attribute, ">" or "/>"');
      if (at < 0) return at;
      const name = this.taken;
      at = this.value(at);
      if (at < 0) return at;
      namespaced ||= name.namespaced;
      repeated ||= (marks & name.mark) === name.mark;
      marks |= name.mark;
      // a list made with its first item has room for one; one that grows by its first takes room for seventeen
      if (attributes === undefined) attributes = [[name.text, this.string]];
      else attributes.push([name.text, this.string]);
      if (attributes.length > this.limits.maxAttributes) throw this.tooMany(begin);
    }
    if (repeated && attributes !== undefined) this.refuseDuplicates(attributes);
    return this.tagEnd(at, element, attributes ?? [], namespaced);
  }

  /** `>` or `/>` after the attributes. */
  private tagEnd(at: number, name: Name, attributes: Attributes, namespaced: boolean): number {
    if (this.codes[at] === GREATER_THAN) {
      this.element(at + 1, name, attributes, namespaced);
      return at + 1;
    }
    if (this.codes[at + 1] !== GREATER_THAN) return this.unlessEnd(at + 1, 'tag', '">"');
    this.element(at + 2, name, attributes, namespaced);
    this.close(name);
    return at + 2;
  }

  /** A tag is whole: checks what only the whole shows, and delivers it. */
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

  /** `</name>` (§3.1 [42]), compared code by code with the tag that it ends. */
  private endTag(begin: number): number {
    const name = this.open[this.depth - 1];
    if (this.depth === 0 || name === undefined)
      throw this.fault('unopened-tag', begin, 'an element', 'an end tag');
    const codes = this.codes;
    const due = name.codes;
    const from = begin + 2;
    const end = from + due.length;
    let index = 0;
    while (index < due.length && codes[from + index] === due[index]) index++;
    if (index < due.length || codes[end] !== GREATER_THAN || !name.exact)
      return this.endTagSlowly(name, from);
    if (end - begin >= this.limits.maxToken) throw this.tooLong();
    this.close(name);
    return end + 1;
  }

  /** An end tag whose codes do not decide: another one, one with white space, one not whole, or not ASCII. */
  private endTagSlowly(due: Name, from: number): number {
    const end = this.name(from, 'name', `the name "${clipped(due.text)}"`);
    if (end < 0) return end;
    const at = this.blanks(end);
    if (this.taken.text !== due.text) {
      const found = `</${clipped(this.taken.text)}`;
      throw this.fault('mismatched-tag', this.begin, `</${clipped(due.text)}>`, found);
    }
    if (this.codes[at] !== GREATER_THAN) return this.unlessEnd(at, 'tag', '">"');
    if (at - this.begin >= this.limits.maxToken) throw this.tooLong();
    this.close(due);
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
      for (let before = 0; before < index; before++) {
        if (attributes[before]?.[0] === name) throw this.duplicate(index, name);
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
    return this.fault('duplicate-attribute', at, 'each attribute once', `"${clipped(name)}" again`);
  }

  private tooMany(at: number): XmlError {
    return this.fault('limit-attributes', at, `at most ${this.limits.maxAttributes} attributes`, 'one more');
  }

  private tooDeep(): XmlError {
    const expected = `at most ${this.limits.maxDepth} elements in each other`;
    return this.fault('limit-depth', this.begin, expected, 'one more');
  }

  private enterNamespaces(element: Name, attributes: Attributes): void {
    this.scope ??= new NamespaceScope();
    const wrong = this.scope.enter(this.depth + 1, element.text, attributes);
    if (wrong === undefined) return;
    const at = wrong.attribute < 0 ? this.begin + 1 : this.attributeStart(wrong.attribute);
    throw this.fault(wrong.code, at, wrong.expected, `"${clipped(wrong.name)}"`);
  }

  /** Where an attribute of the tag just read begins; looked up only for a fault. */
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
