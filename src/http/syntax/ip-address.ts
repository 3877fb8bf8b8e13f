import { isIPv4, isIPv6 } from 'node:net';

/** An address as eight groups of 16 bits; one of IPv4 in its place among those of IPv6, ::ffff:0:0/96 (RFC 4291 §2.5.5.2). */
export type IpAddress = readonly number[];

const groupCount = 8;
const groupBits = 16;

/** Bits before an address of IPv4 in that place. */
const mappedBits = 96;
const mappedPrefix: IpAddress = [0, 0, 0, 0, 0, 0xffff];

/** Reads an address of IPv4 or IPv6 (RFC 4291 §2.2); a zone behind it (RFC 4007 §11) is dropped. Undefined when it is none. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return [...mappedPrefix, ...groupsOfIpv4(text)];
  if (!isIPv6(text)) return undefined;
  const zone = text.indexOf('%');
  const [head = '', tail] = (zone < 0 ? text : text.slice(0, zone)).split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  return [...before, ...new Array<number>(groupCount - before.length - after.length).fill(0), ...after];
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text
    .split(':')
    .flatMap((group) => (group.includes('.') ? groupsOfIpv4(group) : [Number.parseInt(group, 16)]));
}

function groupsOfIpv4(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** Whether this is an address of IPv4. */
export function isMapped(address: IpAddress): boolean {
  return mappedPrefix.every((group, index) => address[index] === group);
}

/** Writes an address in one way: IPv4 in dotted decimal, IPv6 as eight groups in lower case without leading zeros. */
export function formatIpAddress(address: IpAddress): string {
  if (!isMapped(address)) return address.map((group) => group.toString(16)).join(':');
  return address
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** All addresses that begin with the same bits. */
export interface IpNetwork {
  readonly address: IpAddress;
  readonly bits: number;
}

/** Reads `10.0.0.0/8`, `fd00::/8` (RFC 4632 §3.1, RFC 4291 §2.3) or one address; gives what is wrong as half a sentence. */
export function parseIpNetwork(text: string): IpNetwork | string {
  const [, written = '', length] = /^([^/%]*)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const address = parseIpAddress(written);
  const offset = isIPv4(written) ? mappedBits : 0;
  const bits = length === undefined ? groupCount * groupBits : offset + Number(length);
  if (address === undefined || bits > groupCount * groupBits)
    return 'is not a network such as 10.0.0.0/8 or fd00::/8';
  const network = { address: masked(address, bits), bits };
  // Whoever writes 10.1.2.3/8 may have meant one host, and would get sixteen million.
  if (network.address.some((group, index) => group !== address[index]))
    return `has bits set behind its prefix; the network is ${formatIpAddress(network.address)}/${bits - offset}`;
  return network;
}

/** Whether the address is in the network. Those of IPv4 are in networks of IPv4 only, so `::/0` does not hold them. */
export function contains(network: IpNetwork, address: IpAddress): boolean {
  if (network.bits < mappedBits && isMapped(address)) return false;
  return network.address.every((group, index) => maskedGroup(address, index, network.bits) === group);
}

/** The address with all but its first bits cleared. */
export function masked(address: IpAddress, bits: number): IpAddress {
  return address.map((_, index) => maskedGroup(address, index, bits));
}

function maskedGroup(address: IpAddress, index: number, bits: number): number {
  const cleared = groupBits - Math.min(groupBits, Math.max(0, bits - index * groupBits));
  return ((address[index] ?? 0) >> cleared) << cleared;
}
