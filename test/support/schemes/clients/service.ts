import { createAccounts } from '../../../../src/accounts/accounts.ts';
import { createRateLimiter } from '../../../../src/accounts/rate-limit.ts';
import type { AccountRecord } from '../../../../src/accounts/user-declaration.ts';
import { signRequest } from '../../../../src/client/sign.ts';
import { createManualClock, type ManualClock } from '../../../../src/clock.ts';
import { createRequest, type IncomingRequest } from '../../../../src/http/message.ts';
import { Problem } from '../../../../src/http/problem.ts';
import { type Authenticator, createAuthenticator } from '../../../../src/schemes/authenticate.ts';
import { createNonces } from '../../../../src/store/nonces/nonces.ts';
import { keepSaid, keepSecret } from '../../transcript.ts';
import { createHmacVerifier, type HmacVerifierOptions } from '../hmac-verifier.ts';

/** The server's time at the start of every test. */
export const start = Date.UTC(2024, 1, 29, 12, 0, 0);

/** An authenticator with two users, on a clock that stands. */
interface TestService {
  readonly clock: ManualClock;
  /** The principal's name, `nobody`, or the problem. */
  outcome(request: IncomingRequest): Promise<string | Problem>;
  /** The principal's name, `nobody`, or the type of the problem. */
  verdictOn(request: IncomingRequest): Promise<string>;
  problemWith(request: IncomingRequest): Promise<Problem>;
}

export function openTestService(
  options: Partial<HmacVerifierOptions> & {
    limit?: number;
    maxNonces?: number;
    maxNoncesPerUser?: number;
    users?: Map<string, AccountRecord>;
    /** The server's time (ms). Default: the start of every test. */
    at?: number;
  } = {},
): TestService {
  const clock = createManualClock(options.at ?? start);
  const users =
    options.users ??
    new Map([
      ['ann', { secrets: [{ secret: 'ann-secret' }] }],
      ['bob', { secrets: [{ secret: 'bob-secret' }] }],
    ]);
  const rateLimiter = createRateLimiter(options.limit ?? 0, clock);
  const scheme = createHmacVerifier({
    rateLimiter,
    accounts: createAccounts(users),
    nonces: createNonces({
      bucketSpan: 150_000,
      max: options.maxNonces ?? 1000,
      maxPerUser: options.maxNoncesPerUser ?? options.maxNonces ?? 1000,
      key: new Uint8Array(16),
      monotonic: () => clock.steady(),
    }),
    clock,
    ...options,
  });
  const authenticator = createAuthenticator([scheme], rateLimiter);
  const outcome = (request: IncomingRequest): Promise<string | Problem> =>
    authenticationOutcome(authenticator, request);
  return {
    clock,
    outcome,
    async verdictOn(request) {
      const result = await outcome(request);
      return typeof result === 'string' ? result : result.type;
    },
    async problemWith(request) {
      const result = await outcome(request);
      if (typeof result === 'string') throw new Error(`${result} passed`);
      keepSaid(JSON.stringify([result.detail, result.headers, result.members]));
      return result;
    },
  };
}

/** A request signed at the start time, with what is to be different. */
export function signedRequest(
  changes: {
    method?: string;
    target?: string;
    user?: string;
    secret?: string;
    nonce?: string;
    at?: number;
    form?: 'full' | 'simple';
    fields?: [string, string][];
    peer?: string;
    content?: string;
  } = {},
): IncomingRequest {
  const { method = 'GET', target = '/articles', user = 'ann', secret = `${user}-secret`, content } = changes;
  const headers = signRequest({
    method,
    url: `http://localhost${target}`,
    user,
    secret,
    form: changes.form ?? 'full',
    nonce: changes.nonce ?? 'n1',
    clock: createManualClock(changes.at ?? start),
    ...(content === undefined ? {} : { body: content }),
  });
  keepSecret(secret);
  keepSecret(headers['Authentication']?.split(':').at(-1) ?? '');
  return createRequest({
    method,
    target,
    headers: [...Object.entries(headers), ...(changes.fields ?? [])],
    peer: changes.peer ?? '127.0.0.1',
    ...(content === undefined ? {} : { body: content }),
  });
}

/** The name of the user whom a request's credentials prove, `nobody` without credentials, or the refusal. */
export async function authenticationOutcome(
  authenticator: Authenticator,
  request: IncomingRequest,
): Promise<string | Problem> {
  try {
    return (await authenticator.authenticate(request))?.name ?? 'nobody';
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
