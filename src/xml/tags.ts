import {
  BANG,
  BLANK,
  DOUBLE_QUOTE,
  GREATER_THAN,
  LESS_THAN,
  QUESTION,
  SINGLE_QUOTE,
  SLASH,
} from './characters.ts';
import { clipped, type XmlError } from './error.ts';
import { MarkupReader } from './markup.ts';
import type { Name } from './name.ts';
import { type Attributes, NamespaceScope } from './namespace.ts';

/** Up to so many attributes are compared each with each. */
const FEW = 8;

/** Reads elements, and with that whole documents. */
export class ElementReader extends MarkupReader {
  /** Reads on until the stretch is used up or ends inside a token, which then begins at the cursor. */
  protected scan(): void {
    let goesOn = true;
    while (goesOn && this.cursor < this.length) {
      if (this.inSection) goesOn = this.section();
      else if (this.codes[this.cursor] === LESS_THAN) goesOn = this.markup();
      else goesOn = this.open.length === 0 ? this.outside() : this.characters();
    }
  }

  /** `<` … */
  private markup(): boolean {
    this.begin = this.cursor;
    switch (this.codes[this.begin + 1]) {
      case SLASH:
        return this.endTag();
      case BANG:
        return this.bang();
      case QUESTION:
        return this.instruction();
      default:
        return this.startTag();
    }
  }

  /** `<name attribute="value" …>`, `<name … />` (§3.1 [40], [44]). */
  private startTag(): boolean {
    if (this.rooted && this.open.length === 0) throw this.afterRoot('second-root', this.begin);
    const name = this.name(this.begin + 1, 'name', 'the name of an element');
    if (name === undefined) return this.unfinished();
    if (this.codes[this.cursor] === GREATER_THAN) {
      this.cursor += 1;
      this.element(name, [], name.namespaced);
      return true;
    }
    return this.attributes(name);
  }

  private attributes(element: Name): boolean {
    const codes = this.codes;
    const attributes: Attributes = [];
    let namespaced = element.namespaced;
    for (;;) {
      const at = this.blanks(this.cursor);
      const code = codes[at] ?? 0;
      if (code === GREATER_THAN || code === SLASH)
        return this.tagEnd(at, code, element, attributes, namespaced);
      if (at === this.cursor) return this.unlessEnd(at, 'tag', 'white space, ">" or "/>"');
      const name = this.name(at, 'tag', 'an attribute, ">" or "/>"');
      if (name === undefined) return this.unfinished();
      const value = this.attributeValue();
      if (value === undefined) return this.unfinished();
      if (attributes.length === this.limits.maxAttributes) {
        throw this.fault('limit-attributes', at, `at most ${attributes.length} attributes`, 'one more');
      }
      namespaced ||= name.namespaced;
      attributes.push([name.text, value]);
    }
  }

  /** `>` or `/>` after the attributes. */
  private tagEnd(at: number, code: number, name: Name, attributes: Attributes, namespaced: boolean): boolean {
    if (code === GREATER_THAN) {
      this.cursor = at + 1;
      this.element(name, attributes, namespaced);
      return true;
    }
    if (this.codes[at + 1] !== GREATER_THAN) return this.unlessEnd(at + 1, 'tag', '">"');
    this.cursor = at + 2;
    this.element(name, attributes, namespaced);
    this.close(name);
    return true;
  }

  /** A tag is whole: checks what only the whole shows, and delivers it. */
  private element(name: Name, attributes: Attributes, namespaced: boolean): void {
    const { limits, open } = this;
    if (this.cursor - this.begin > limits.maxToken) throw this.tooLong();
    if (open.length >= limits.maxDepth) {
      throw this.fault(
        'limit-depth',
        this.begin,
        `at most ${limits.maxDepth} elements in each other`,
        'one more',
      );
    }
    if (attributes.length > FEW) this.refuseDuplicatesOfMany(attributes);
    else if (attributes.length > 1) this.refuseDuplicates(attributes);
    if (namespaced && limits.namespaces) this.enterNamespaces(name, attributes);
    this.rooted = true;
    open.push(name);
    this.handler.startElement?.(name.text, attributes);
  }

  /** `</name>` (§3.1 [42]), compared code by code with the tag that it ends. */
  private endTag(): boolean {
    const codes = this.codes;
    const name = this.open[this.open.length - 1];
    if (name === undefined) {
      throw this.fault('unopened-tag', this.begin, 'an element', 'an end tag');
    }
    const from = this.begin + 2;
    const due = name.codes;
    let index = 0;
    while (index < due.length && codes[from + index] === due[index]) index++;
    const after = from + index;
    const at = codes[after] === GREATER_THAN ? after : this.blanks(after);
    if (index < due.length || codes[at] !== GREATER_THAN || !name.exact) return this.endTagSlowly(name, from);
    this.cursor = at + 1;
    if (this.cursor - this.begin > this.limits.maxToken) throw this.tooLong();
    this.close(name);
    return true;
  }

  /** An end tag whose codes do not decide: it is another one, not whole, or not ASCII. */
  private endTagSlowly(due: Name, from: number): boolean {
    const name = this.name(from, 'name', `the name "${clipped(due.text)}"`);
    if (name === undefined) return this.unfinished();
    const end = this.cursor;
    const at = this.blanks(end);
    if (name.text !== due.text) {
      throw this.fault('mismatched-tag', this.begin, `</${clipped(due.text)}>`, `</${clipped(name.text)}`);
    }
    if (this.codes[at] !== GREATER_THAN) return this.unlessEnd(at, 'tag', '">"');
    this.cursor = at + 1;
    if (this.cursor - this.begin > this.limits.maxToken) throw this.tooLong();
    this.close(due);
    return true;
  }

  private close(name: Name): void {
    this.handler.endElement?.(name.text);
    this.scope?.leave(this.open.length);
    this.open.pop();
  }

  private refuseDuplicates(attributes: Attributes): void {
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

  private enterNamespaces(element: Name, attributes: Attributes): void {
    this.scope ??= new NamespaceScope();
    const wrong = this.scope.enter(this.open.length + 1, element.text, attributes);
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
