import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Accounts, createAccounts } from '../../../../src/accounts/accounts.ts';
import { createManualClock, type ManualClock } from '../../../../src/clock.ts';
import { parseCredentials } from '../../../../src/http/headers/authorization.ts';
import { createRequest, type IncomingRequest } from '../../../../src/http/message.ts';
import { Problem } from '../../../../src/http/problem.ts';
import type { PathRules } from '../../../../src/schemes/aws4/canonical-request.ts';
import { readAws4Options } from '../../../../src/schemes/aws4/options.ts';
import { createAws4Scheme } from '../../../../src/schemes/aws4/scheme.ts';
import type { Aws4SignOptions } from '../../../../src/schemes/aws4/sign.ts';
import { createVerifier } from '../../../../src/schemes/create-verifier.ts';
import { createKey } from '../../../../src/schemes/hmac/credentials.ts';
import type { SchemeContext } from '../../../../src/schemes/scheme-context.ts';
import { AuthenticationTrace } from '../../../../src/schemes/trace.ts';
import type { Verdict, Verifier } from '../../../../src/schemes/verifier.ts';
import { createNonces } from '../../../../src/store/nonces/nonces.ts';
import { keepSaid, keepSecret } from '../../transcript.ts';

/** The credentials and the time of the AWS Signature Version 4 test suite. */
export const accessKeyId = 'AKIDEXAMPLE';
export const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
export const time = Date.UTC(2015, 7, 30, 12, 36);

/** A request of `fixtures/aws4/`. */
export interface Aws4Case {
  readonly name: string;
  readonly service: string;
  readonly method: string;
  readonly target: string;
  readonly fields: readonly [name: string, value: string][];
  readonly content: string;
  readonly canonicalRequest: string;
  readonly stringToSign: string;
}

/** Reads the cases of a file in `fixtures/aws4/`. */
export function aws4Cases(file: string): readonly Aws4Case[] {
  const text = readFileSync(join(import.meta.dirname, '../../../../fixtures/aws4', file), 'utf8');
  const { cases }: { readonly cases: readonly Aws4Case[] } = JSON.parse(text);
  return cases;
}

/** A request as it is received. */
interface Received {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Each character is one octet. */
  readonly content?: string | undefined;
}

/** Creates a request. Empty content is no content. */
export function received({ method, target, fields, content = '' }: Received): IncomingRequest {
  const parts = { method, target, headers: fields };
  return createRequest(content === '' ? parts : { ...parts, body: Buffer.from(content, 'latin1') });
}

/** The scheme on a clock that stands, with the users AKIDEXAMPLE and ann, who has the key AKIAANN. */
interface Aws4Service {
  readonly scheme: Verifier;
  readonly clock: ManualClock;
  verdictOn(request: IncomingRequest, authTrace?: AuthenticationTrace): Promise<Verdict>;
  /** The principal's name, or the type of the problem. */
  judge(request: IncomingRequest): Promise<string>;
  problemWith(request: IncomingRequest): Promise<Problem>;
  /** The details that the trace records of a refused request. */
  trace(request: IncomingRequest): Promise<AuthenticationTrace>;
}

/** Creates accounts with a key in the manner of the composed service. */
function aws4Accounts(): Accounts {
  const accounts = createAccounts(
    new Map([
      [accessKeyId, { secrets: [{ secret }, { secret: 'expired-secret-of-somebody', until: time }] }],
      ['ann', { secrets: [{ secret: 'the-secret-of-ann-herself' }] }],
      ['empty', { secrets: [] }],
      ['jürgen', { secrets: [{ secret: 'the-secret-of-jürgen' }] }],
    ]),
  );
  const key = { id: 'AKIAANN', algorithm: 'aws4', secret: createKey('the-secret-of-the-key') } as const;
  return {
    ...accounts,
    find: (name) => accounts.find(name),
    findComposed: (name) => accounts.findComposed(name),
    findKey(id) {
      const account = accounts.find('ann');
      return id === key.id && account !== undefined && !(account instanceof Promise)
        ? { account, key }
        : undefined;
    },
  };
}

/** Opens the scheme with the region us-east-1 and the service `service`, unless `options` differ. */
export function openAws4Service(
  options: Readonly<Record<string, unknown>> = {},
  changes: Partial<SchemeContext> = {},
): Aws4Service {
  keepSecret(secret);
  const clock = createManualClock(time);
  const context: SchemeContext = {
    realm: 'test',
    accounts: aws4Accounts(),
    nonces: createNonces({
      bucketSpan: 225_000,
      max: 1000,
      maxPerUser: 1000,
      key: new Uint8Array(16),
      monotonic: () => clock.steady(),
    }),
    clock,
    nonceWindow: 900_000,
    explain: false,
    bodyLimit: 100_000,
    ...changes,
  };
  const read = readAws4Options({ region: 'us-east-1', service: 'service', ...options }, 'schemes.aws4');
  const scheme = createVerifier(createAws4Scheme('aws4', read), context);
  const verdictOn = async (request: IncomingRequest, authTrace?: AuthenticationTrace): Promise<Verdict> => {
    const credentials = parseCredentials(request.headers.get('authorization') ?? '');
    try {
      return await scheme.authenticate(request, credentials?.rest ?? '', authTrace);
    } catch (problem) {
      if (problem instanceof Problem) return { outcome: 'bad', problem };
      throw problem;
    }
  };
  const problemWith = async (request: IncomingRequest): Promise<Problem> => {
    const verdict = await verdictOn(request);
    if (verdict.outcome === 'good') throw new Error(`${verdict.principal.name} passed`);
    const { problem } = verdict;
    keepSaid(JSON.stringify([problem.detail, problem.headers, problem.members, problem.document ?? '']));
    return problem;
  };
  return {
    scheme,
    clock,
    verdictOn,
    problemWith,
    async judge(request) {
      const verdict = await verdictOn(request);
      return verdict.outcome === 'good' ? verdict.principal.name : verdict.problem.type;
    },
    async trace(request) {
      const authTrace = new AuthenticationTrace();
      await verdictOn(request, authTrace);
      return authTrace;
    },
  };
}

/** Returns the options of a signature with the credentials of the test suite. */
export function signOptions(changes: Partial<Aws4SignOptions> = {}): Aws4SignOptions {
  const service = changes.service ?? 'service';
  return { accessKeyId, secret, region: 'us-east-1', service, time, ...selectPathRules(service), ...changes };
}

/** Returns whether the path of a target has neither dot segments nor repeated slashes. */
export function isNormalizedTarget(target: string): boolean {
  return !/\/\/|\/\.\.?(?:\/|$)/.test(target.replace(/\?.*$/s, ''));
}

/** Returns the path rules of a service. */
export function selectPathRules(service: string): PathRules {
  const { normalizePath, doubleEncode, plusInPath } = readAws4Options({ region: 'any', service }, 'aws4');
  return { normalizePath, doubleEncode, plusInPath };
}
