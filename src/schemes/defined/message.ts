// What `parse` and `message` of a definition return, checked.

import { maxKeyIdLength } from '../../accounts/parse-account-key.ts';
import { hasControlCharacter } from '../../http/syntax/control-character.ts';
import { toOctets, toReadable } from '../../http/syntax/octets.ts';
import { type Part, type PartKind, type Piece, publicKinds } from '../message.ts';
import type { Fault } from '../scheme.ts';
import type { Definition, ReadCredentials, SchemeMessagePart, SchemePartKind } from './definition.ts';

/** The longest signature, in characters. */
const maxSignatureLength = 8192;

/**
 * Reads what `parse` returned. Returns an error if that is no fault of the client.
 * @param usesBody Whether `parse` used the content, in which something may be missing.
 */
export function readCredentials(
  parsed: unknown,
  definition: Definition,
  usesBody: boolean,
): ReadCredentials | Fault | TypeError {
  if (typeof parsed !== 'object' || parsed === null) return new TypeError('parse returned no object');
  const members: Record<string, unknown> = { user: undefined, signature: undefined, ...parsed };
  const claimed = typeof members['user'] === 'string' ? { claimed: members['user'] } : {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && value !== null && value !== '') continue;
    if (name === 'nonce' && (definition.nonce ?? 'required') !== 'required') members[name] = '';
    else
      return {
        detail: `The ${name} is missing.`,
        hint: `it is expected in ${namePlaces(definition, usesBody)}`,
        ...claimed,
      };
  }
  for (const name of ['date', 'expires']) {
    if (!(name in members)) continue;
    const time = toTime(members[name]);
    if (Number.isNaN(time)) return { detail: `The ${name} cannot be read.`, ...claimed };
    members[name] = time;
  }
  const { user, signature, nonce, date, expires, ...others } = members;
  if (typeof user !== 'string' || typeof signature !== 'string')
    return new TypeError('parse returned a user or a signature that is not text');
  if (nonce !== undefined && typeof nonce !== 'string')
    return new TypeError('parse returned a nonce that is not text');
  if (user.length > maxKeyIdLength || hasControlCharacter(user))
    return { detail: 'The user is not the name of a user.' };
  if (nonce !== undefined && !/^[!-~]{0,128}$/.test(nonce))
    return { detail: 'The nonce is not 1 to 128 visible ASCII characters.', ...claimed };
  if (signature.length > maxSignatureLength) return { detail: 'The signature is too long.', ...claimed };
  return {
    ...others,
    user,
    signature,
    ...(nonce !== undefined && { nonce }),
    ...(typeof date === 'number' && { date }),
    ...(typeof expires === 'number' && { expires }),
  };
}

function namePlaces({ headers = [], query = [] }: Definition, usesBody: boolean): string {
  return [
    ...(headers.length === 0 ? [] : [`the fields ${headers.join(', ')}`]),
    ...(query.length === 0 ? [] : [`the query parameters ${query.join(', ')}`]),
    ...(usesBody ? ['the content'] : []),
  ].join(' or ');
}

/** Returns a time in ms; NaN if it is malformed. Text must have a zone: the host's own would depend on the host. */
function toTime(value: unknown): number {
  if (typeof value === 'number') return new Date(value).getTime() === Math.trunc(value) ? value : Number.NaN;
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' && /(?:Z|GMT|UTC|[+-]\d\d:?\d\d)$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
}

const kindsByName: ReadonlyMap<string, PartKind> = new Map<string, PartKind>([
  ['', 'text'],
  ['body', 'content'],
  ...publicKinds.map((kind) => [kind, kind] as const),
]);

/** Returns the parts of a message, with a joining text between them. Throws TypeError if they are malformed. */
export function readParts(message: readonly SchemeMessagePart[], join: Definition['join']): readonly Part[] {
  if (!Array.isArray(message)) throw new TypeError('message returned no list of parts');
  const parts = message.map(toPart);
  if (typeof join !== 'string' || join === '') return parts;
  const text: Part = { kind: 'text', name: '', value: toOctets(join) };
  return parts.flatMap((part, at) => (at === 0 ? [part] : [text, part]));
}

function toPart(part: SchemeMessagePart): Part {
  const [name, value, kind = name] = part;
  if (typeof name !== 'string') throw new TypeError('message returned a part without a name');
  return { kind: kindsByName.get(kind) ?? 'other', name, value: toPiece(value, name) };
}

function toPiece(value: unknown, name: string): Piece {
  if (typeof value === 'string') return toOctets(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`message returned the part ${JSON.stringify(name)}, which is neither text nor bytes`);
}

/**
 * Returns what is wrong with a nonce or an id that contains the text beside it: it could extend another part, so that two requests
 * have the same message.
 */
export function findExtension(parts: readonly Part[]): string | undefined {
  for (const [at, { kind, name, value }] of parts.entries()) {
    if (kind !== 'nonce' && kind !== 'id') continue;
    for (const beside of [parts[at - 1], parts[at + 1]]) {
      if (beside?.kind !== 'text' || typeof beside.value !== 'string' || typeof value !== 'string') continue;
      if (beside.value !== '' && value.includes(beside.value))
        return `The ${name} contains ${JSON.stringify(beside.value)}, which separates the parts of the message.`;
    }
  }
  return undefined;
}

/** Returns the octets that are signed. */
export function joinParts(parts: readonly Part[], { join }: Definition): readonly Piece[] {
  if (typeof join !== 'function') return parts.map(({ value }) => value);
  const joined = join(
    parts.map(({ kind, name, value }): SchemeMessagePart => {
      const text = typeof value === 'string' ? toReadable(value) : value;
      const known = toPublicKind(kind);
      return known === undefined ? [name, text] : [name, text, known];
    }),
  );
  return [toPiece(joined, 'join')];
}

function toPublicKind(kind: PartKind): SchemePartKind | undefined {
  return kind === 'content' ? 'body' : publicKinds.find((each) => each === kind);
}
