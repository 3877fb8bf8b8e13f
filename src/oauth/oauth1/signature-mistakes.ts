// Mistakes that clients make when they sign with OAuth 1.0a. Each character of a base string is one octet.
import { createHmac } from 'node:crypto';
import { ExplanationBudget, verificationTime } from '../../auth/explain/budget.ts';
import type { MessagePart, SignatureExplanation } from '../../auth/explanation.ts';
import type { KnownSecret } from '../../auth/trace.ts';
import { queryOf } from '../../http/form.ts';
import type { Request } from '../../http/message.ts';
import {
  baseStringOf,
  isSameSignature,
  keyTextOf,
  type OAuth1Method,
  type OAuth1Request,
} from '../../signature/oauth1.ts';
import {
  encodeOctets,
  octetsOf,
  type Parameter,
  parseFormOctets,
} from '../../signature/oauth1-parameters.ts';
import type { Consumer } from '../clients.ts';

/** A request whose signature is wrong. */
export interface WrongSignature {
  readonly request: Request;
  readonly method: OAuth1Method;
  /** What the server signs. */
  readonly signed: OAuth1Request;
  readonly signature: string;
  readonly consumer: Consumer | undefined;
  /** The name that the request gives as its consumer. */
  readonly consumerKey: string;
  /** Empty without a token. */
  readonly tokenSecret: string;
  /** The secret that the other kind of token of this value would have. */
  readonly otherTokenSecret: string;
}

type PartName = 'method' | 'base URI' | 'parameters';

/** A base string that a client may have signed. */
interface Mistake {
  readonly hint: string;
  readonly baseString: string;
  readonly part?: { readonly name: PartName; readonly signed: string };
}

/** Used in place of a missing secret, so that an unknown consumer takes the same time. Its result is ignored. */
const dummySecret = 'no consumer has this secret';

/**
 * Explains a wrong signature. It tries the same mistakes for each consumer and for none. A mistake is reported only if it was made
 * with the secrets of the consumer and the token, or needs no secret.
 */
export function explainSignature(wrong: WrongSignature): SignatureExplanation {
  const { method, consumer, signed, signature } = wrong;
  if (method === 'RSA-SHA1') return { parts: partsOf(signed) };
  const secret = consumer?.secret ?? dummySecret;
  const baseString = method === 'PLAINTEXT' ? '' : baseStringOf(signed);
  const found = findMistake(wrong, secret, baseString);
  const parts = method === 'PLAINTEXT' ? [] : partsOf(signed);
  if (found === undefined || consumer?.secret === undefined)
    return { parts, ...hintOf(withoutSecret(signature)) };
  if (found.part === undefined) return { parts, hint: found.hint };
  const { name, signed: value } = found.part;
  return {
    hint: found.hint,
    parts: parts.map((part) => (part.name === name ? { ...part, signed: value } : part)),
    differs: name,
  };
}

function hintOf(hint: string | undefined): Pick<SignatureExplanation, 'hint'> {
  return hint === undefined ? {} : { hint };
}

/** Recognizes a signature by its form, which needs no secret. */
function withoutSecret(signature: string): string | undefined {
  if (/^[0-9a-f]{40}$|^[0-9a-f]{64}$/i.test(signature))
    return 'the signature is hexadecimal; base64 is required';
  if (/%[0-9a-f]{2}/i.test(signature)) return 'the signature was percent-encoded twice';
  if (/^[A-Za-z0-9_-]*[_-][A-Za-z0-9_-]*=?$/.test(signature))
    return 'the signature is base64url; base64 is required';
  if (/ /.test(signature))
    return 'a "+" in the signature was sent as it is and arrived as a space; percent-encode it';
  return undefined;
}

/** Explains a signature with the secrets that a test double knows; undefined if it was made with none of them. */
export function explainOAuth1WithKnowledge(
  { method, signed, signature, consumer, consumerKey, tokenSecret, otherTokenSecret }: WrongSignature,
  secrets: readonly KnownSecret[],
): string | undefined {
  const consumers = secrets.filter(({ owner }) => owner === 'consumer');
  const baseString = method === 'PLAINTEXT' ? '' : baseStringOf(signed);
  if (method !== 'RSA-SHA1') {
    for (const { name, secret, current } of consumers) {
      if (name === consumerKey && current) continue;
      const isSigned = ['', tokenSecret, otherTokenSecret].some((each) =>
        isSameSignature(signatureBy(method, baseString, keyTextOf(secret, each)), signature),
      );
      if (!isSigned) continue;
      const whose = current
        ? `the secret of another consumer, ${name}`
        : `a former secret of the consumer ${name}`;
      return `the request is signed with ${whose}`;
    }
  }
  if (consumer === undefined) return `there is no consumer ${consumerKey}`;
  return undefined;
}

function signatureBy(method: Exclude<OAuth1Method, 'RSA-SHA1'>, baseString: string, keyText: string): string {
  if (method === 'PLAINTEXT') return keyText;
  return digestBy(method === 'HMAC-SHA1' ? 'sha1' : 'sha256', baseString, keyText);
}

function digestBy(hash: string, baseString: string, keyText: string): string {
  return createHmac(hash, keyText).update(baseString, 'latin1').digest('base64');
}

/** Returns the first mistake that makes the signature. It always tries all of them. */
function findMistake(wrong: WrongSignature, secret: string, baseString: string): Mistake | undefined {
  const { method, signature, tokenSecret } = wrong;
  if (method === 'RSA-SHA1') return undefined;
  const keyText = keyTextOf(secret, tokenSecret);
  const byKey = keyMistakes(wrong, secret).filter(([, key]) =>
    isSameSignature(signatureBy(method, baseString, key), signature),
  );
  const hashes = ['sha1', 'sha256', 'sha512'].filter((hash) =>
    isSameSignature(digestBy(hash, baseString, keyText), signature),
  );
  const mistakes = method === 'PLAINTEXT' ? [] : baseStringMistakes(wrong, baseString);
  const byMessage = new ExplanationBudget().matching(
    mistakes,
    (mistake) => verificationTime('secret', mistake.baseString.length),
    (mistake) => isSameSignature(signatureBy(method, mistake.baseString, keyText), signature),
  );
  const [key] = byKey;
  if (key !== undefined) return { hint: key[0], baseString };
  const [hash] = hashes;
  if (hash !== undefined && method !== 'PLAINTEXT')
    return {
      hint: `the signature was made with ${hash}, but oauth_signature_method is ${method}`,
      baseString,
    };
  return byMessage[0];
}

/** Returns keys that clients use by mistake. Each contains the consumer's secret. */
function keyMistakes(
  { tokenSecret, otherTokenSecret }: WrongSignature,
  secret: string,
): (readonly [hint: string, keyText: string])[] {
  const octets = octetsOf(secret);
  const twice = encodeOctets(encodeOctets(octets));
  return [
    ['the secret of the token was left out of the key', keyTextOf(secret, '')],
    ['the key was the secret of the consumer alone, without "&" and the secret of the token', octets],
    ['the key was used without its "&"', `${octets}${tokenSecret}`],
    ['the secrets were not percent-encoded in the key', `${octets}&${tokenSecret}`],
    ['the secrets were percent-encoded twice in the key', `${twice}&${tokenSecret}`],
    ['the key was percent-encoded as a whole', encodeOctets(`${octets}&${tokenSecret}`)],
    ['the secrets of consumer and token were swapped in the key', `${tokenSecret}&${encodeOctets(octets)}`],
    [
      'the secret of the request token was used instead of that of the access token, or the reverse',
      keyTextOf(secret, otherTokenSecret),
    ],
  ];
}

/** Returns the parts of the server's base string. */
function partsOf(signed: OAuth1Request): MessagePart[] {
  const [method = '', uri = '', parameters = ''] = baseStringOf(signed).split('&').map(decoded);
  return [
    { name: 'method', expected: method },
    { name: 'base URI', expected: uri },
    { name: 'parameters', expected: parameters },
  ];
}

function decoded(octets: string): string {
  return octets.replace(/%([0-9A-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Yields base strings that clients sign by mistake, most likely first. */
function* baseStringMistakes(wrong: WrongSignature, baseString: string): Generator<Mistake> {
  const { request, signed } = wrong;
  const [method = '', uri = '', parameters = ''] = baseString.split('&');
  const withUri = (hint: string, other: string): Mistake => ({
    hint,
    baseString: [method, encodeOctets(other), parameters].join('&'),
    part: { name: 'base URI', signed: other },
  });
  const withParameters = (hint: string, other: string): Mistake => ({
    hint,
    baseString: [method, uri, encodeOctets(other)].join('&'),
    part: { name: 'parameters', signed: other },
  });
  const withMethod = (hint: string, other: string): Mistake => ({
    hint,
    baseString: [other, uri, parameters].join('&'),
    part: { name: 'method', signed: other },
  });
  for (const [hint, other] of uriMistakes(request, decoded(uri))) yield withUri(hint, other);
  for (const [hint, other] of parameterMistakes(request, signed, decoded(parameters)))
    yield withParameters(hint, other);
  yield* [
    withMethod('the method was signed in lower case', method.toLowerCase()),
    ...['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH']
      .filter((other) => other !== method)
      .map((other) => withMethod(`${other} was signed, but ${method} arrived`, other)),
    {
      hint: 'the parts of the base string were not percent-encoded',
      baseString: baseString.split('&').map(decoded).join('&'),
    },
    {
      hint: 'the parameters were encoded once instead of twice',
      baseString: [method, uri, decoded(parameters)].join('&'),
    },
    { hint: 'the base string was percent-encoded as a whole', baseString: encodeOctets(baseString) },
    {
      hint: 'the base string has escapes in lower case',
      baseString: baseString.replace(/%[0-9A-F]{2}/g, lower),
    },
    { hint: 'a line feed was signed at the end', baseString: `${baseString}\n` },
  ];
}

function lower(text: string): string {
  return text.toLowerCase();
}

type Change = readonly [hint: string, value: string];

function uriMistakes({ target, fields }: Request, uri: string): Change[] {
  const [, scheme = '', authority = '', path = ''] = /^([a-z]+):\/\/([^/]*)(.*)$/s.exec(uri) ?? [];
  const query = queryOf(target);
  const host = fields.get('host') ?? '';
  const name = authority.replace(/:\d*$/, '');
  const other = scheme === 'https' ? 'http' : 'https';
  const forwarded = /(?:^|[;,\s])host="?([^";,\s]+)/i.exec(fields.get('forwarded') ?? '')?.[1];
  const publicHost = forwarded ?? fields.get('x-forwarded-host') ?? fields.get('x-original-host');
  const changes: Change[] = [
    ['the query was left in the base URI', `${uri}?${query}`],
    [`${other} was signed instead of ${scheme}`, `${other}://${authority}${path}`],
    ['the port was left out', `${scheme}://${name}${path}`],
    [`${other} was signed, without the port`, `${other}://${name}${path}`],
    ['the default port was signed', `${scheme}://${name}:${scheme === 'https' ? 443 : 80}${path}`],
    [
      `the host of Host was signed, ${host}, but the server is ${authority}`,
      `${scheme}://${host.toLowerCase()}${path}`,
    ],
    [
      `the host of Host was signed, ${host}, but the server is ${authority}`,
      `${other}://${host.toLowerCase()}${path}`,
    ],
    ['the host was signed in another letter case', `${scheme}://${host}${path}`],
    ['the scheme was left out of the base URI', `${authority}${path}`],
    ['the path was signed without scheme and host', path],
    ['the trailing slash differs', path.endsWith('/') ? uri.slice(0, -1) : `${uri}/`],
    ['the path was percent-decoded before it was signed', `${scheme}://${authority}${decoded(path)}`],
    ['the base URI was signed in upper case', uri.toUpperCase()],
  ];
  if (publicHost === undefined) return changes;
  const hint = `the public host was signed, ${publicHost}, in front of a proxy`;
  return [...changes, [hint, `https://${publicHost}${path}`], [hint, `http://${publicHost}${path}`]];
}

/** Yields the parameters that clients sign by mistake, each computed on demand: a form can have 64 KiB. */
function* parameterMistakes(
  { target }: Request,
  { parameters }: OAuth1Request,
  normalized: string,
): Generator<Change> {
  const query = parseFormOctets(queryOf(target)) ?? [];
  const protocol = parameters.filter(([name]) => name.startsWith('oauth_') && name !== 'oauth_signature');
  const unsigned = parameters.filter(([name]) => name !== 'oauth_signature');
  const inQuery = new Set(query.map(encodedPair));
  const inProtocol = new Set(protocol.map(encodedPair));
  const isIn = (pairs: ReadonlySet<string>, parameter: Parameter): boolean =>
    pairs.has(encodedPair(parameter));
  const isSentInQuery = protocol.some((each) => isIn(inQuery, each));
  yield [
    'the parameters of the query were left out',
    normalizedOf(unsigned.filter((each) => isSentInQuery || !isIn(inQuery, each))),
  ];
  yield ['the parameters of query and form were left out', normalizedOf(protocol)];
  yield [
    'the parameters of the form were left out',
    normalizedOf(unsigned.filter((each) => isIn(inProtocol, each) || isIn(inQuery, each))),
  ];
  yield ['the parameters were not sorted', joined(unsigned.map(encodedPair))];
  yield [
    'the parameters were not percent-encoded',
    joined(sorted(unsigned.map(([name, value]) => `${name}=${value}`))),
  ];
  yield ['spaces were encoded as "+" instead of %20', normalized.replaceAll('%20', '+')];
  yield [
    "the characters !*'() were not percent-encoded",
    normalized.replace(/%(?:21|27|28|29|2A)/g, decoded),
  ];
  yield ['"~" was percent-encoded', normalized.replaceAll('~', '%7E')];
  yield [
    'oauth_signature was signed too',
    joined(sorted([...unsigned.map(encodedPair), 'oauth_signature='])),
  ];
  for (const [name] of protocol)
    yield [`${name} was left out`, normalizedOf(unsigned.filter((each) => each[0] !== name))];
  if (!unsigned.some(([name]) => name === 'oauth_token'))
    yield ['an empty oauth_token was signed, but not sent', normalizedOf([...unsigned, ['oauth_token', '']])];
  if (!unsigned.some(([name]) => name === 'oauth_version'))
    yield ['oauth_version was signed, but not sent', normalizedOf([...unsigned, ['oauth_version', '1.0']])];
}

function encodedPair([name, value]: Parameter): string {
  return `${encodeOctets(name)}=${encodeOctets(value)}`;
}

function sorted(pairs: readonly string[]): string[] {
  return [...pairs].sort();
}

function joined(pairs: readonly string[]): string {
  return pairs.join('&');
}

/** Returns the parameters as the base string contains them (RFC 5849 §3.4.1.3.2), before they are encoded again. */
function normalizedOf(parameters: readonly Parameter[]): string {
  const base = baseStringOf({ method: 'GET', origin: 'https://localhost', path: '/', parameters });
  return decoded(base.split('&')[2] ?? '');
}
