import { createHash } from 'node:crypto';
import { type HashName, hashNames } from '../../algorithms.ts';
import { octetsOf, toOctets } from '../../http/syntax/octets.ts';
import { splitTarget } from '../../http/target.ts';
import type { DigestForm, PartKind, Piece } from '../message.ts';
import { formatUrl, type MessageSource, secretPiece, sortForm, sortQuery } from './message.ts';
import { parsePointer } from './place.ts';

/** A part of a template: a placeholder, or literal text. */
interface TemplatePart {
  readonly kind: PartKind;
  /** The name of the placeholder as written: `path`, `field:X-Tenant`. That of literal text is `(text)`. */
  readonly name: string;
  /** Returns the octets that are signed. */
  readonly read: (source: MessageSource) => Piece;
  /** How the digest of the content is written. Only for the kind `digest`. */
  readonly digest?: DigestForm;
  /** The octets of literal text. */
  readonly text?: string;
  /** The name of the field, in `{field:NAME}`. */
  readonly field?: string;
  /** The JSON Pointer, in `{json:POINTER}`. */
  readonly pointer?: string;
}

/** A parsed message template: at least one placeholder. Two literals are never adjacent. */
export type Template = readonly TemplatePart[];

/** A fault of a template. */
interface TemplateFault {
  readonly fault: string;
  /** The unknown placeholder, if that is the fault. */
  readonly unknown?: string;
}

type Row = readonly [name: string, kind: PartKind, read: TemplatePart['read'], digest?: DigestForm];

/** The placeholders of a message, except `{field:NAME}` and `{json:POINTER}`. */
const rows: readonly Row[] = [
  ['method', 'method', ({ request }) => request.method],
  ['method-lower', 'method', ({ request }) => request.method.toLowerCase()],
  ['target', 'target', ({ target }) => target],
  ['path', 'path', ({ target }) => splitTarget(target).path],
  ['query', 'query', ({ target }) => splitTarget(target).query],
  ['query-sorted', 'query', ({ target }) => sortQuery(splitTarget(target).query)],
  ['url', 'url', formatUrl],
  ['host', 'host', ({ host }) => host],
  ['user', 'user', ({ signed }) => signed.user],
  ['key-id', 'user', ({ signed }) => signed.keyId],
  ['timestamp', 'time', ({ signed }) => signed.timestamp],
  ['nonce', 'nonce', ({ signed }) => signed.nonce],
  ['body', 'content', ({ content }) => content],
  digestRow('body-sha256', 'sha256', 'hex'),
  ...hashNames.flatMap((hash) =>
    (['hex', 'base64'] as const).map((encoding) => digestRow(`body-${hash}-${encoding}`, hash, encoding)),
  ),
  ['form-sorted', 'form', ({ hasForm, content }) => (hasForm ? (sortForm(octetsOf(content)) ?? '') : '')],
  ['id', 'id', ({ signed }) => signed.id],
  ['secret', 'secret', () => secretPiece],
];

function digestRow(name: string, hash: HashName, encoding: 'hex' | 'base64'): Row {
  const read = ({ content }: MessageSource) => createHash(hash).update(content).digest(encoding);
  return [name, 'digest', read, { hash, format: (digest) => digest.toString(encoding) }];
}

const byName: ReadonlyMap<string, TemplatePart> = new Map(
  rows.map(([name, kind, read, digest]) => [name, { kind, name, read, ...(digest && { digest }) }]),
);

/** The names of the placeholders, except `{field:NAME}` and `{json:POINTER}`. */
export const placeholders: readonly string[] = [...byName.keys()];

/** The longest template, in characters. */
const maxTemplateLength = 4096;

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Parses a message template: literal text and placeholders in braces. There is no escape for a brace. */
export function parseTemplate(text: string): Template | TemplateFault {
  if (text.length > maxTemplateLength)
    return { fault: `a message has at most ${maxTemplateLength} characters` };
  const parts: TemplatePart[] = [];
  for (let at = 0; at < text.length; ) {
    const open = braceAt(text, at);
    if (open > at) parts.push(createLiteral(toOctets(text.slice(at, open))));
    if (open === text.length) break;
    const close = text.charAt(open) === '{' ? text.indexOf('}', open) : -1;
    if (close < 0) return { fault: `the brace at position ${open + 1} is not part of a placeholder` };
    const part = parsePlaceholder(text.slice(open + 1, close));
    if ('fault' in part) return part;
    parts.push(part);
    at = close + 1;
  }
  return parts.some(({ kind }) => kind !== 'text') ? parts : { fault: 'a message has a placeholder' };
}

/** Returns literal text, encoded in UTF-8; each character is one octet. */
function createLiteral(text: string): TemplatePart {
  return { kind: 'text', name: '(text)', read: () => text, text };
}

/** Returns the index of the first brace from `at` on; the length of the text if there is none. */
function braceAt(text: string, at: number): number {
  let index = at;
  while (index < text.length && text.charAt(index) !== '{' && text.charAt(index) !== '}') index += 1;
  return index;
}

function parsePlaceholder(name: string): TemplatePart | TemplateFault {
  const known = byName.get(name);
  if (known !== undefined) return known;
  if (name.startsWith('json:')) {
    const pointer = name.slice('json:'.length);
    return parsePointer(pointer) === undefined
      ? { fault: `${JSON.stringify(pointer)} is not a JSON Pointer (RFC 6901), such as /event/id` }
      : { kind: 'other', name, pointer, read: ({ json }) => toOctets(json(pointer) ?? '') };
  }
  if (!name.startsWith('field:')) return { fault: `{${name}} is not a placeholder`, unknown: name };
  const field = name.slice('field:'.length);
  const lower = field.toLowerCase();
  return token.test(field)
    ? { kind: 'header', name, field, read: ({ request }) => request.headers.get(lower) ?? '' }
    : { fault: `${JSON.stringify(field)} is not a field name` };
}

/** Returns whether the message contains a placeholder. */
export function covers(template: Template, placeholder: string): boolean {
  return template.some(({ name }) => name === placeholder);
}

/** Returns whether a part contains the content, or a digest or a member of it, whatever form it has. */
export function isOfContent({ kind, pointer }: TemplatePart): boolean {
  return kind === 'content' || kind === 'digest' || pointer !== undefined;
}
