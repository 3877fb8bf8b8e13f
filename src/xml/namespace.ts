import type { XmlErrorCode } from './error.ts';
import { DECLARING, type Name, PREFIXED, UNQUALIFIED } from './name.ts';

const XML = 'http://www.w3.org/XML/1998/namespace';
const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** What is wrong with the names of a tag: with which attribute (−1: with the element's own name), and why. */
export interface NamespaceFault {
  readonly code: XmlErrorCode;
  readonly attribute: number;
  readonly expected: string;
}

/** A namespace name that is in scope: one object for one name, so that two are compared without reading them. */
interface Namespace {
  readonly uri: string;
  uses: number;
}

interface Binding {
  readonly prefix: string;
  readonly depth: number;
  readonly namespace: Namespace;
  readonly before: Namespace | undefined;
}

/**
 * The prefixes in scope (Namespaces in XML 1.0 §6.1). What an element declares is undone at its end, so it
 * holds only what open elements declare. Every look-up takes one step, however deep the document is.
 */
export class NamespaceScope {
  private readonly prefixes = new Map<string, Namespace>();
  private readonly namespaces = new Map<string, Namespace>();
  private readonly bindings: Binding[] = [];

  constructor() {
    this.prefixes.set('xml', this.namespace(XML));
  }

  /** Binds what a tag's attributes declare and checks every name of the tag. */
  enter(
    depth: number,
    element: Name,
    names: readonly Name[],
    values: readonly string[],
  ): NamespaceFault | undefined {
    return this.declare(depth, names, values) ?? this.elementFault(element) ?? this.attributeFault(names);
  }

  /** Undoes what the element at `depth` declared. */
  leave(depth: number): void {
    for (
      let last = this.bindings.at(-1);
      last !== undefined && last.depth === depth;
      last = this.bindings.at(-1)
    ) {
      this.bindings.pop();
      if (last.before === undefined) this.prefixes.delete(last.prefix);
      else this.prefixes.set(last.prefix, last.before);
      if (--last.namespace.uses === 0) this.namespaces.delete(last.namespace.uri);
    }
  }

  private declare(
    depth: number,
    names: readonly Name[],
    values: readonly string[],
  ): NamespaceFault | undefined {
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      if (name === undefined || (name.kind & DECLARING) === 0) continue;
      const uri = values[index] ?? '';
      const expected = declarationRule(name, uri);
      if (expected !== undefined) return { code: 'reserved-namespace', attribute: index, expected };
      if ((name.kind & PREFIXED) !== 0) this.bind(depth, name.local, uri);
    }
    return undefined;
  }

  private bind(depth: number, prefix: string, uri: string): void {
    const namespace = this.namespace(uri);
    this.bindings.push({ prefix, depth, namespace, before: this.prefixes.get(prefix) });
    this.prefixes.set(prefix, namespace);
  }

  private namespace(uri: string): Namespace {
    const known = this.namespaces.get(uri) ?? { uri, uses: 0 };
    known.uses += 1;
    this.namespaces.set(uri, known);
    return known;
  }

  private elementFault(name: Name): NamespaceFault | undefined {
    if (name.prefix === 'xmlns')
      return fault('reserved-namespace', -1, 'another prefix than "xmlns" (it is reserved)');
    return this.nameFault(name, -1);
  }

  private attributeFault(names: readonly Name[]): NamespaceFault | undefined {
    const prefixed: number[] = [];
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      if (name === undefined || name.kind === 0 || (name.kind & DECLARING) !== 0) continue;
      const wrong = this.nameFault(name, index);
      if (wrong !== undefined) return wrong;
      prefixed.push(index);
    }
    return prefixed.length > 1 ? this.clash(names, prefixed) : undefined;
  }

  private nameFault(name: Name, attribute: number): NamespaceFault | undefined {
    if ((name.kind & UNQUALIFIED) !== 0) {
      return fault('qualified-name', attribute, 'a name, or a prefix, one colon and a local name');
    }
    if (name.prefix === '' || this.prefixes.has(name.prefix)) return undefined;
    return fault('unbound-prefix', attribute, `a declaration of the prefix, as xmlns:${name.prefix}="…"`);
  }

  /** Two attributes with one local name in one namespace (§6.3), among those that have a prefix. */
  private clash(names: readonly Name[], prefixed: readonly number[]): NamespaceFault | undefined {
    const seen = new Map<Namespace, Set<string>>();
    for (const index of prefixed) {
      const name = names[index];
      const namespace = name === undefined ? undefined : this.prefixes.get(name.prefix);
      if (name === undefined || namespace === undefined) continue;
      const locals = seen.get(namespace) ?? new Set<string>();
      if (locals.has(name.local)) {
        return fault('duplicate-attribute', index, `one attribute "${name.local}" in its namespace`);
      }
      seen.set(namespace, locals.add(name.local));
    }
    return undefined;
  }
}

/** The rule of §3 and §2.2 that a declaration breaks. */
function declarationRule(name: Name, uri: string): string | undefined {
  const prefix = (name.kind & PREFIXED) === 0 ? '' : name.local;
  if (prefix === 'xmlns') return 'another prefix than "xmlns" (it is reserved)';
  if (prefix === 'xml') return uri === XML ? undefined : `the namespace name ${XML}, the only one for "xml"`;
  if (uri === XML) return 'the prefix "xml", the only one for this namespace name';
  if (uri === XMLNS) return 'another namespace name (this one is reserved)';
  if (prefix !== '' && uri === '') return 'a namespace name (a prefix cannot be undeclared)';
  return undefined;
}

function fault(code: XmlErrorCode, attribute: number, expected: string): NamespaceFault {
  return { code, attribute, expected };
}
