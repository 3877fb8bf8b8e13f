import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AccountKey } from '../../../../src/accounts/account-key.ts';
import { type Account, createAccounts } from '../../../../src/accounts/accounts.ts';
import type { AccountRecord } from '../../../../src/accounts/user-declaration.ts';
import { createManualClock, type ManualClock } from '../../../../src/clock.ts';
import { parseCredentials } from '../../../../src/http/headers/authorization.ts';
import type { IncomingRequest } from '../../../../src/http/message.ts';
import { Problem } from '../../../../src/http/problem.ts';
import type { Principal } from '../../../../src/principal.ts';
import type { AuthScheme } from '../../../../src/schemes/auth-scheme.ts';
import { createVerifier } from '../../../../src/schemes/create-verifier.ts';
import { readDeclaredOptions } from '../../../../src/schemes/declared/options.ts';
import { createDeclaredScheme } from '../../../../src/schemes/declared/scheme.ts';
import { createKey } from '../../../../src/schemes/hmac/credentials.ts';
import type { SchemeContext } from '../../../../src/schemes/scheme-context.ts';
import type {
  Signature,
  SigningIdentity,
  SigningOverrides,
  UnsignedRequest,
} from '../../../../src/schemes/signing.ts';
import { AuthenticationTrace } from '../../../../src/schemes/trace.ts';
import type { Verifier } from '../../../../src/schemes/verifier.ts';
import { createNonces } from '../../../../src/store/nonces/nonces.ts';
import { keepSaid } from '../../transcript.ts';

/** The server's time at the start of every test. */
export const start = Date.UTC(2024, 1, 29, 12, 0, 0);
/** The same in seconds, as most signatures state it. */
export const startSeconds = String(start / 1000);

/** A scheme with its users, on a manual clock. Credentials in Authorization are read from there unless they are given. */
export interface SchemeTest {
  readonly scheme: Verifier;
  readonly clock: ManualClock;
  /** Resolves to the name of the principal, or the type of the problem. */
  verdictOn(request: IncomingRequest, rest?: string): Promise<string>;
  problemWith(request: IncomingRequest, rest?: string): Promise<Problem>;
  /** Resolves to the trace of an authentication. */
  trace(request: IncomingRequest, rest?: string): Promise<AuthenticationTrace>;
}

/** The parts of a scheme that a test replaces. */
export interface DeclaredParts {
  readonly users?: ReadonlyMap<string, AccountRecord>;
  /** Keys by the name of their user. */
  readonly keys?: Readonly<Record<string, readonly AccountKey[]>>;
  readonly context?: Partial<SchemeContext>;
  readonly at?: number;
}

const ann: ReadonlyMap<string, AccountRecord> = new Map([
  ['ann', { secrets: [{ secret: 'the secret of ann' }] }],
  ['bob', { secrets: [{ secret: 'the secret of bob' }] }],
]);

/** Opens a scheme as a configuration declares it. */
export function openDeclared(configuration: unknown, parts: DeclaredParts = {}): SchemeTest {
  const options = readDeclaredOptions(configuration, 'schemes.test');
  return openScheme(createDeclaredScheme('test', options), parts);
}

/** Signs a request as a client does, at the start of every test unless another time is given. */
export function signDeclared(
  request: UnsignedRequest,
  configuration: unknown,
  identity: SigningIdentity,
  options: SigningOverrides & { readonly now?: number } = {},
): Signature {
  const scheme = createDeclaredScheme('test', readDeclaredOptions(configuration, 'schemes.test'));
  return scheme.sign(request, identity, { now: start, random: randomBytes, ...options });
}

/** Opens any scheme of a configuration. */
export function openScheme(configured: AuthScheme, parts: DeclaredParts): SchemeTest {
  const { users = ann, keys = {}, context = {}, at = start } = parts;
  const clock = createManualClock(at);
  const scheme = createVerifier(configured, {
    realm: 'test',
    accounts: accountsWith(users, keys),
    nonces: createNonces({
      bucketSpan: 75_000,
      max: 1000,
      key: new Uint8Array(16),
      monotonic: () => clock.steady(),
    }),
    clock,
    nonceWindow: 300_000,
    explain: false,
    bodyLimit: 2_000_000,
    ...context,
  });
  const judge = async (
    request: IncomingRequest,
    rest = parseCredentials(request.headers.get('authorization') ?? '')?.rest ?? '',
    authTrace?: AuthenticationTrace,
  ): Promise<Principal | Problem> => {
    try {
      const verdict = await scheme.authenticate(request, rest, authTrace);
      return verdict.outcome === 'good' ? verdict.principal : verdict.problem;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  };
  return {
    scheme,
    clock,
    async verdictOn(request, rest) {
      const judged = await judge(request, rest);
      return judged instanceof Problem ? judged.type : judged.name;
    },
    async problemWith(request, rest) {
      const judged = await judge(request, rest);
      if (!(judged instanceof Problem)) throw new Error(`${judged.name} passed`);
      const { detail, headers, members, document = '' } = judged;
      keepSaid(JSON.stringify([detail, headers, members, document]));
      return judged;
    },
    async trace(request, rest) {
      const trace = new AuthenticationTrace();
      await judge(request, rest, trace);
      keepSaid(JSON.stringify(trace));
      return trace;
    },
  };
}

/** Creates accounts of users with keys. */
export function accountsWith(
  users: ReadonlyMap<string, AccountRecord>,
  keys: Readonly<Record<string, readonly AccountKey[]>>,
): SchemeContext['accounts'] {
  const accounts = createAccounts(users);
  const withKeys = new Map<string, Account>();
  for (const [name, own] of Object.entries(keys)) {
    const account = {
      name,
      secrets: (users.get(name)?.secrets ?? []).map(prepareSecret),
      password: undefined,
    };
    withKeys.set(name, { ...account, keys: new Map(own.map((key) => [key.id, key])) });
  }
  return {
    ...accounts,
    find: (name) => withKeys.get(name) ?? accounts.find(name),
    findKey(id) {
      for (const account of withKeys.values()) {
        const key = account.keys?.get(id);
        if (key !== undefined) return { account, key };
      }
      return undefined;
    },
  };
}

function prepareSecret({ secret, until }: { secret: string; until?: number | undefined }) {
  return until === undefined ? { key: createKey(secret) } : { key: createKey(secret), until };
}

const root = join(import.meta.dirname, '../../../..');

/** Reads a file of vectors. */
export function vectorsIn(name: string): unknown {
  return JSON.parse(readFileSync(join(root, 'fixtures/declared', name), 'utf8'));
}

/** Loads a package of test/node_modules. */
export const requireInstalled = createRequire(join(root, 'test/package.json'));

/** Returns the folder of a package of test/node_modules, for one that is an ES module. */
export function installedFolder(name: string): string {
  return join(root, 'test/node_modules', name);
}

/** Returns why a test is skipped if a package of test/node_modules is not installed; otherwise false. */
export function unlessInstalled(name: string): { skip: string | false } {
  return {
    skip: existsSync(installedFolder(name)) ? false : `${name} is not installed: npm ci --prefix test`,
  };
}
