import { isIPv6Literal } from './syntax/ip-address.ts';
import { isEscape, isNameCharacter } from './syntax/uri-character.ts';

const colon = 0x3a;
const openBracket = 0x5b;

/**
 * Returns whether the value is a host with an optional port (RFC 9110 §7.2): a registered name, an IPv4 address, or an IPv6 or
 * later address in brackets (RFC 3986 §3.2.2). The host must not be empty; the port may be, and is at most 65535.
 */
export function isValidHost(value: string): boolean {
  const end = value.charCodeAt(0) === openBracket ? literalEnd(value) : nameEnd(value);
  if (end <= 0) return false;
  return end === value.length || (value.charCodeAt(end) === colon && isPort(value, end + 1));
}

/** Returns an authority without the default port of its scheme, and without the colon of an empty port (RFC 9110 §4.2.3). */
export function removeDefaultPort(authority: string, secure: boolean): string {
  return authority.replace(secure ? /:(?:443)?$/ : /:(?:80)?$/, '');
}

/** Returns an authority without its port, and with it: its own, or the default one of the scheme. */
export function hostForms(host: string, secure: boolean): [withoutPort: string, withPort: string] {
  const [, name = host, port] = /^(\[[^\]]*\]|[^:]*):(\d*)$/.exec(host) ?? [];
  return [name, `${name}:${port || (secure ? '443' : '80')}`];
}

/** Returns whether the value from `start` on is a port number or empty. */
function isPort(value: string, start: number): boolean {
  let port = 0;
  for (let at = start; at < value.length; at += 1) {
    const digit = value.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return false;
    port = port * 10 + digit;
  }
  return value.length <= start + 5 && port <= 65_535;
}

/** Returns where a registered name ends. An IPv4 address is one as well, so one scan covers both. */
function nameEnd(value: string): number {
  let at = 0;
  while (at < value.length) {
    if (isNameCharacter(value.charCodeAt(at))) at += 1;
    else if (isEscape(value, at)) at += 3;
    else return at;
  }
  return at;
}

function literalEnd(value: string): number {
  const close = value.indexOf(']');
  if (close < 0) return -1;
  const address = value.slice(1, close);
  return isIPv6Literal(address) || isFutureAddress(address) ? close + 1 : -1;
}

function isFutureAddress(address: string): boolean {
  return /^v[0-9a-f]+\.[0-9a-z\-._~!$&'()*+,;=:]+$/i.test(address);
}
