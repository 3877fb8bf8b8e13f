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
import { formatChallenge } from '../http/headers/authorization.ts';
import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { Scheme, Verdict } from './scheme.ts';
import type { AuthenticationTrace } from './trace.ts';

/** Options of the scheme. */
export interface BearerOptions {
  readonly realm: string;
  /** Returns whether any client is registered, and so could have a token. */
  readonly offered: () => boolean;
  /** Resolves to the principal of a token; undefined if the token is not valid. */
  readonly findPrincipal: (token: string) => Promise<Principal | undefined>;
  /** Resolves to the reason why a token is not valid: the check that failed, and a hint. Default: no reason is known. */
  readonly findReason?:
    | ((token: string) => Promise<{ readonly check: string; readonly hint: string }>)
    | undefined;
  /** Whether errors explain what the server checked. The holder of a token may learn its state. Default: false. */
  readonly explain?: boolean | undefined;
  /** Maximum content length in bytes. */
  readonly bodyLimit: number;
}

/** b64token (RFC 6750 §2.1). */
const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Creates the scheme of bearer tokens (RFC 6750) in the Authorization field. A token in a query or a form (§2.2, §2.3) is
 * ignored, or refused if the field has one too (§2).
 */
export function createBearerScheme(options: BearerOptions): Scheme {
  const { realm, offered, findPrincipal, findReason, explain = false, bodyLimit } = options;
  const challengeWith = (...more: [string, string][]): string =>
    formatChallenge('Bearer', [['realm', realm], ...more]);
  // §3: no error code for a request without a token.
  const challenge = challengeWith();

  return {
    name: 'bearer',
    authenticate(request, token = '', authTrace) {
      if (!offered()) return notOffered();
      if (!tokenForm.test(token)) return malformed(challengeWith(['error', 'invalid_request']));
      if (hasToken(parseTargetQuery(request.target)))
        return several(challengeWith(['error', 'invalid_request']));
      authTrace?.pass('parse');
      return verify(request, token, authTrace);
    },
    // §3.1: more than one method for including an access token, or a parameter repeated.
    severalChallenge: () => (offered() ? challengeWith(['error', 'invalid_request']) : undefined),
    challenge: ({ secure }) => (secure && offered() ? challenge : undefined),
    scopeChallenge: (needed) => challengeWith(['error', 'insufficient_scope'], ['scope', needed]),
  };

  async function verify(
    request: IncomingRequest,
    token: string,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Verdict> {
    const principal = await findPrincipal(token);
    if (principal !== undefined) {
      // The content is read ahead only for a valid token.
      const second = await hasTokenInForm(request, bodyLimit);
      if (second instanceof Problem) return { outcome: 'bad', problem: second };
      if (second) return several(challengeWith(['error', 'invalid_request']));
      authTrace?.pass('token');
      return { outcome: 'good', principal };
    }
    const isShown = explain || authTrace !== undefined;
    const reason = isShown ? await findReason?.(token) : undefined;
    authTrace?.fail(reason?.check ?? 'token', { ...reason });
    return {
      outcome: 'bad',
      problem: new Problem('token-refused', 'The token is unknown, expired or revoked.', {
        members: explain ? { ...reason } : {},
      }),
      challenge: challengeWith(['error', 'invalid_token']),
    };
  }
}

/** Returns whether the content is a form with a token. A form of more than 64 KiB is not examined. */
async function hasTokenInForm(request: IncomingRequest, bodyLimit: number): Promise<boolean | Problem> {
  if (!hasForm(request) || isCoded(request) || isDeclaredLonger(request, maxFormLength)) return false;
  const content = await request.body.hold(bodyLimit).catch(problemIn);
  if (content instanceof Problem) return content;
  if (content.length > maxFormLength) return false;
  const text = Buffer.from(content).toString('latin1');
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

function malformed(challenge: string): Verdict {
  const problem = new Problem('malformed-credentials', 'The value after Bearer must be one token.');
  return { outcome: 'bad', problem, challenge };
}

function notOffered(): Verdict {
  const detail = 'The authentication scheme is not supported here.';
  return { outcome: 'bad', problem: new Problem('scheme-not-offered', detail) };
}
