import type { Fields } from '../http/fields.ts';
import {
  type Hop,
  parseForwarded,
  parseForwardedFor,
  parseForwardedProto,
} from '../http/headers/forwarded.ts';
import type { Request } from '../http/message.ts';
import {
  contains,
  formatIpAddress,
  type IpNetwork,
  parseIpAddress,
  parseIpNetwork,
} from '../http/syntax/ip-address.ts';

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
export function createForwardedRewrite(networks: readonly string[]): (request: Request) => Request {
  const trusted = networks.map(networkOf);
  const trusts: Trusts = (text) => {
    const address = parseIpAddress(text);
    return address !== undefined && trusted.some((network) => contains(network, address));
  };
  return (request) => {
    const { method, target, version, fields, body, connection } = request;
    if (!trusts(connection.peer)) return request;
    const { peer, secure } = originOf(fields, trusts);
    const asSent = { peer: peer ?? connection.peer, secure: secure ?? connection.secure };
    return { method, target, version, fields, body, connection: asSent };
  };
}

function networkOf(text: string): IpNetwork {
  const network = parseIpNetwork(text);
  if (typeof network === 'string') throw new RangeError(`${JSON.stringify(text)} ${network}`);
  return network;
}

/** If both kinds of field are present, the client may have forged one of them. If they contradict each other, neither counts. */
function originOf(fields: Fields, trusts: Trusts): Origin {
  const forwarded = fields.get('forwarded');
  const addresses = fields.get('x-forwarded-for');
  const proto = fields.get('x-forwarded-proto');
  const standard = forwarded === undefined ? unreported : originIn(parseForwarded(forwarded), trusts);
  if (addresses === undefined && proto === undefined) return standard;
  const other = originIn(hopsOf(addresses, proto), trusts);
  if (differ(standard.peer, other.peer)) return untrustworthy;
  const secure = differ(standard.secure, other.secure) ? false : (standard.secure ?? other.secure);
  return { peer: standard.peer ?? other.peer, secure };
}

function differ<T>(one: T | undefined, other: T | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Returns the hops in X-Forwarded-For; X-Forwarded-Proto applies to all of them. Returns undefined if one is malformed. */
function hopsOf(addresses: string | undefined, proto: string | undefined): readonly Hop[] | undefined {
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
