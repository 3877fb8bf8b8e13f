// The signature base string (RFC 5849 §3.4.1) in named parts. Each character is one octet.

import type { Parameter } from '../../http/form.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import { octetsOfPiece, type Part, type PartKind } from '../../schemes/message.ts';
import { encodePair, formatBaseUri, normalizePairs } from '../../schemes/oauth1/base-string.ts';
import { isProtocol } from './parameters.ts';
import type { OAuth1Presented } from './presented.ts';

const ampersand: Part = { kind: 'text', name: '', value: '&' };
const afterScheme: Part = { kind: 'text', name: '', value: '://' };

/** The kinds of the protocol parameters that have mistakes of their own, with their names in explanations. */
const kinds: ReadonlyMap<string, Pick<Part, 'kind' | 'name'>> = new Map([
  ['oauth_consumer_key', { kind: 'user', name: 'consumer key' }],
  ['oauth_token', { kind: 'id', name: 'token' }],
  ['oauth_timestamp', { kind: 'time', name: 'timestamp' }],
  ['oauth_nonce', { kind: 'nonce', name: 'nonce' }],
]);

const parameterNames: ReadonlyMap<PartKind, string> = new Map(
  [...kinds].map(([name, { kind }]) => [kind, name]),
);

/**
 * Returns the parts: method; scheme, host and path of the base string URI; each protocol parameter; and the other parameters of
 * query and form, encoded once.
 *
 * @param origin Scheme and authority that the client addressed.
 */
export function baseStringParts(
  { request, parameters: { signed, form = [] } }: OAuth1Presented,
  origin: string,
): Part[] {
  const uri = formatBaseUri(origin, splitTarget(request.target).path);
  const colon = uri.indexOf(':');
  const slash = uri.indexOf('/', colon + 3);
  const parts: Part[] = [
    { kind: 'method', name: 'method', value: request.method.toUpperCase() },
    ampersand,
    { kind: 'other', name: 'scheme', value: uri.slice(0, colon) },
    afterScheme,
    { kind: 'host', name: 'host', value: uri.slice(colon + 3, slash) },
    { kind: 'path', name: 'path', value: uri.slice(slash) },
    ampersand,
  ];
  const query = addParameters(signed, parts);
  const content = addParameters(form, parts);
  if (query !== '') parts.push({ kind: 'query', name: 'query parameters', value: query });
  if (content !== '') parts.push({ kind: 'other', name: 'form parameters', value: content });
  return parts;
}

/**
 * Returns the parts of the base string with `oauth_body_hash` as it is, not percent-encoded; undefined without this parameter. The
 * signers of Mastercard make it so. The digits of base64 contain no `&`, so it stays clear where each parameter ends.
 */
export function withPlainBodyHash(parts: readonly Part[]): Part[] | undefined {
  const at = parts.findIndex(({ name }) => name === bodyHashName);
  const hash = octetsOfPiece(parts[at]?.value ?? '');
  if (!/^[A-Za-z0-9+/]{2,}={0,2}$/.test(hash)) return undefined;
  return parts.with(at, { kind: 'other', name: 'body hash parameters', value: `${bodyHashName}=${hash}` });
}

const bodyHashName = 'oauth_body_hash';

/** Adds the protocol parameters to the parts, and returns the others, encoded and joined. */
function addParameters(parameters: readonly Parameter[], parts: Part[]): string {
  let others = '';
  for (const parameter of parameters) {
    const [name, value] = parameter;
    if (!isProtocol(parameter)) others += `${others === '' ? '' : '&'}${encodePair(parameter)}`;
    else if (name !== 'oauth_signature') {
      const { kind, name: label } = kinds.get(name) ?? { kind: 'other', name };
      parts.push({ kind, name: label, value });
    }
  }
  return others;
}

/** Returns the base string of parts. Some may be missing; the parameters stand where the first one is, sorted. */
export function assemble(parts: readonly Part[]): readonly string[] {
  const pairs = pairsIn(parts);
  let text = '';
  let areAdded = false;
  for (const part of parts) {
    const { kind, value } = part;
    if (isParameter(part)) {
      if (!areAdded) text += encodeOctets(normalizePairs(pairs));
      areAdded = true;
    } else if (kind !== 'text' || value === afterScheme.value) text += encodeOctets(octetsOfPiece(value));
    else if (!areAdded) text += octetsOfPiece(value);
  }
  return [text];
}

function isParameter(part: Part): boolean {
  return part.name.endsWith(' parameters') || protocolName(part) !== undefined;
}

/** Returns the name of the protocol parameter that a part is; undefined if it is none. */
function protocolName({ kind, name }: Part): string | undefined {
  return parameterNames.get(kind) ?? (name.startsWith('oauth_') ? name : undefined);
}

/** Returns the parameters among the parts as encoded pairs, in the order of the parts. */
export function pairsIn(parts: readonly Part[]): string[] {
  const pairs: string[] = [];
  for (const part of parts) {
    const name = protocolName(part);
    if (name !== undefined) pairs.push(`${name}=${encodeOctets(octetsOfPiece(part.value))}`);
    else if (part.name.endsWith(' parameters') && part.value !== '')
      pairs.push(...octetsOfPiece(part.value).split('&'));
  }
  return pairs;
}
