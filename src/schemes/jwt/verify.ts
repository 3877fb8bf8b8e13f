// The rules of RFC 8725 and RFC 9068 §4. What a token says about itself selects nothing: neither the algorithm nor the key.
import { nearestUriDifference, uriDifference } from '../../http/uri-difference.ts';
import { isJwtAlgorithm, isSameAlgorithm, jwtAlgorithms, verifyJws } from './algorithms.ts';
import { type JwtMembers, type ParsedJwt, parseJwt } from './jwt.ts';
import type { VerificationKey } from './key-set.ts';

/** Why a JWT is refused. The hint contains neither the token nor its signature. */
export interface JwtFault {
  /** The check that failed: `alg`, `aud`, `exp`, `signature`. */
  readonly check: string;
  readonly hint: string;
}

/** What a JWT must be. */
export interface JwtRules {
  readonly issuer: string;
  /** One of these must be its audience. */
  readonly audiences: readonly string[];
  /** What the audience is called in hints. Default: this API. */
  readonly self?: string | undefined;
  /** The accepted types: `at+jwt`. `JWT` also accepts a token without a type, but no ID token. */
  readonly types: readonly string[];
  /** The claims that it must have beside `iss`, `aud` and `exp`. Default: none. */
  readonly required?: readonly string[] | undefined;
  /** How far (ms) the clock of its issuer may be ahead. Default: 0. */
  readonly leeway?: number | undefined;
  /** What has the clock of which hints speak. Default: this service. */
  readonly here?: string | undefined;
  /** The algorithms with a shared secret that it may have. Default: none. */
  readonly hmac?: readonly string[] | undefined;
}

/** Returns whether a result is a fault. */
export function isJwtFault(value: object): value is JwtFault {
  return 'check' in value && 'hint' in value;
}

/** Reads a JWT, and returns why it is none. */
export function readJwt(text: string): ParsedJwt | JwtFault {
  const parsed = parseJwt(text);
  return typeof parsed === 'string' ? { check: 'jwt', hint: `the token is not a JWT: ${parsed}` } : parsed;
}

/** Returns why the header or the claims of a JWT are refused, before any key is needed. */
export function findJwtFault(jwt: ParsedJwt, rules: JwtRules, now: number): JwtFault | undefined {
  return findHeaderFault(jwt.header, rules) ?? typeFault(jwt, rules) ?? claimsFault(jwt.claims, rules, now);
}

/** The members of a header that a JWT may have although they are refused by default. */
interface HeaderRules extends Pick<JwtRules, 'hmac'> {
  /** Whether it contains the key that verifies it, as a proof of possession does. Default: false. */
  readonly hasKey?: boolean | undefined;
}

/** Returns why the header of a JWT is refused (RFC 8725 §3.1, RFC 7515 §4.1). */
export function findHeaderFault(
  header: JwtMembers,
  { hmac = [], hasKey = false }: HeaderRules,
): JwtFault | undefined {
  const { alg, crit, b64 } = header;
  const isNone = typeof alg === 'string' && alg.toLowerCase() === 'none';
  if (isNone) return { check: 'alg', hint: 'the algorithm is none: the token has no signature' };
  const isShared = typeof alg === 'string' && hmac.includes(alg);
  if (typeof alg === 'string' && alg.startsWith('HS') && !isShared)
    return {
      check: 'alg',
      hint: `the algorithm is ${alg}, an HMAC; tokens are signed with a private key, and a public key is no secret`,
    };
  if (!isShared && !isJwtAlgorithm(alg))
    return { check: 'alg', hint: `the algorithm ${quote(alg)} is not one of ${jwtAlgorithms.join(', ')}` };
  if (crit !== undefined || b64 !== undefined)
    return {
      check: 'crit',
      hint: 'the header has crit or b64, and no extension is understood (RFC 7515 §4.1.11)',
    };
  const given = ['jwk', 'jku', 'x5u', 'x5c'].find((name) => name in header && !(hasKey && name === 'jwk'));
  if (given === undefined) return undefined;
  return { check: given, hint: `the header has ${given}, and a token cannot say which key verifies it` };
}

/** Claims that only ID tokens have (OpenID Connect Core 1.0 §2, §3.3.2.11). */
const idTokenClaims = ['nonce', 'at_hash', 'c_hash', 's_hash'];

function typeFault({ header: { typ }, claims }: ParsedJwt, { types }: JwtRules): JwtFault | undefined {
  const check = 'typ';
  const named = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  const idClaim = idTokenClaims.find((name) => name in claims);
  if (idClaim !== undefined)
    return {
      check,
      hint: `the token has the claim ${idClaim}: it is an ID token, which is for the client alone`,
    };
  if (types.some((type) => type.toLowerCase() === (named ?? 'jwt'))) return undefined;
  const expected = types.join(' or ');
  if (named === undefined) return { check, hint: `the header has no typ; ${expected} is required` };
  const advice =
    named === 'jwt' ? "; if the access tokens of this issuer have it, set type: 'JWT' for the issuer" : '';
  return { check, hint: `the typ is ${quote(typ)}, and ${expected} is required${advice}` };
}

function claimsFault(claims: JwtMembers, rules: JwtRules, now: number): JwtFault | undefined {
  const { iss } = claims;
  if (iss !== rules.issuer)
    return {
      check: 'iss',
      hint: `the issuer is ${quote(iss)}, and ${rules.issuer} is required${uriDifference(String(iss), rules.issuer)}`,
    };
  const missing = rules.required?.find((name) => claims[name] === undefined);
  if (missing !== undefined) return { check: missing, hint: `the token has no claim ${missing}` };
  return audienceFault(claims['aud'], rules) ?? timeFault(claims, now, rules);
}

function audienceFault(aud: unknown, { audiences, self = 'this API' }: JwtRules): JwtFault | undefined {
  const check = 'aud';
  if (aud === undefined)
    return { check, hint: `the token has no audience; ${self} is ${audiences.join(' or ')}` };
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (named.some((each) => audiences.some((audience) => audience === each))) return undefined;
  const near = named.map((each) => nearestUriDifference(String(each), audiences)).find((each) => each !== '');
  return {
    check,
    hint: `the audience is ${named.map(quote).join(', ')}; ${self} is ${audiences.join(' or ')}${near ?? ''}`,
  };
}

function timeFault(
  { exp, nbf }: JwtMembers,
  now: number,
  { leeway = 0, here = 'this service' }: JwtRules,
): JwtFault | undefined {
  if (typeof exp !== 'number' || !Number.isFinite(exp))
    return { check: 'exp', hint: 'the token has no time of expiry: exp must be a number of seconds' };
  if (exp * 1000 <= now)
    return {
      check: 'exp',
      hint: `the token expired ${describeSpan(now - exp * 1000)} ago by the clock of ${here}`,
    };
  if (nbf === undefined) return undefined;
  if (typeof nbf !== 'number' || !Number.isFinite(nbf))
    return { check: 'nbf', hint: 'nbf is not a number of seconds' };
  if (nbf * 1000 <= now + leeway) return undefined;
  const hint = `the token is not valid before ${describeSpan(nbf * 1000 - now)} from now, by the clock of ${here}`;
  return { check: 'nbf', hint: describeMilliseconds('nbf', nbf, now) ?? hint };
}

/** Returns the hint at a time in milliseconds, which is a thousand times as late as it should be (RFC 7519 §2). */
export function describeMilliseconds(name: string, time: number, now: number): string | undefined {
  return time > now / 10 ? `${name} is in milliseconds; seconds are required` : undefined;
}

/** Returns why none of these keys made the signature; undefined if one did. */
export function findSignatureFault(
  { header, signed, signature }: ParsedJwt,
  keys: readonly VerificationKey[],
): JwtFault | undefined {
  const { alg } = header;
  const usable = keys.filter((key) => isJwtAlgorithm(alg) && isSameAlgorithm(key.alg, alg));
  const [first] = keys;
  if (usable.length === 0 && first !== undefined)
    return { check: 'alg', hint: `the algorithm is ${quote(alg)}, and that of the key is ${first.alg}` };
  if (signature.length === 0) return { check: 'signature', hint: 'the token has no signature' };
  const octets = Buffer.from(signed);
  if (usable.some((key) => verifyJws(key.alg, key.key, octets, signature))) return undefined;
  // ASN.1 begins with a sequence of most of these octets.
  const isDer = signature[0] === 0x30 && signature[1] === signature.length - 2;
  if (isDer && String(alg).startsWith('ES'))
    return {
      check: 'signature',
      hint: 'the signature is in DER; r and s are required one after the other (RFC 7518 §3.4)',
    };
  return {
    check: 'signature',
    hint: 'the signature is not that of the key: header or claims were changed, or another key signed them',
  };
}

/** Formats a time span in ms with its largest unit: `3 minutes`. */
export function describeSpan(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const;
  const [unit, length] = units.find(([, size]) => ms >= size) ?? ['second', 1000];
  const count = Math.round(ms / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Shows a value of a token, which anybody may have made. */
export function quote(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value)) return value;
  const text = (JSON.stringify(value) ?? '').slice(0, 200);
  return text.replace(/[^\x20-\x7e]/g, '?');
}
