/** Verifies requests with the scheme for HTTP Message Signatures, alone. */

import { generateKeyPairSync } from 'node:crypto';
import type { AccountKey } from '../../../src/accounts/account-key.ts';
import type { Accounts } from '../../../src/accounts/accounts.ts';
import type { MessageKey } from '../../../src/algorithms.ts';
import type { ManualClock } from '../../../src/clock.ts';
import { SigningKey } from '../../../src/hmac-sha256.ts';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import type { Problem } from '../../../src/http/problem.ts';
import { createKey } from '../../../src/schemes/hmac/credentials.ts';
import { readMessageSignaturesOptions } from '../../../src/schemes/rfc9421/options.ts';
import { createMessageSignaturesScheme } from '../../../src/schemes/rfc9421/scheme.ts';
import type { MessageSigning } from '../../../src/schemes/rfc9421/sign.ts';
import { AuthenticationTrace, type TraceKnowledge } from '../../../src/schemes/trace.ts';
import type { Verdict, Verifier } from '../../../src/schemes/verifier.ts';
import { accountsWith, openScheme as openAnyScheme } from './clients/declared.ts';
import { keyIds, publicKey, signingKey } from './rfc9421.ts';
import { type RequestToSign, signMessage } from './sign-message.ts';

export const secret = 'KZ4pT2mQv8sWx1Rb6nYc3dFg7hJk9LzE';
/** 2021-04-20T02:07:53Z, the time of the examples in RFC 9421. */
export const start = 1_618_884_473;

/** The key of the user ann: her secret, under her name. */
export const annsSecret = { id: 'ann', algorithm: 'hmac-sha256', secret } as const satisfies MessageKey;

/** A key over P-384, for which RFC 9421 has no example. */
export const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });

/**
 * Returns accounts with the users ann and bob. Ann has a secret, the example keys of RFC 9421, the RSA key also as one for
 * RSASSA-PSS, and a key over P-384. Bob has an expired secret and another one.
 *
 * @param until The expiry time of the keys (ms). Default: they do not expire.
 */
export function accountsWithKeys(until?: number): Accounts {
  const end = until === undefined ? {} : { until };
  const keys = new Map(keyIds.map((id): [string, AccountKey] => [id, { ...accountKey(id), ...end }]));
  const { publicKey: rsa } = publicKey('test-key-rsa');
  keys.set('rsa-as-pss', { id: 'rsa-as-pss', algorithm: 'rsa-pss-sha512', publicKey: rsa, ...end });
  keys.set('p384', { id: 'p384', algorithm: 'ecdsa-p384-sha384', publicKey: p384.publicKey, ...end });
  keys.set('cloud', { id: 'cloud', algorithm: 'aws4', secret: createKey(secret) });
  const bobs = [{ secret: 'first-secret-of-bob', until: start * 1000 }, { secret: 'second-secret-of-bob' }];
  const users = new Map([
    ['ann', { secrets: [{ secret }] }],
    ['bob', { secrets: bobs }],
  ]);
  return accountsWith(users, { ann: [...keys.values()] });
}

function accountKey(id: string): AccountKey {
  const key = signingKey(id);
  if (key.algorithm === 'hmac-sha256')
    return { id, algorithm: 'hmac-sha256', secret: new SigningKey(Buffer.from(key.secret)) };
  return { id, algorithm: key.algorithm, publicKey: publicKey(id).publicKey };
}

export interface SchemeSetting {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly accounts?: Accounts;
  readonly explain?: boolean;
  readonly notBefore?: number;
}

/** The result of a verification. */
interface Judged {
  readonly verdict: Verdict;
  /** The type of the Problem, or `good` and the name of the principal. */
  readonly outcome: string;
  readonly trace: AuthenticationTrace;
}

interface SchemeUnderTest {
  readonly scheme: Verifier;
  readonly clock: ManualClock;
  judge(request: IncomingRequest): Promise<Judged>;
}

/** What a test double knows beside the accounts. */
const knowledge: TraceKnowledge = {
  userNames: ['ann', 'bob'],
  keyIds: [],
  secrets: [],
  hosts: [],
  isLimited: false,
  content: async () => undefined,
};

/** Creates the scheme with a clock that shows `start`. */
export function openScheme({
  options = {},
  accounts = accountsWithKeys(),
  explain = false,
  notBefore,
}: SchemeSetting = {}): SchemeUnderTest {
  const read = readMessageSignaturesOptions(options, 'schemes.message-signatures');
  const { scheme, clock } = openAnyScheme(createMessageSignaturesScheme('message-signatures', read), {
    at: start * 1000,
    context: { accounts, explain, notBefore, bodyLimit: 1024 },
  });
  return {
    scheme,
    clock,
    async judge(request) {
      const trace = new AuthenticationTrace(() => knowledge);
      const verdict = await scheme.authenticate(request, '', trace);
      const outcome = verdict.outcome === 'good' ? `good ${verdict.principal.name}` : verdict.problem.type;
      return { verdict, outcome, trace };
    },
  };
}

/** Returns the Problem of a refusal. */
export function requireProblem(verdict: Verdict): Problem {
  if (verdict.outcome === 'good') throw new Error('the request was accepted');
  return verdict.problem;
}

/** A request as it arrives, with further fields. */
export function arriving(
  { method, url, target, fields = [], content }: RequestToSign,
  more: readonly (readonly [string, string])[],
): IncomingRequest {
  const { host, pathname, search, protocol } = new URL(url);
  const hasHost = fields.some(([name]) => name === 'Host');
  return createRequest({
    method,
    target: target ?? pathname + search,
    secure: protocol === 'https:',
    headers: [...(hasHost ? [] : [['Host', host] as const]), ...fields, ...more],
    ...(content === undefined ? {} : { body: content }),
  });
}

/** Signs a request and returns it as it arrives. */
export function signed(request: RequestToSign, signing: Partial<MessageSigning> = {}): IncomingRequest {
  const lines = signMessage(request, { key: annsSecret, created: start, ...signing });
  return arriving(request, Object.entries(lines));
}

/** A request to sign. */
export const get: RequestToSign = { method: 'GET', url: 'https://example.com/articles?limit=5' };

/** Returns the outcome of a request to a scheme that has seen no other. */
export async function judgeRequest(request: IncomingRequest, setting: SchemeSetting = {}): Promise<string> {
  const { outcome } = await openScheme(setting).judge(request);
  return outcome;
}
