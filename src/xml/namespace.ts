import { NAME_UNITS } from './characters.ts';

const XML = 'http://www.w3.org/XML/1998/namespace';
const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** The attributes of a tag. */
export type Attributes = [name: string, value: string][];

/** What is wrong with the names of a tag: with which attribute (−1: with the element's own name), and why. */
export interface NamespaceFault {
  readonly code: 'reserved-namespace' | 'qualified-name' | 'unbound-prefix' | 'duplicate-attribute';
  readonly attribute: number;
  readonly name: string;
  readonly expected: string;
}

/** True if a name has to do with namespaces: it has a colon, or it is `xmlns`. */
export function isNamespaced(name: string): boolean {
  return name === 'xmlns' || name.includes(':');
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

  /** Binds what the attributes of a tag declare, for the element at `depth`, and checks the names of the tag. */
  enter(depth: number, element: string, attributes: Readonly<Attributes>): NamespaceFault | undefined {
    return (
      this.declarations(depth, attributes) ?? this.elementFault(element) ?? this.attributeFault(attributes)
    );
  }

  /** Undoes what the element at `depth` declared. */
  leave(depth: number): void {
    let last = this.bindings.at(-1);
    while (last !== undefined && last.depth === depth) {
      this.bindings.pop();
      if (last.before === undefined) this.prefixes.delete(last.prefix);
      else this.prefixes.set(last.prefix, last.before);
      this.release(last.namespace);
      last = this.bindings.at(-1);
    }
  }

  private declarations(depth: number, attributes: Readonly<Attributes>): NamespaceFault | undefined {
    for (const [index, [name, uri]] of attributes.entries()) {
      const prefix = declaredPrefix(name);
      if (prefix === undefined) continue;
      const expected = declarationRule(prefix, uri);
      if (expected !== undefined) return { code: 'reserved-namespace', attribute: index, name, expected };
      if (prefix !== '') this.bind(depth, prefix, uri);
    }
    return undefined;
  }

  private bind(depth: number, prefix: string, uri: string): void {
    const namespace = this.namespace(uri);
    this.bindings.push({ prefix, depth, namespace, before: this.prefixes.get(prefix) });
    this.prefixes.set(prefix, namespace);
  }

  private namespace(uri: string): Namespace {
    const namespace = this.namespaces.get(uri) ?? { uri, uses: 0 };
    namespace.uses += 1;
    this.namespaces.set(uri, namespace);
    return namespace;
  }

  private release(namespace: Namespace): void {
    namespace.uses -= 1;
    if (namespace.uses === 0) this.namespaces.delete(namespace.uri);
  }

  private elementFault(name: string): NamespaceFault | undefined {
    if (!name.startsWith('xmlns:')) return this.nameFault(name, name.indexOf(':'), -1);
    const expected = 'another prefix than "xmlns" (it is reserved)';
    return { code: 'reserved-namespace', attribute: -1, name, expected };
  }

  private attributeFault(attributes: Readonly<Attributes>): NamespaceFault | undefined {
    const seen = new Map<Namespace, Set<string>>();
    for (const [index, [name]] of attributes.entries()) {
      const colon = name.indexOf(':');
      if (colon < 0 || declaredPrefix(name) !== undefined) continue;
      const wrong = this.nameFault(name, colon, index) ?? this.clash(name, colon, index, seen);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  private nameFault(name: string, colon: number, attribute: number): NamespaceFault | undefined {
    if (colon < 0) return undefined;
    if (!isQualified(name, colon)) {
      const expected = 'a name, or a prefix, one colon and a local name';
      return { code: 'qualified-name', attribute, name, expected };
    }
    const prefix = name.slice(0, colon);
    if (this.prefixes.has(prefix)) return undefined;
    const expected = `a declaration of the prefix, as xmlns:${prefix.slice(0, 64)}="…"`;
    return { code: 'unbound-prefix', attribute, name, expected };
  }

  /** An attribute whose local name and namespace another one of the tag has (§6.3). */
  private clash(
    name: string,
    colon: number,
    attribute: number,
    seen: Map<Namespace, Set<string>>,
  ): NamespaceFault | undefined {
    const namespace = this.prefixes.get(name.slice(0, colon));
    if (namespace === undefined) return undefined;
    const local = name.slice(colon + 1);
    const locals = seen.get(namespace) ?? new Set<string>();
    if (locals.has(local)) {
      const expected = 'no other attribute with its local name in its namespace';
      return { code: 'duplicate-attribute', attribute, name, expected };
    }
    seen.set(namespace, locals.add(local));
    return undefined;
  }
}

/** The prefix that an attribute of this name declares, '' for the default namespace; undefined for any other. */
function declaredPrefix(name: string): string | undefined {
  if (name === 'xmlns') return '';
  return name.startsWith('xmlns:') && isQualified(name, 5) ? name.slice(6) : undefined;
}

/** The rule of §3 and §2.2 that a declaration breaks. */
function declarationRule(prefix: string, uri: string): string | undefined {
  if (prefix === 'xmlns') return 'another prefix than "xmlns" (it is reserved)';
  if (prefix === 'xml') return uri === XML ? undefined : `the namespace name ${XML}, the only one for "xml"`;
  if (uri === XML) return 'the prefix "xml", the only one for this namespace name';
  if (uri === XMLNS) return 'another namespace name (this one is reserved)';
  if (prefix !== '' && uri === '') return 'a namespace name (a prefix cannot be undeclared)';
  return undefined;
}

/** True if the colon parts a name, known to be one, into two names without a colon (§4 [7]). */
function isQualified(name: string, colon: number): boolean {
  if (colon === 0 || name.includes(':', colon + 1)) return false;
  return NAME_UNITS[name.charCodeAt(colon + 1)] === 3;
}
