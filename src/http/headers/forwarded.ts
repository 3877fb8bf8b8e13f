import { isIPv4, isIPv6 } from 'node:net';
import { isValidHost } from '../host.ts';
import { valueBetween, valueEnd } from '../syntax/parameters.ts';
import { listElements, tokenEnd, trimmed } from '../syntax/token.ts';

/** What one proxy says of the request as it came to it: who sent it, and with what scheme. Undefined is not told. */
export interface Hop {
  /** An IP address; undefined also where it is hidden or not known (RFC 7239 §6.2, §6.3). */
  readonly from: string | undefined;
  /** In lower case. */
  readonly proto: string | undefined;
}

/**
 * Reads a Forwarded value (RFC 7239 §4), the hop nearest to the client first. Undefined when it is malformed, also
 * when it has a parameter twice in one element.
 */
export function parseForwarded(value: string): readonly Hop[] | undefined {
  const hops = listElements(value).map(parseElement);
  return hops.length > 0 && hops.every((hop) => hop !== undefined) ? hops : undefined;
}

/** `name=value` with semicolons between and no white space at all, empty pairs allowed. */
function parseElement(element: string): Hop | undefined {
  const pairs = new Map<string, string>();
  let at = 0;
  while (at < element.length) {
    if (element[at] === ';') {
      at += 1;
      continue;
    }
    const named = tokenEnd(element, at);
    const end = named > at && element[named] === '=' ? valueEnd(element, named + 1) : -1;
    if (end < 0 || (end < element.length && element[end] !== ';')) return undefined;
    const name = element.slice(at, named).toLowerCase();
    const value = valueBetween(element, named + 1, end);
    if (pairs.has(name) || !isFit(name, value)) return undefined;
    pairs.set(name, value);
    at = end;
  }
  return { from: addressOf(pairs.get('for')), proto: pairs.get('proto')?.toLowerCase() };
}

function isFit(name: string, value: string): boolean {
  if (name === 'for' || name === 'by') return isNode(value);
  if (name === 'host') return isValidHost(value);
  return name !== 'proto' || isScheme(value);
}

// RFC 3986 §3.1
function isScheme(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*$/.test(text);
}

const nodeForm = /^(\[[^\]]*\]|[^:[\]]*)(?::(?:[0-9]{1,5}|_[A-Za-z0-9._-]+))?$/;

/** The name of a node (RFC 7239 §6) without its port. */
function nameOf(node: string): string | undefined {
  return nodeForm.exec(node)?.[1];
}

function isNode(text: string): boolean {
  const name = nameOf(text) ?? '';
  return addressOf(text) !== undefined || name.toLowerCase() === 'unknown' || /^_[A-Za-z0-9._-]+$/.test(name);
}

function addressOf(node: string | undefined): string | undefined {
  const name = node === undefined ? undefined : nameOf(node);
  if (name === undefined) return undefined;
  if (!name.startsWith('[')) return isIPv4(name) ? name : undefined;
  const address = name.slice(1, -1);
  return isIPv6(address) && !address.includes('%') ? address : undefined;
}

/**
 * Reads an X-Forwarded-For value, which no standard has: addresses with commas between, the one nearest to the client
 * first. Some write a port behind, and one of IPv6 with brackets or without. What is no address is undefined, and so
 * is the whole when there is an empty element.
 */
export function parseForwardedFor(value: string): readonly (string | undefined)[] | undefined {
  const elements = value.split(',').map((element) => trimmed(element, 0, element.length));
  if (elements.includes('')) return undefined;
  return elements.map((element) =>
    isIPv6(element) && !element.includes('%') ? element : addressOf(element),
  );
}

/** Reads an X-Forwarded-Proto value: one scheme, in lower case. Undefined for anything else, several of them too. */
export function parseForwardedProto(value: string): string | undefined {
  return isScheme(value) ? value.toLowerCase() : undefined;
}
