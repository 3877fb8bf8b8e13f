import { NAME_UNITS } from './characters.ts';

const XML = 'http://www.w3.org/XML/1998/namespace';
const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** The attributes of a tag. */
export type Attributes = [name: string, value: string][];

/**
 * A rule that a name in a tag violates. `attribute` is the index of the attribute, or −1 for the element
 * name.
 */
interface NamespaceViolation {
  readonly code: 'reserved-namespace' | 'qualified-name' | 'unbound-prefix' | 'duplicate-attribute';
  readonly attribute: number;
  readonly name: string;
  readonly expected: string;
}

/** Returns whether a name has a colon or is `xmlns`. */
export function isNamespaced(name: string): boolean {
  return name === 'xmlns' || name.includes(':');
}

/** A namespace name in scope. Each name has one object, so that comparison is by identity. */
interface Namespace {
  readonly uri: string;
  uses: number;
}

interface Binding {
  readonly prefix: string;
  readonly depth: number;
  readonly namespace: Namespace;
  readonly shadowed: Namespace | undefined;
}

/**
 * The prefixes in scope (Namespaces in XML 1.0 §6.1). The declarations of an element are undone at its end,
 * so that only those of open elements are retained. Each look-up takes constant time.
 */
export class NamespaceScope {
  private readonly prefixes = new Map<string, Namespace>();
  private readonly namespaces = new Map<string, Namespace>();
  private readonly bindings: Binding[] = [];

  constructor() {
    this.prefixes.set('xml', this.namespace(XML));
  }

  /** Binds the prefixes that a tag at `depth` declares and checks its names. Returns the first violation. */
  enter(depth: number, element: string, attributes: Readonly<Attributes>): NamespaceViolation | undefined {
    return this.declare(depth, attributes) ?? this.checkElement(element) ?? this.checkAttributes(attributes);
  }

  /** Removes the declarations of the element at `depth`. */
  leave(depth: number): void {
    let binding = this.bindings.at(-1);
    while (binding !== undefined && binding.depth === depth) {
      this.bindings.pop();
      if (binding.shadowed === undefined) this.prefixes.delete(binding.prefix);
      else this.prefixes.set(binding.prefix, binding.shadowed);
      this.release(binding.namespace);
      binding = this.bindings.at(-1);
    }
  }

  private declare(depth: number, attributes: Readonly<Attributes>): NamespaceViolation | undefined {
    for (const [index, [name, uri]] of attributes.entries()) {
      const prefix = parseDeclaredPrefix(name);
      if (prefix === undefined) continue;
      const expected = declarationRule(prefix, uri);
      if (expected !== undefined) return { code: 'reserved-namespace', attribute: index, name, expected };
      if (prefix !== '') this.bind(depth, prefix, uri);
    }
    return undefined;
  }

  private bind(depth: number, prefix: string, uri: string): void {
    const namespace = this.namespace(uri);
    this.bindings.push({ prefix, depth, namespace, shadowed: this.prefixes.get(prefix) });
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

  private checkElement(name: string): NamespaceViolation | undefined {
    if (!name.startsWith('xmlns:')) return this.checkName(name, name.indexOf(':'), -1);
    const expected = 'a prefix other than "xmlns", which is reserved';
    return { code: 'reserved-namespace', attribute: -1, name, expected };
  }

  private checkAttributes(attributes: Readonly<Attributes>): NamespaceViolation | undefined {
    const seen = new Map<Namespace, Set<string>>();
    for (const [index, [name]] of attributes.entries()) {
      const colon = name.indexOf(':');
      if (colon < 0 || parseDeclaredPrefix(name) !== undefined) continue;
      const violation = this.checkName(name, colon, index) ?? this.checkDuplicate(name, colon, index, seen);
      if (violation !== undefined) return violation;
    }
    return undefined;
  }

  private checkName(name: string, colon: number, attribute: number): NamespaceViolation | undefined {
    if (colon < 0) return undefined;
    if (!isQualified(name, colon)) {
      const expected = 'a name, or a prefix, a colon and a local name';
      return { code: 'qualified-name', attribute, name, expected };
    }
    const prefix = name.slice(0, colon);
    if (this.prefixes.has(prefix)) return undefined;
    const expected = `a declaration of the prefix, such as xmlns:${prefix.slice(0, 64)}="…"`;
    return { code: 'unbound-prefix', attribute, name, expected };
  }

  /** Finds an earlier attribute of the tag with the same local name and namespace (§6.3). */
  private checkDuplicate(
    name: string,
    colon: number,
    attribute: number,
    seen: Map<Namespace, Set<string>>,
  ): NamespaceViolation | undefined {
    const namespace = this.prefixes.get(name.slice(0, colon));
    if (namespace === undefined) return undefined;
    const local = name.slice(colon + 1);
    const locals = seen.get(namespace) ?? new Set<string>();
    if (locals.has(local)) {
      const expected = 'no second attribute with this local name in this namespace';
      return { code: 'duplicate-attribute', attribute, name, expected };
    }
    seen.set(namespace, locals.add(local));
    return undefined;
  }
}

/**
 * Returns the prefix that the attribute declares, '' for the default namespace; undefined for other
 * attributes.
 */
function parseDeclaredPrefix(name: string): string | undefined {
  if (name === 'xmlns') return '';
  return name.startsWith('xmlns:') && isQualified(name, 5) ? name.slice(6) : undefined;
}

/** Returns the requirement of §2.2 and §3 that a declaration violates; undefined if there is none. */
function declarationRule(prefix: string, uri: string): string | undefined {
  if (prefix === 'xmlns') return 'a prefix other than "xmlns", which is reserved';
  if (prefix === 'xml') return uri === XML ? undefined : `the namespace name ${XML}, the only one for "xml"`;
  if (uri === XML) return 'the prefix "xml", the only one for this namespace name';
  if (uri === XMLNS) return 'another namespace name, since this one is reserved';
  if (prefix !== '' && uri === '') return 'a namespace name, since a prefix cannot be undeclared';
  return undefined;
}

/** Returns whether the colon separates the name into two names without colons (§4 [7]). */
function isQualified(name: string, colon: number): boolean {
  if (colon === 0 || name.includes(':', colon + 1)) return false;
  return NAME_UNITS[name.charCodeAt(colon + 1)] === 3;
}
