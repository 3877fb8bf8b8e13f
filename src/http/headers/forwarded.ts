import { isIPv4 } from 'node:net';
import { isValidHost } from '../host.ts';
import { isIPv6Literal } from '../syntax/ip-address.ts';
import { valueBetween, valueEnd } from '../syntax/parameters.ts';
import { listElements, tokenEnd, trimSpaces } from '../syntax/token.ts';

/** The report of one proxy: the peer of a request, and the scheme. Undefined if it is not reported. */
export interface Hop {
  /** An IP address; also undefined if it is obfuscated or unknown (RFC 7239 §6.2, §6.3). */
  readonly from: string | undefined;
  /** The scheme in lower case. */
  readonly proto: string | undefined;
}

/**
 * Parses a Forwarded value (RFC 7239 §4), with the hop nearest to the client first. Returns undefined if it is malformed, including
 * a parameter twice in one element.
 */
export function parseForwarded(value: string): readonly Hop[] | undefined {
  const hops = listElements(value).map(parseElement);
  return hops.length > 0 && hops.every((hop) => hop !== undefined) ? hops : undefined;
}

/** Parses `name=value` pairs, separated by semicolons, without white space. Empty pairs are allowed. */
function parseElement(element: string): Hop | undefined {
  const pairs = new Map<string, string>();
  let at = 0;
  while (at < element.length) {
    if (element[at] === ';') {
      at += 1;
      continue;
    }
    const nameEnd = tokenEnd(element, at);
    const end = nameEnd > at && element[nameEnd] === '=' ? valueEnd(element, nameEnd + 1) : -1;
    if (end < 0 || (end < element.length && element[end] !== ';')) return undefined;
    const name = element.slice(at, nameEnd).toLowerCase();
    const value = valueBetween(element, nameEnd + 1, end);
    if (pairs.has(name) || !isValid(name, value)) return undefined;
    pairs.set(name, value);
    at = end;
  }
  return { from: parseNodeAddress(pairs.get('for')), proto: pairs.get('proto')?.toLowerCase() };
}

function isValid(name: string, value: string): boolean {
  if (name === 'for' || name === 'by') return isNode(value);
  if (name === 'host') return isValidHost(value);
  return name !== 'proto' || isScheme(value);
}

// RFC 3986 §3.1
function isScheme(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*$/.test(text);
}

const nodeForm = /^(\[[^\]]*\]|[^:[\]]*)(?::(?:[0-9]{1,5}|_[A-Za-z0-9._-]+))?$/;

/** Returns a node (RFC 7239 §6) without its port. */
function parseNodeName(node: string): string | undefined {
  return nodeForm.exec(node)?.[1];
}

function isNode(text: string): boolean {
  const name = parseNodeName(text) ?? '';
  return (
    parseNodeAddress(text) !== undefined ||
    name.toLowerCase() === 'unknown' ||
    /^_[A-Za-z0-9._-]+$/.test(name)
  );
}

function parseNodeAddress(node: string | undefined): string | undefined {
  const name = node === undefined ? undefined : parseNodeName(node);
  if (name === undefined) return undefined;
  if (!name.startsWith('[')) return isIPv4(name) ? name : undefined;
  const address = name.slice(1, -1);
  return isIPv6Literal(address) ? address : undefined;
}

/**
 * Parses an X-Forwarded-For value, which no standard defines: addresses separated by commas, the one nearest to the client first.
 * Some proxies append a port, and write IPv6 with or without brackets. An element that is not an address is undefined. Returns
 * undefined if an element is empty.
 */
export function parseForwardedFor(value: string): readonly (string | undefined)[] | undefined {
  const elements = value.split(',').map((element) => trimSpaces(element, 0, element.length));
  if (elements.includes('')) return undefined;
  return elements.map((element) => (isIPv6Literal(element) ? element : parseNodeAddress(element)));
}

/** Parses an X-Forwarded-Proto value: one scheme, returned in lower case. Returns undefined for anything else. */
export function parseForwardedProto(value: string): string | undefined {
  return isScheme(value) ? value.toLowerCase() : undefined;
}
