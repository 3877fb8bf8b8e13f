import {
  type Form,
  hasForm,
  hasTooManyParameters,
  isCoded,
  isDeclaredLonger,
  maxFormLength,
  parseForm,
  parseTargetQuery,
} from '../http/form.ts';
import { formatChallenge, parseCredentials } from '../http/headers/authorization.ts';
import { type Connection, type IncomingRequest, isConfidential } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { octetsOf } from '../http/syntax/octets.ts';
import type { Principal } from '../principal.ts';
import { describeSentForm, undoChanges } from './explain/sent-keys.ts';
import { bearerScheme } from './sent-credentials.ts';
import type { AuthenticationTrace, KnownSecret } from './trace.ts';
import type { Verdict, Verifier } from './verifier.ts';
import { refuseScheme } from './verifier.ts';

/** Options of the scheme. */
interface BearerOptions {
  readonly realm: string;
  /** Returns whether any client is registered, and so could have a token. */
  readonly offered: () => boolean;
  /** Resolves to the principal of a token; undefined if the token is not valid. */
  readonly findPrincipal: (token: string, request: IncomingRequest) => Promise<Principal | undefined>;
  /** Resolves to the reason why a token is not valid: the check that failed, and a hint. Default: no reason is known. */
  readonly findReason?:
    | ((
        token: string,
        request: IncomingRequest,
      ) => Promise<{ readonly check: string; readonly hint: string }>)
    | undefined;
  /** Whether errors explain what the server checked. The holder of a token may learn its state. Default: false. */
  readonly explain?: boolean | undefined;
  /** Maximum content length in bytes. */
  readonly bodyLimit: number;
  /** Returns further parameters of the challenge without an error, such as `resource_metadata` (RFC 9728 §5.1). Default: none. */
  readonly parameters?: ((connection: Connection) => readonly [string, string][]) | undefined;
  /** Verifies that the sender of a token has the key to which it is bound (RFC 9449). Default: tokens are bound to none. */
  readonly proofs?: TokenProofs | undefined;
}

/** Why a request has no right to use a token that is valid. */
export interface ProofFault {
  /** The error code (RFC 9449 §7.1, §9). */
  readonly error: 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce';
  /** The check that failed: `htu`. */
  readonly check: string;
  readonly hint: string;
}

/** Verifies proofs of possession (RFC 9449). */
export interface TokenProofs {
  /** Whether every token must be bound to a key. */
  readonly areRequired: boolean;
  /** The algorithms of proofs, separated by spaces. */
  readonly algorithms: string;
  /** Returns a nonce for the next proof. */
  nonce(): string;
  /** Resolves to why a request with a token, which is bound to a key or to none, has no right to use it; undefined if it has. */
  findFault(
    request: IncomingRequest,
    token: string,
    key: string | undefined,
  ): Promise<ProofFault | undefined>;
}

/** b64token (RFC 6750 §2.1). */
const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Creates the verifier of bearer tokens (RFC 6750) in the Authorization field. A token in a query or a form (§2.2, §2.3) is
 * ignored, or refused if the field has one too (§2).
 */
export function createBearerVerifier(options: BearerOptions): Verifier {
  const {
    realm,
    offered,
    findPrincipal,
    findReason,
    explain = false,
    bodyLimit,
    parameters,
    proofs,
  } = options;
  const challengeWith = (...more: [string, string][]): string =>
    formatChallenge('Bearer', [['realm', realm], ...more]);
  // RFC 9449 §7.1.
  const proofChallenge = (...more: [string, string][]): string =>
    formatChallenge('DPoP', [['realm', realm], ...more, ['algs', proofs?.algorithms ?? '']]);
  /** Returns what formats the challenge for a token that was refused: that of the scheme with which it was sent. */
  const failed = ({ headers: fields }: IncomingRequest): typeof challengeWith => {
    const isProved =
      proofs !== undefined && parseCredentials(fields.get('authorization') ?? '')?.scheme === 'dpop';
    return isProved ? proofChallenge : challengeWith;
  };
  // §3: no error code for a request without a token.
  const challenge = (connection: Connection): string => {
    const further = parameters?.(connection) ?? [];
    if (proofs?.areRequired === true) return proofChallenge(...further);
    const bearer = challengeWith(...further);
    return proofs === undefined ? bearer : `${bearer}, ${proofChallenge(...further)}`;
  };

  return {
    ...bearerScheme,
    places: [
      ...bearerScheme.places,
      ...(proofs === undefined
        ? []
        : [{ role: '', in: 'authorization', name: 'DPoP', isAlternative: true } as const]),
    ],
    ...(proofs !== undefined && {
      requestHeaders: ['dpop'],
      challengeFields: () => (offered() ? [['DPoP-Nonce', proofs.nonce()] as const] : []),
    }),
    authenticate(request, token = '', authTrace) {
      if (!offered()) return refuseScheme();
      if (!tokenForm.test(token)) {
        const hint = describeSentForm(token, 'token');
        if (hint !== undefined) authTrace?.fail('parse', { hint });
        return malformed(challengeWith(['error', 'invalid_request']), explain ? hint : undefined);
      }
      if (hasToken(parseTargetQuery(request.target)))
        return several(challengeWith(['error', 'invalid_request']));
      authTrace?.pass('parse');
      return verify(request, token, authTrace);
    },
    // §3.1: more than one method for including an access token, or a parameter repeated.
    severalChallenge: () => (offered() ? challengeWith(['error', 'invalid_request']) : undefined),
    challenge: (connection) => (isConfidential(connection) && offered() ? challenge(connection) : undefined),
    scopeChallenge: (needed) =>
      (proofs?.areRequired === true ? proofChallenge : challengeWith)(
        ['error', 'insufficient_scope'],
        ['scope', needed],
      ),
  };

  /** Returns the mistake with which a valid token was sent, or what was sent in its place. */
  async function findMistake(
    token: string,
    known: readonly KnownSecret[],
    request: IncomingRequest,
  ): Promise<string | undefined> {
    for (const [hint, meant] of undoChanges(token, 'token'))
      if (tokenForm.test(meant) && (await findPrincipal(meant, request)) !== undefined) return hint;
    const other = known.find(({ secret }) => secret === token);
    if (other !== undefined) return `a secret or password of ${other.name} was sent in place of a token`;
    if (known.some(({ name }) => name === token)) return 'a name was sent in place of a token';
    return describeSentForm(token, 'token');
  }

  function refuseProof(
    { error, check, hint }: ProofFault,
    authTrace: AuthenticationTrace | undefined,
  ): Verdict {
    authTrace?.fail(check, { hint });
    const detail = 'The token is bound to a key, and the request does not prove that its sender has it.';
    const problem = new Problem('token-refused', detail, { members: explain ? { check, hint } : {} });
    return { outcome: 'bad', problem, challenge: proofChallenge(['error', error]) };
  }

  async function verify(
    request: IncomingRequest,
    token: string,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Verdict> {
    const principal = await findPrincipal(token, request);
    if (principal !== undefined) {
      const unproved = await proofs?.findFault(request, token, principal.lent?.key);
      if (unproved !== undefined) return refuseProof(unproved, authTrace);
      // The content is read ahead only for a valid token.
      const second = await hasTokenInForm(request, bodyLimit);
      if (second instanceof Problem) return { outcome: 'bad', problem: second };
      if (second) return several(challengeWith(['error', 'invalid_request']));
      authTrace?.pass('token');
      return { outcome: 'good', principal };
    }
    const isShown = explain || authTrace !== undefined;
    const found = isShown ? await findReason?.(token, request) : undefined;
    const hint = isShown ? await findMistake(token, authTrace?.knowledge?.secrets ?? [], request) : undefined;
    const reason = hint === undefined ? found : { ...found, hint };
    authTrace?.fail(found?.check ?? 'token', { ...reason });
    return {
      outcome: 'bad',
      problem: new Problem('token-refused', 'The token is unknown, expired or revoked.', {
        members: explain ? { ...reason } : {},
      }),
      challenge: failed(request)(['error', 'invalid_token'], ...(parameters?.(request.connection) ?? [])),
    };
  }
}

/** Returns whether the content is a form with a token. A form of more than 64 KiB is not examined. */
async function hasTokenInForm(request: IncomingRequest, bodyLimit: number): Promise<boolean | Problem> {
  if (!hasForm(request) || isCoded(request) || isDeclaredLonger(request, maxFormLength)) return false;
  const content = await request.body.hold(bodyLimit).catch(problemIn);
  if (content instanceof Problem) return content;
  if (content.length > maxFormLength) return false;
  const text = octetsOf(content);
  return !hasTooManyParameters(text) && hasToken(parseForm(text));
}

function problemIn(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

function hasToken(form: Form | undefined): boolean {
  return form?.some(([name]) => name === 'access_token') === true;
}

function several(challenge: string): Verdict {
  const detail =
    'The request has a token in the Authorization field and another one in the query or the form.';
  return { outcome: 'bad', problem: new Problem('several-credentials', detail), challenge };
}

function malformed(challenge: string, hint: string | undefined): Verdict {
  const problem = new Problem('malformed-credentials', 'The value after Bearer must be one token.', {
    members: hint === undefined ? {} : { hint },
  });
  return { outcome: 'bad', problem, challenge };
}
