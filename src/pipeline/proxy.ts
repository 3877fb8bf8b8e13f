// Restores what the client sent, before any other step sees the request: its connection, and with a base path its target. So
// signatures and paths in responses need no further rule. Only the router ignores the prefix, and constant paths pass
// `pathForClient`.
import type { HttpHeaders } from '../http/fields.ts';
import {
  type Hop,
  parseForwarded,
  parseForwardedFor,
  parseForwardedProto,
} from '../http/headers/forwarded.ts';
import type { IncomingRequest } from '../http/message.ts';
import {
  contains,
  formatIpAddress,
  type IpNetwork,
  parseIpAddress,
  parseIpNetwork,
} from '../http/syntax/ip-address.ts';
import type { Target } from '../http/target.ts';

/** The client's connection to the first trusted proxy, as the trusted proxies report it. */
interface Origin {
  /** The client's address; undefined if it is not reported. */
  readonly peer: string | undefined;
  /** Whether the client used TLS; undefined if it is not reported. */
  readonly secure: boolean | undefined;
}

/** Used if the fields are malformed or contradict each other: the least favourable assumption. */
const untrustworthy: Origin = { peer: undefined, secure: false };
const unreported: Origin = { peer: undefined, secure: undefined };

type Trusts = (address: string) => boolean;

/**
 * Creates a function that restores the client's connection in requests from trusted proxies, which are given as networks (CIDR).
 * `secure` and `peer` are taken from Forwarded (RFC 7239), or X-Forwarded-Proto and X-Forwarded-For. In requests from other
 * peers these fields are ignored. Throws RangeError on a malformed network.
 */
export function createForwardedRewrite(
  networks: readonly string[],
): (request: IncomingRequest) => IncomingRequest {
  const trusted = networks.map(parseNetwork);
  const trusts: Trusts = (text) => {
    const address = parseIpAddress(text);
    return address !== undefined && trusted.some((network) => contains(network, address));
  };
  return (request) => {
    const { headers: fields, connection } = request;
    if (!trusts(connection.peer)) return request;
    const { peer, secure } = readOrigin(fields, trusts);
    const asSent = { ...connection, peer: peer ?? connection.peer, secure: secure ?? connection.secure };
    return { ...request, connection: asSent };
  };
}

/** Returns whether a text is a path prefix: `/api/v1`, without escapes, dot segments and a slash at the end. */
export function isBasePath(text: string): boolean {
  return /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/.test(text);
}

/** Scheme and authority of a target in absolute form with a path (RFC 9112 §3.2.2). */
const authorityForm = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*(?=\/)/;

/**
 * Creates a function that restores the target that the client sent, from which a proxy removed a path prefix. The asterisk form, an
 * absolute form without a path and malformed targets stay. Throws RangeError on a malformed prefix.
 */
export function createBasePathRewrite(basePath: string): (request: IncomingRequest) => IncomingRequest {
  if (!isBasePath(basePath))
    throw new RangeError(
      `${JSON.stringify(basePath)} is not a base path such as /api, without a slash at the end`,
    );
  return (request) => {
    const { target } = request;
    if (target.startsWith('/')) return { ...request, target: basePath + target, basePath };
    const authority = authorityForm.exec(target)?.[0];
    if (authority === undefined) return request;
    return { ...request, target: authority + basePath + target.slice(authority.length), basePath };
  };
}

/** Returns the segments of a target without the prefix that a proxy removes, which the routes do not have. */
export function segmentsForRouter({ segments }: Target, { basePath }: IncomingRequest): readonly string[] {
  return basePath === undefined ? segments : segments.slice(basePath.split('/').length - 1);
}

/** Returns what is wrong with the proxy if a target has the prefix twice; otherwise ''. */
export function basePathAdvice({ path }: Target, { basePath }: IncomingRequest): string {
  if (basePath === undefined || !path.startsWith(`${basePath}${basePath}/`)) return '';
  return ` The proxy did not remove the base path ${basePath}.`;
}

/** Returns a path of this server as its clients address it: with the prefix that a proxy removes. */
export function pathForClient({ basePath = '' }: Pick<IncomingRequest, 'basePath'>, path: string): string {
  return basePath + path;
}

function parseNetwork(text: string): IpNetwork {
  const network = parseIpNetwork(text);
  if (typeof network === 'string') throw new RangeError(`${JSON.stringify(text)} ${network}`);
  return network;
}

/** If both kinds of field are present, the client may have forged one of them. If they contradict each other, neither counts. */
function readOrigin(fields: HttpHeaders, trusts: Trusts): Origin {
  const forwarded = fields.get('forwarded');
  const addresses = fields.get('x-forwarded-for');
  const proto = fields.get('x-forwarded-proto');
  const standard = forwarded === undefined ? unreported : originIn(parseForwarded(forwarded), trusts);
  if (addresses === undefined && proto === undefined) return standard;
  const other = originIn(parseHops(addresses, proto), trusts);
  if (differ(standard.peer, other.peer)) return untrustworthy;
  const secure = differ(standard.secure, other.secure) ? false : (standard.secure ?? other.secure);
  return { peer: standard.peer ?? other.peer, secure };
}

function differ<T>(one: T | undefined, other: T | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Returns the hops in X-Forwarded-For; X-Forwarded-Proto applies to all of them. Returns undefined if one is malformed. */
function parseHops(addresses: string | undefined, proto: string | undefined): readonly Hop[] | undefined {
  const scheme = proto === undefined ? undefined : parseForwardedProto(proto);
  const list = addresses === undefined ? [undefined] : parseForwardedFor(addresses);
  if (list === undefined || (proto !== undefined && scheme === undefined)) return undefined;
  return list.map((from) => ({ from, proto: scheme }));
}

/**
 * Follows the hops back from the last one as long as each was reported by a trusted proxy; anything before may be forged. If one
 * of them reports the scheme, all must, and it must be https.
 */
function originIn(hops: readonly Hop[] | undefined, trusts: Trusts): Origin {
  if (hops === undefined) return untrustworthy;
  const trusted: Hop[] = [];
  for (const hop of hops.toReversed()) {
    trusted.push(hop);
    if (hop.from === undefined || !trusts(hop.from)) break;
  }
  const peer = trusted.findLast(({ from }) => from !== undefined)?.from;
  const silent = trusted.every(({ proto }) => proto === undefined);
  return {
    peer: peer === undefined ? undefined : canonical(peer),
    secure: silent ? undefined : trusted.every(({ proto }) => proto === 'https'),
  };
}

/** Returns an address in its canonical form, so that two can be compared. */
function canonical(text: string): string {
  const address = parseIpAddress(text);
  return address === undefined ? text : formatIpAddress(address);
}
