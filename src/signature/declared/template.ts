import { toOctets } from '../../http/syntax/octets.ts';
import { parsePointer } from './places.ts';

/** The hash functions of digests of the content. */
const bodyHashes = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;

/** A digest of the content in a message: `{body-sha512-base64}`. */
type BodyDigestName = `body-${(typeof bodyHashes)[number]}-${'hex' | 'base64'}`;

const bodyDigests = bodyHashes.flatMap((hash): BodyDigestName[] => [
  `body-${hash}-hex`,
  `body-${hash}-base64`,
]);

/** The placeholders of a message, except `{field:NAME}` and `{json:POINTER}`. `{body-sha256}` is the same as `{body-sha256-hex}`. */
export const placeholders = [
  'method',
  'method-lower',
  'target',
  'path',
  'query',
  'query-sorted',
  'url',
  'host',
  'user',
  'key-id',
  'timestamp',
  'nonce',
  'body',
  'body-sha256',
  ...bodyDigests,
  'form-sorted',
  'id',
  'secret',
] as const;

/** The name of a placeholder without a parameter. */
type PlaceholderName = (typeof placeholders)[number];

/** A part of a template. A literal is encoded in UTF-8; each character is one octet. */
export type TemplatePart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: PlaceholderName }
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'json'; readonly pointer: string };

/** A parsed message template: at least one placeholder. Two literals are never adjacent. */
export type Template = readonly TemplatePart[];

/** A fault of a template. */
interface TemplateFault {
  readonly fault: string;
  /** The unknown placeholder, if that is the fault. */
  readonly unknown?: string;
}

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
    if (open > at) parts.push({ kind: 'literal', text: toOctets(text.slice(at, open)) });
    if (open === text.length) break;
    const close = text.charAt(open) === '{' ? text.indexOf('}', open) : -1;
    if (close < 0) return { fault: `the brace at position ${open + 1} is not part of a placeholder` };
    const part = parsePlaceholder(text.slice(open + 1, close));
    if ('fault' in part) return part;
    parts.push(part);
    at = close + 1;
  }
  return parts.some(({ kind }) => kind !== 'literal') ? parts : { fault: 'a message has a placeholder' };
}

/** Returns the index of the first brace from `at` on; the length of the text if there is none. */
function braceAt(text: string, at: number): number {
  let index = at;
  while (index < text.length && text.charAt(index) !== '{' && text.charAt(index) !== '}') index += 1;
  return index;
}

function parsePlaceholder(name: string): TemplatePart | TemplateFault {
  const kind = placeholders.find((known) => known === name);
  if (kind !== undefined) return { kind };
  if (name.startsWith('json:')) {
    const pointer = name.slice('json:'.length);
    return parsePointer(pointer) === undefined
      ? { fault: `${JSON.stringify(pointer)} is not a JSON Pointer (RFC 6901), such as /event/id` }
      : { kind: 'json', pointer };
  }
  if (!name.startsWith('field:')) return { fault: `{${name}} is not a placeholder`, unknown: name };
  const field = name.slice('field:'.length);
  return token.test(field)
    ? { kind: 'field', field }
    : { fault: `${JSON.stringify(field)} is not a field name` };
}

/** Returns the name of a part as a template contains it: `path`, `field:X-Tenant`. A literal has no name. */
export function partName(part: TemplatePart): string {
  if (part.kind === 'json') return `json:${part.pointer}`;
  return part.kind === 'field' ? `field:${part.field}` : part.kind;
}

/** Returns whether the message contains a placeholder. */
export function covers(template: Template, kind: TemplatePart['kind']): boolean {
  return template.some((part) => part.kind === kind);
}

/** Returns the hash and the encoding of a digest of the content; undefined for another part. */
export function parseBodyDigest(
  kind: TemplatePart['kind'],
): { readonly hash: string; readonly encoding: 'hex' | 'base64' } | undefined {
  const [, hash, encoding] = /^body-([a-z0-9]+)(?:-(hex|base64))?$/.exec(kind) ?? [];
  return hash === undefined ? undefined : { hash, encoding: encoding === 'base64' ? 'base64' : 'hex' };
}

/** Returns whether a part is computed from the content. */
function isOfContent({ kind }: TemplatePart): boolean {
  return kind.startsWith('body') || kind === 'form-sorted' || kind === 'json';
}

/** Returns whether a message contains something that is computed from the content. */
export function coversContent(template: Template): boolean {
  return template.some(isOfContent);
}
