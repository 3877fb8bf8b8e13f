// Proofs of possession (RFC 9449). Loaded only if they are accepted. The nonces of the server are computed, not stored.
import { createHmac } from 'node:crypto';
import { parseCredentials } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { splitTarget } from '../../http/target.ts';
import { uriDifference } from '../../http/uri-difference.ts';
import type { ProofFault, TokenProofs } from '../../schemes/bearer.ts';
import { jwtAlgorithms } from '../../schemes/jwt/algorithms.ts';
import { isMembers, type JwtMembers } from '../../schemes/jwt/jwt.ts';
import { readVerificationKey, thumbprint, type VerificationKey } from '../../schemes/jwt/key-set.ts';
import {
  describeMilliseconds,
  describeSpan,
  findHeaderFault,
  findSignatureFault,
  isJwtFault,
  type JwtFault,
  quote,
  readJwt,
} from '../../schemes/jwt/verify.ts';
import type { OAuthContext } from '../context.ts';
import { proofWindow } from '../lifetimes.ts';
import { describeDigest, hashSha256 } from '../sha256.ts';
import { claimOnce } from './accepted-once.ts';
import { OAuthError } from './oauth-error.ts';

/** Verifies proofs of possession, at the token endpoint and at resources. */
export interface Proofs extends TokenProofs {
  /**
   * Resolves to the thumbprint of the key to which a token is to be bound; undefined without a proof. Rejects with an OAuthError if the
   * proof is invalid, or missing although every token must be bound.
   */
  readKey(request: IncomingRequest): Promise<string | undefined>;
}

/** A proof whose `jti` is not used up yet. */
interface ValidProof {
  /** The thumbprint of the key that signed it (RFC 7638). */
  readonly key: string;
  readonly claims: JwtMembers;
}

/** How far (ms) the clock of a client may be ahead. */
const leeway = 60_000;
/** How long (ms) the current nonce is given out. It is accepted twice as long. */
const nonceSpan = 150_000;

/** Creates the verification of proofs. */
export function createProofs(context: OAuthContext): Proofs {
  const { clock, masterKey, settings, origins } = context;
  const areRequired = settings.dpop === 'required';
  const nonceOf = (span: number): string =>
    createHmac('sha256', masterKey).update(`dpop ${span}`).digest().subarray(0, 16).toString('base64url');
  const currentSpan = (): number => Math.floor(clock.now() / nonceSpan);
  const nonce = (): string => nonceOf(currentSpan());

  const nonceFault = (sent: unknown): ProofFault | undefined => {
    const span = currentSpan();
    if (sent === nonceOf(span) || sent === nonceOf(span - 1)) return undefined;
    const hint =
      sent === undefined
        ? 'the proof has no nonce; repeat the request with that of the field DPoP-Nonce'
        : 'the nonce of the proof is not one of this service, or is too old; use that of the field DPoP-Nonce';
    return { error: 'use_dpop_nonce', check: 'nonce', hint };
  };

  const check = (request: IncomingRequest, token: string | undefined): ValidProof | ProofFault => {
    const read = readProof(request);
    if (isJwtFault(read)) return invalid(read);
    const url = origins.asAddressed(request) + splitTarget(request.target).path;
    const fault =
      targetFault(read.claims, request.method, url) ??
      timeFault(read.claims, clock.now(), context) ??
      (token === undefined ? undefined : tokenFault(read.claims, token));
    return (fault && invalid(fault)) ?? nonceFault(read.claims['nonce']) ?? read;
  };

  const use = async ({ key, claims }: ValidProof): Promise<ProofFault | undefined> => {
    const until = Number(claims['iat']) * 1000 + proofWindow;
    const fault = await claimOnce(context, `dpop:${key}`, claims, until);
    return fault && invalid(fault);
  };

  return {
    areRequired,
    algorithms: jwtAlgorithms.join(' '),
    nonce,
    async readKey(request) {
      if (!request.headers.has('dpop') && !areRequired) return undefined;
      const proof = check(request, undefined);
      const fault = 'error' in proof ? proof : await use(proof);
      if (fault !== undefined) throw refuse(fault, nonce());
      return 'error' in proof ? undefined : proof.key;
    },
    async findFault(request, token, key) {
      const mistake = bindingFault(request, key, areRequired);
      if (mistake !== undefined || key === undefined) return mistake;
      const proof = check(request, token);
      if ('error' in proof) return proof;
      if (proof.key === key) return use(proof);
      return {
        error: 'invalid_token',
        check: 'cnf',
        hint: `the token is bound to the key ${quote(key)}, and the proof is signed by ${proof.key}`,
      };
    },
  };
}

function invalid({ check, hint }: JwtFault): ProofFault {
  return { error: 'invalid_dpop_proof', check, hint: `DPoP proof: ${hint}` };
}

function refuse({ error, ...reason }: ProofFault, nonce: string): OAuthError {
  const description =
    error === 'use_dpop_nonce'
      ? 'The DPoP proof needs the nonce of this service.'
      : 'The DPoP proof is missing or not valid.';
  const code = error === 'use_dpop_nonce' ? error : 'invalid_dpop_proof';
  return new OAuthError(code, description, [['DPoP-Nonce', nonce]], reason);
}

/** Returns why a token may not be sent as it was (RFC 9449 §7.1, §7.2). A bound one needs the scheme DPoP, and another one has no key. */
function bindingFault(
  { headers: fields }: IncomingRequest,
  key: string | undefined,
  areRequired: boolean,
): ProofFault | undefined {
  const error = 'invalid_token';
  const check = 'cnf';
  const isProved = parseCredentials(fields.get('authorization') ?? '')?.scheme === 'dpop';
  if (key !== undefined && !isProved)
    return { error, check, hint: 'the token is bound to a key; send it with the scheme DPoP and a proof' };
  if (key !== undefined || (!isProved && !areRequired)) return undefined;
  return { error, check, hint: 'the token is bound to no key: it was issued without a DPoP proof' };
}

/** Reads a proof, and verifies its signature (RFC 9449 §4.3). */
function readProof({ headers: fields }: IncomingRequest): ValidProof | JwtFault {
  const [text, ...others] = fields.getAll('dpop');
  if (text === undefined) return { check: 'dpop', hint: 'the field DPoP is missing' };
  if (others.length > 0) return { check: 'dpop', hint: 'the field DPoP was sent more than once' };
  const jwt = readJwt(text);
  if (isJwtFault(jwt)) return jwt;
  const { typ, alg, jwk } = jwt.header;
  const fault = findHeaderFault(jwt.header, { hasKey: true });
  if (fault !== undefined) return fault;
  if (typ !== 'dpop+jwt') return { check: 'typ', hint: `the typ is ${quote(typ)}, and dpop+jwt is required` };
  const key = readKey(jwk, alg);
  if (key === undefined)
    return { check: 'jwk', hint: `jwk is not a public key of ${quote(alg)} alone, or it is weak` };
  return findSignatureFault(jwt, [key]) ?? { key: thumbprint(key.key), claims: jwt.claims };
}

/** Returns the key of a proof. The algorithm of the proof is its own unless it names another one. */
function readKey(jwk: unknown, alg: unknown): VerificationKey | undefined {
  if (!isMembers(jwk) || ['d', 'p', 'q', 'k'].some((name) => name in jwk)) return undefined;
  return jwk['alg'] === undefined || jwk['alg'] === alg ? readVerificationKey({ ...jwk, alg }) : undefined;
}

/** Returns why a proof is not one of this request. Query and fragment are not compared. */
function targetFault({ htm, htu }: JwtMembers, method: string, url: string): JwtFault | undefined {
  const letters = String(htm).toUpperCase() === method ? ' (different: the letter case)' : '';
  if (htm !== method)
    return { check: 'htm', hint: `htm is ${quote(htm)}, and the method is ${method}${letters}` };
  const named = typeof htu === 'string' && URL.canParse(htu) ? new URL(htu) : undefined;
  const matches = named !== undefined && named.origin + named.pathname === new URL(url).href;
  if (matches) return undefined;
  return {
    check: 'htu',
    hint: `htu is ${quote(htu)}, and the request is for ${url}${uriDifference(String(htu), url)}`,
  };
}

function timeFault(
  { iat }: JwtMembers,
  now: number,
  { notBefore, here }: Pick<OAuthContext, 'notBefore' | 'here'>,
): JwtFault | undefined {
  const check = 'iat';
  if (typeof iat !== 'number' || !Number.isFinite(iat))
    return { check, hint: 'iat is not a number of seconds' };
  const age = now - iat * 1000;
  if (age > proofWindow)
    return { check, hint: `it was created ${describeSpan(age)} ago; at most 5 minutes are accepted` };
  if (age < -leeway)
    return {
      check,
      hint:
        describeMilliseconds('iat', iat, now) ??
        `it was created ${describeSpan(-age)} from now, by the clock of ${here}`,
    };
  return notBefore !== undefined && iat < Math.floor(notBefore / 1000)
    ? { check, hint: 'it is older than this service, which does not know whether it was used' }
    : undefined;
}

function tokenFault({ ath }: JwtMembers, token: string): JwtFault | undefined {
  const expected = hashSha256(token);
  if (ath === expected) return undefined;
  const mistake = describeDigest(String(ath), token);
  return { check: 'ath', hint: `ath is ${quote(ath)}, and that of the token is ${expected}${mistake}` };
}
