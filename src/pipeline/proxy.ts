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

/** How a request came to the first proxy that is trusted, told by all that are. */
interface Origin {
  /** The client's address; undefined where it is not told. */
  readonly peer: string | undefined;
  /** Whether the client used TLS; undefined where it is not told. */
  readonly secure: boolean | undefined;
}

/** Nothing that can be believed: the worst is taken for true. */
const obscure: Origin = { peer: undefined, secure: false };
const untold: Origin = { peer: undefined, secure: undefined };

type Trusts = (address: string) => boolean;

/**
 * Makes what gives a request as its client sent it, where it comes from one of these networks (CIDR): `secure` and
 * `peer` are then what Forwarded (RFC 7239) or X-Forwarded-Proto and X-Forwarded-For say. From everybody else the
 * fields mean nothing. Throws RangeError for a network that is none.
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

/** Where both kinds of field are there, a client may have made one of them up: where they differ, neither counts. */
function originOf(fields: Fields, trusts: Trusts): Origin {
  const forwarded = fields.get('forwarded');
  const addresses = fields.get('x-forwarded-for');
  const proto = fields.get('x-forwarded-proto');
  const standard = forwarded === undefined ? untold : originIn(parseForwarded(forwarded), trusts);
  if (addresses === undefined && proto === undefined) return standard;
  const other = originIn(hopsOf(addresses, proto), trusts);
  if (differ(standard.peer, other.peer)) return obscure;
  const secure = differ(standard.secure, other.secure) ? false : (standard.secure ?? other.secure);
  return { peer: standard.peer ?? other.peer, secure };
}

function differ<T>(one: T | undefined, other: T | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** The hops that X-Forwarded-For tells, X-Forwarded-Proto being that of them all. Undefined when one is malformed. */
function hopsOf(addresses: string | undefined, proto: string | undefined): readonly Hop[] | undefined {
  const scheme = proto === undefined ? undefined : parseForwardedProto(proto);
  const list = addresses === undefined ? [undefined] : parseForwardedFor(addresses);
  if (list === undefined || (proto !== undefined && scheme === undefined)) return undefined;
  return list.map((from) => ({ from, proto: scheme }));
}

/**
 * Goes back from hop to hop as long as a trusted one tells: what stands before that, anybody may have written. If one
 * of them tells the scheme, all must, and it must be https.
 */
function originIn(hops: readonly Hop[] | undefined, trusts: Trusts): Origin {
  if (hops === undefined) return obscure;
  const told: Hop[] = [];
  for (const hop of hops.toReversed()) {
    told.push(hop);
    if (hop.from === undefined || !trusts(hop.from)) break;
  }
  const peer = told.findLast(({ from }) => from !== undefined)?.from;
  const silent = told.every(({ proto }) => proto === undefined);
  return {
    peer: peer === undefined ? undefined : canonical(peer),
    secure: silent ? undefined : told.every(({ proto }) => proto === 'https'),
  };
}

/** In one form, so that the fields can be compared. */
function canonical(text: string): string {
  const address = parseIpAddress(text);
  return address === undefined ? text : formatIpAddress(address);
}
