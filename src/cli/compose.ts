import type { Options } from '../options/options.ts';
import { createService, type Service } from '../service.ts';
import type { Limits, ServiceOptions, UserOption } from '../service-options.ts';
import type { StoredUser } from '../store/users.ts';
import { Refusal } from './refusal.ts';

/** Makes the service that the options ask for. Throws Refusal where its parts do not go together. */
export function composeService(
  options: Options,
  users: ReadonlyMap<string, UserOption>,
  more: Pick<ServiceOptions, 'store' | 'nonces' | 'notBefore' | 'log' | 'fault'>,
): Service {
  try {
    return createService({
      ...more,
      users,
      collections: options.collections,
      seed: options.seed,
      window: options.window,
      hmacSimple: options.hmacSimple,
      requireBodyDigest: options.hmacRequireBodyDigest,
      maxNonces: options.maxNonces,
      maxAuthFailures: options.maxAuthFailures,
      trustProxy: options.trustProxy,
      explain: options.explain,
      limits: limitsOf(options),
    });
  } catch (error) {
    // Two paths that are one, for instance: it takes all of them to see that.
    if (error instanceof RangeError) throw new Refusal([error.message]);
    throw error;
  }
}

function limitsOf(options: Options): Limits {
  return {
    body: options.maxBody,
    target: options.maxTarget,
    headers: options.maxHeaders,
    xmlDepth: options.maxXmlDepth,
    xmlAttributes: options.maxXmlAttributes,
    connections: options.maxConnections,
    headerTimeout: options.headerTimeout * 1000,
    requestTimeout: options.requestTimeout * 1000,
  };
}

/** The users of the configuration file and those kept in the data directory; the file's go before. */
export function allUsers(options: Options, stored: ReadonlyMap<string, StoredUser>): Map<string, UserOption> {
  const kept = [...stored].map(([name, user]): [string, UserOption] => [name, declarationOf(user)]);
  return new Map<string, UserOption>([...kept, ...options.users]);
}

function declarationOf({ secrets, password, disabled }: StoredUser): UserOption {
  return { secrets, disabled, password: password === undefined ? undefined : { hash: password } };
}
