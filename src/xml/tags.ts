import { BANG, GREATER_THAN, LESS_THAN, QUESTION, SLASH } from './characters.ts';
import { clipped, type XmlError } from './error.ts';
import { MarkupReader } from './markup.ts';
import type { Name } from './name.ts';
import { NamespaceScope } from './namespace.ts';

/** Reads elements, and with that whole documents. */
export class ElementReader extends MarkupReader {
  private scope: NamespaceScope | undefined = undefined;
  // The attributes of the tag being read: their names and where they begin. Kept from tag to tag.
  private readonly seen: Name[] = [];
  private readonly starts: number[] = [];

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
    if (this.open.length === 0 && this.rooted) {
      throw this.fault(
        'second-root',
        this.begin,
        'nothing but comments and instructions after the root element',
        'a tag',
      );
    }
    const name = this.name(this.begin + 1, 'the name of an element');
    if (name === undefined) return this.unfinished();
    if (this.codes[this.cursor] === GREATER_THAN) {
      this.cursor += 1;
      return this.element(name, [], name.kind, false);
    }
    return this.attributes(name);
  }

  private attributes(element: Name): boolean {
    const codes = this.codes;
    const attributes: [name: string, value: string][] = [];
    let kinds = element.kind;
    for (;;) {
      const at = this.blanks(this.cursor);
      const code = codes[at] ?? 0;
      if (code === GREATER_THAN || code === SLASH) {
        if (code === SLASH && codes[at + 1] !== GREATER_THAN) return this.unlessEnd(at + 1, 'tag', '">"');
        this.cursor = code === SLASH ? at + 2 : at + 1;
        return this.element(element, attributes, kinds, code === SLASH);
      }
      if (at === this.cursor) return this.unlessEnd(at, 'tag', 'white space, ">" or "/>"');
      const name = this.name(at, 'an attribute, ">" or "/>"');
      if (name === undefined) return this.unfinished();
      const value = this.attributeValue();
      if (value === undefined) return this.unfinished();
      if (attributes.length === this.limits.maxAttributes) {
        throw this.fault(
          'limit-attributes',
          at,
          `at most ${this.limits.maxAttributes} attributes`,
          'one more',
        );
      }
      kinds |= name.kind;
      this.seen[attributes.length] = name;
      this.starts[attributes.length] = at;
      attributes.push([name.text, value]);
    }
  }

  /** A tag is whole: checks what only the whole shows, and delivers it. */
  private element(name: Name, attributes: [string, string][], kinds: number, empty: boolean): boolean {
    if (this.cursor - this.begin > this.limits.maxToken) throw this.tooLong();
    if (this.open.length >= this.limits.maxDepth) {
      throw this.fault(
        'limit-depth',
        this.begin,
        `at most ${this.limits.maxDepth} elements inside each other`,
        'one more',
      );
    }
    if (attributes.length > 1) this.refuseDuplicates(attributes.length);
    if (kinds !== 0 && this.limits.namespaces) this.enterNamespaces(name, attributes);
    this.rooted = true;
    this.open.push(name);
    this.handler.startElement?.(name.text, attributes);
    if (empty) this.close(name);
    return true;
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
    const name = this.name(from, `the name "${clipped(due.text)}"`);
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

  private refuseDuplicates(count: number): void {
    const seen = this.seen;
    for (let index = 1; index < count; index++) {
      for (let before = 0; before < index; before++) {
        if (seen[index]?.text === seen[before]?.text) throw this.duplicate(index);
      }
    }
  }

  private duplicate(index: number): XmlError {
    const name = clipped(this.seen[index]?.text ?? '');
    return this.fault(
      'duplicate-attribute',
      this.starts[index] ?? 0,
      'each attribute once',
      `"${name}" again`,
    );
  }

  private enterNamespaces(element: Name, attributes: readonly [string, string][]): void {
    this.scope ??= new NamespaceScope();
    const names = this.seen.slice(0, attributes.length);
    const values = attributes.map(([, value]) => value);
    const wrong = this.scope.enter(this.open.length + 1, element, names, values);
    if (wrong === undefined) return;
    const at = wrong.attribute < 0 ? this.begin + 1 : (this.starts[wrong.attribute] ?? 0);
    const name = wrong.attribute < 0 ? element : (names[wrong.attribute] ?? element);
    throw this.fault(wrong.code, at, wrong.expected, `"${clipped(name.text)}"`);
  }
}
