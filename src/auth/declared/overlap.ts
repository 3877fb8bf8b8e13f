// Finds schemes of which one accepts signatures of the other. Loaded only by `countersign check`.
import { octets, parseBodyDigest, type TemplatePart } from '../../signature/declared/template.ts';
import type { TimestampUnit } from '../../signature/declared/timestamp.ts';
import type { ConfiguredScheme } from '../configured-schemes.ts';
import type { DeclaredOptions } from './options.ts';

/** A set of octets, one of which, or any number of which, a message has at a place. */
interface Unit {
  readonly octets: ReadonlySet<number>;
  readonly isRepeated: boolean;
}

/** The messages that a scheme signs with the secret of a user. */
interface Signing {
  readonly name: string;
  /** The hash and the form of the key. Signatures of others are different. */
  readonly keyed: string;
  readonly messages: readonly Unit[];
  /** The name of the only user, or the id of its key; undefined for any user. */
  readonly user: string | undefined;
}

/** Two schemes with messages that are the same for two requests. */
export interface Overlap {
  readonly schemes: readonly [one: string, other: string];
  /** The only user of one of the schemes; undefined if any user can sign with both. */
  readonly user: string | undefined;
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);
const toOctetSet = (text: string): ReadonlySet<number> => new Set(Buffer.from(text, 'latin1'));
const any = new Set(range(0, 255));
const visible = new Set(range(0x21, 0x7e));
/** The octets of field values (RFC 9110 §5.5). */
const inField = new Set([0x09, ...range(0x20, 0x7e), ...range(0x80, 0xff)]);
const digits = toOctetSet('0123456789');
const letters = [...range(0x41, 0x5a), ...range(0x61, 0x7a)];
/** The octets of methods that a resource may implement. */
const inMethod = new Set([...letters, ...toOctetSet('-')]);
const inBase64 = new Set([...letters, ...digits, ...toOctetSet('+/=')]);

/** Returns the pairs of schemes that have a message in common. */
export function overlaps(schemes: readonly ConfiguredScheme[]): Overlap[] {
  const all = [hmac, ...schemes.flatMap(listSignings)];
  return all.flatMap((one, at) =>
    all.slice(at + 1).flatMap((other): Overlap[] => {
      const isSameUser = one.user === undefined || other.user === undefined || one.user === other.user;
      if (!isSameUser || one.keyed !== other.keyed || !intersect(one.messages, other.messages)) return [];
      return [{ schemes: [one.name, other.name], user: one.user ?? other.user }];
    }),
  );
}

/** The simple form, and the full one, which continues after the target. */
const hmac: Signing = {
  name: 'hmac',
  keyed: 'sha256 utf8',
  messages: [...some(inMethod), ...literal('+/'), ...maybe(inField)],
  user: undefined,
};

function listSignings(scheme: ConfiguredScheme): Signing[] {
  const { name } = scheme;
  // A signature base begins with the name of a component (RFC 9421 §2.5).
  if (scheme.kind === 'message-signatures')
    return [{ name, keyed: 'sha256 utf8', messages: [...literal('"'), ...maybe(any)], user: undefined }];
  if (scheme.kind !== 'declared') return [];
  const { options } = scheme;
  const { message, algorithm, hash, key, user } = options;
  // Signatures of other kinds are different, and are made with other keys.
  if (algorithm !== 'hmac') return [];
  const messages = message.flatMap((part) => listUnits(part, options));
  return [{ name, keyed: `${hash} ${key}`, messages, user: typeof user === 'string' ? user : undefined }];
}

function listUnits(part: TemplatePart, { user, timestamp }: DeclaredOptions): Unit[] {
  switch (part.kind) {
    case 'literal':
      return literal(part.text);
    case 'method':
    case 'method-lower':
      return some(inMethod);
    case 'target':
    case 'path':
      return [...literal('/'), ...maybe(visible)];
    case 'url':
      return [...literal('http'), ...some(visible)];
    case 'query':
    case 'query-sorted':
      return maybe(visible);
    case 'host':
    case 'nonce':
    case 'id':
      return some(visible);
    case 'user':
    case 'key-id':
      return typeof user === 'string' ? literal(octets(user)) : some(any);
    case 'timestamp':
      return some(timestampOctets[timestamp?.unit ?? 's']);
    case 'body':
    case 'form-sorted':
      return maybe(any);
    case 'field':
      return maybe(inField);
    case 'json':
    case 'secret':
      return maybe(any);
    default:
      return some(
        parseBodyDigest(part.kind)?.encoding === 'base64' ? inBase64 : toOctetSet('0123456789abcdef'),
      );
  }
}

const timestampOctets: Readonly<Record<TimestampUnit, ReadonlySet<number>>> = {
  s: digits,
  'fractional-s': new Set([...digits, ...toOctetSet('.')]),
  ms: digits,
  rfc3339: new Set([...digits, ...toOctetSet('TZ:.+-')]),
  'http-date': new Set([...letters, ...digits, ...toOctetSet(' ,:')]),
};

function literal(text: string): Unit[] {
  return [...Buffer.from(text, 'latin1')].map((octet) => ({ octets: new Set([octet]), isRepeated: false }));
}

function maybe(set: ReadonlySet<number>): Unit[] {
  return [{ octets: set, isRepeated: true }];
}

function some(set: ReadonlySet<number>): Unit[] {
  return [{ octets: set, isRepeated: false }, ...maybe(set)];
}

/** Returns whether some text has both forms. Visits each pair of places once. */
function intersect(one: readonly Unit[], other: readonly Unit[]): boolean {
  const width = other.length + 1;
  const seen = new Set<number>();
  const pending = [0];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (seen.has(place)) continue;
    seen.add(place);
    const [at, otherAt] = [Math.floor(place / width), place % width];
    const [unit, otherUnit] = [one[at], other[otherAt]];
    if (unit === undefined && otherUnit === undefined) return true;
    if (unit?.isRepeated === true) pending.push(place + width);
    if (otherUnit?.isRepeated === true) pending.push(place + 1);
    if (unit === undefined || otherUnit === undefined) continue;
    if (![...unit.octets].some((octet) => otherUnit.octets.has(octet))) continue;
    pending.push(place + (unit.isRepeated ? 0 : width) + (otherUnit.isRepeated ? 0 : 1));
  }
  return false;
}

/** A user, its keys, and the schemes to which it is limited. */
interface User {
  readonly keys?: Readonly<Record<string, unknown>> | undefined;
  readonly schemes?: readonly string[] | undefined;
}

/** Returns a warning, in one line, for each pair of schemes with messages in common that one user can use. */
export function overlapWarnings(
  schemes: readonly ConfiguredScheme[],
  users: ReadonlyMap<string, User>,
): string[] {
  return overlaps(schemes).flatMap(({ schemes: both, user: only }) => {
    const able = [...users].filter(([name, { keys = {}, schemes: permitted }]) => {
      const isNamed = only === undefined || only === name || Object.hasOwn(keys, only);
      return isNamed && both.every((scheme) => permitted === undefined || permitted.includes(scheme));
    });
    const [first, ...more] = able.map(([name]) => name);
    if (first === undefined) return [];
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    const advice = 'limit the user with "schemes", or use another secret';
    return `the schemes ${both.join(' and ')} have messages in common, so a signature of one can be valid in the other with the secret of the user ${first}${others}; ${advice}`;
  });
}
