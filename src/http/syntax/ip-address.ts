import { isIPv4, isIPv6 } from 'node:net';

/** An address as eight groups of 16 bits. An IPv4 address is mapped to IPv6, ::ffff:0:0/96 (RFC 4291 §2.5.5.2). */
type IpAddress = readonly number[];

const groupCount = 8;
const groupBits = 16;

/** The length of the prefix of mapped IPv4 addresses. */
const mappedBits = 96;
const mappedPrefix: IpAddress = [0, 0, 0, 0, 0, 0xffff];

/** Returns whether a text is an IPv6 address without a zone, which a URI cannot contain (RFC 3986 §3.2.2). */
export function isIPv6Literal(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

/** Parses an IPv4 or IPv6 address (RFC 4291 §2.2), and drops a zone (RFC 4007 §11). Returns undefined if malformed. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return [...mappedPrefix, ...groupsOfIpv4(text)];
  if (!isIPv6(text)) return undefined;
  const zone = text.indexOf('%');
  const [head = '', tail] = (zone < 0 ? text : text.slice(0, zone)).split('::');
  const before = parseGroups(head);
  const after = parseGroups(tail ?? '');
  return [...before, ...new Array<number>(groupCount - before.length - after.length).fill(0), ...after];
}

function parseGroups(text: string): number[] {
  if (text === '') return [];
  return text
    .split(':')
    .flatMap((group) => (group.includes('.') ? groupsOfIpv4(group) : [Number.parseInt(group, 16)]));
}

function groupsOfIpv4(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** Returns whether an address is an IPv4 address. */
export function isMapped(address: IpAddress): boolean {
  return mappedPrefix.every((group, index) => address[index] === group);
}

/** Formats an address: IPv4 in dotted decimal, IPv6 as eight groups in lower case without leading zeros. */
export function formatIpAddress(address: IpAddress): string {
  if (!isMapped(address)) return address.map((group) => group.toString(16)).join(':');
  return address
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** A network: all addresses with the same prefix. */
export interface IpNetwork {
  readonly address: IpAddress;
  readonly bits: number;
}

/**
 * Parses `10.0.0.0/8`, `fd00::/8` (RFC 4632 §3.1, RFC 4291 §2.3) or a single address. If malformed, returns an error message
 * without a subject.
 */
export function parseIpNetwork(text: string): IpNetwork | string {
  const [, written = '', length] = /^([^/%]*)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const address = parseIpAddress(written);
  const offset = isIPv4(written) ? mappedBits : 0;
  const bits = length === undefined ? groupCount * groupBits : offset + Number(length);
  if (address === undefined || bits > groupCount * groupBits)
    return 'is not a network such as 10.0.0.0/8 or fd00::/8';
  const network = { address: maskAddress(address, bits), bits };
  // 10.1.2.3/8 may be meant as one host, but would match sixteen million.
  if (network.address.some((group, index) => group !== address[index]))
    return `has bits set behind its prefix; the network is ${formatIpAddress(network.address)}/${bits - offset}`;
  return network;
}

/** Returns whether a network contains an address. Only IPv4 networks contain IPv4 addresses, so `::/0` does not. */
export function contains(network: IpNetwork, address: IpAddress): boolean {
  if (network.bits < mappedBits && isMapped(address)) return false;
  return network.address.every((group, index) => maskGroup(address, index, network.bits) === group);
}

/** Returns the address with all but its first `bits` bits cleared. */
export function maskAddress(address: IpAddress, bits: number): IpAddress {
  return address.map((_, index) => maskGroup(address, index, bits));
}

function maskGroup(address: IpAddress, index: number, bits: number): number {
  const cleared = groupBits - Math.min(groupBits, Math.max(0, bits - index * groupBits));
  return ((address[index] ?? 0) >> cleared) << cleared;
}
