// The signature base string (RFC 5849 §3.4.1) in named parts. Each character is one octet.
import { octetsOfPiece, type Part, type PartKind } from '../../signature/message.ts';
import { baseUriOf, encodePair, normalizePairs } from '../../signature/oauth1.ts';
import { encodeOctets, type Parameter } from '../../signature/oauth1-parameters.ts';
import { isProtocol } from './parameters.ts';
import type { OAuth1Presented } from './presented.ts';

const ampersand: Part = { kind: 'text', name: '', value: '&' };
const afterScheme: Part = { kind: 'text', name: '', value: '://' };

/** The kinds of the protocol parameters that have mistakes of their own, with their names in explanations. */
const kinds: Readonly<Record<string, Pick<Part, 'kind' | 'name'>>> = {
  oauth_consumer_key: { kind: 'user', name: 'consumer key' },
  oauth_token: { kind: 'id', name: 'token' },
  oauth_timestamp: { kind: 'time', name: 'timestamp' },
  oauth_nonce: { kind: 'nonce', name: 'nonce' },
};

const parameterNames: Partial<Readonly<Record<PartKind, string>>> = {
  user: 'oauth_consumer_key',
  id: 'oauth_token',
  time: 'oauth_timestamp',
  nonce: 'oauth_nonce',
};

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
  const { method, target } = request;
  // The absolute form (RFC 9112 §3.2.2) has the path after the authority.
  const path = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/\?.*$/s, '');
  const uri = baseUriOf(origin, path);
  const colon = uri.indexOf(':');
  const slash = uri.indexOf('/', colon + 3);
  const parts: Part[] = [
    { kind: 'method', name: 'method', value: method.toUpperCase() },
    ampersand,
    { kind: 'other', name: 'scheme', value: uri.slice(0, colon) },
    afterScheme,
    { kind: 'host', name: 'host', value: uri.slice(colon + 3, slash) },
    { kind: 'path', name: 'path', value: uri.slice(slash) },
    ampersand,
  ];
  for (const parameters of [signed, form])
    for (const [name, value] of parameters)
      if (isProtocol([name, value]) && name !== 'oauth_signature')
        parts.push({ kind: kinds[name]?.kind ?? 'other', name: kinds[name]?.name ?? name, value });
  const query = joinOthers(signed);
  if (query !== '') parts.push({ kind: 'query', name: 'query parameters', value: query });
  const content = joinOthers(form);
  if (content !== '') parts.push({ kind: 'other', name: 'form parameters', value: content });
  return parts;
}

function joinOthers(parameters: readonly Parameter[]): string {
  const pairs: string[] = [];
  for (const parameter of parameters) if (!isProtocol(parameter)) pairs.push(encodePair(parameter));
  return pairs.join('&');
}

/** Returns the base string of parts. Some may be missing; the parameters stand where the first one is, sorted. */
export function assemble(parts: readonly Part[]): readonly string[] {
  const first = parts.findIndex(isParameter);
  let text = '';
  for (const [at, part] of parts.entries()) {
    const octets = octetsOfPiece(part.value);
    if (at === first) text += encodeOctets(normalizePairs(pairsIn(parts)));
    else if (part.kind !== 'text') text += isParameter(part) ? '' : encodeOctets(octets);
    else if (first < 0 || at < first) text += octets === '://' ? encodeOctets(octets) : octets;
  }
  return [text];
}

function isParameter(part: Part): boolean {
  return protocolName(part) !== undefined || part.name.endsWith(' parameters');
}

/** Returns the name of the protocol parameter that a part is; undefined if it is none. */
function protocolName({ kind, name }: Part): string | undefined {
  return parameterNames[kind] ?? (name.startsWith('oauth_') ? name : undefined);
}

/** Returns the parameters among the parts as encoded pairs, in the order of the parts. */
export function pairsIn(parts: readonly Part[]): string[] {
  const pairs: string[] = [];
  for (const part of parts) {
    const octets = octetsOfPiece(part.value);
    const name = protocolName(part);
    if (name !== undefined) pairs.push(`${name}=${encodeOctets(octets)}`);
    else if (part.name.endsWith(' parameters') && octets !== '') pairs.push(...octets.split('&'));
  }
  return pairs;
}
