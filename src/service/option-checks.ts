import { checkQuota } from '../auth/quota/policy.ts';
import { defaultLifetimes } from '../oauth/lifetimes.ts';
import { isBasePath } from '../pipeline/proxy.ts';
import { kindOf } from '../shape/fault.ts';
import {
  checkFlag,
  checkFunction,
  checkMembers,
  checkNumber,
  checkObject,
  checkString,
  checkText,
  checkWord,
  shown,
} from './argument-checks.ts';
import { checkCors } from './cors-checks.ts';
import { defaultLimits, type ServiceOptions } from './options.ts';
import { checkResource } from './resource-checks.ts';

/**
 * Checks the values of options that would otherwise be ignored or converted. The parts of the service check the others.
 * @throws RangeError with the nearest known name
 */
export function checkOptionValues(options: Omit<ServiceOptions, 'users'>): void {
  const { limits, lifetimes, resources, seed, collections } = options;
  for (const name of ['realm', 'publicUrl', 'basePath'] as const) checkText(options[name], name);
  for (const name of ['notBefore', 'maxNonces', 'maxNoncesPerUser'] as const)
    checkNumber(options[name], name);
  for (const name of ['requireBodyDigest', 'explain', 'strictQuery', 'openapi', 'requestId'] as const)
    checkFlag(options[name], name);
  checkWord(options.defaultFormat, ['xml', 'json'], 'a value of defaultFormat');
  checkNumber(options.idempotencyLifetime, 'idempotencyLifetime', { least: 1, most: 31_536_000 });
  checkNumber(options.maxIdempotencyKeysPerUser, 'maxIdempotencyKeysPerUser', { least: 1, whole: true });
  for (const name of ['log', 'onError'] as const) checkFunction(options[name], name);
  checkHealth(options.health);
  if (options.quota !== undefined) checkQuota(options.quota, 'quota');
  if (limits !== undefined) checkNumbers(limits, Object.keys(defaultLimits), 'limits');
  if (lifetimes !== undefined) checkNumbers(lifetimes, Object.keys(defaultLifetimes), 'lifetimes');
  checkCors(options.cors, 'cors');
  checkRegistered(options.clients, 'client');
  checkRegistered(options.consumers, 'consumer');
  checkTrustProxy(options.trustProxy);
  if (seed !== undefined) checkObject(seed, 'seed');
  checkCollections(collections);
  if (resources === undefined) return;
  checkObject(resources, 'resources');
  for (const [template, resource] of Object.entries(resources)) checkResource(template, resource);
}

function checkCollections(collections: unknown): void {
  if (collections === undefined) return;
  if (!Array.isArray(collections)) checkObject(collections, 'collections');
  else if (collections.some((each) => typeof each?.path !== 'string' || each.shape === undefined))
    throw new RangeError('a list of collections must contain results of defineCollection');
}

/** Requires objects by name, unless the value is undefined. A message contains no value, which can be a secret. */
function checkRegistered(registered: unknown, what: string): void {
  if (registered === undefined) return;
  checkObject(registered, `${what}s`);
  const entries = registered instanceof Map ? registered.entries() : Object.entries(registered);
  for (const [name, one] of entries) checkObject(one, `the ${what} ${shown(name)}`);
}

function checkTrustProxy(networks: unknown): void {
  if (networks === undefined) return;
  if (!Array.isArray(networks))
    throw new RangeError(
      `trustProxy must be a list of networks such as ['10.0.0.0/8'], is ${kindOf(networks)}`,
    );
  for (const network of networks) checkString(network, 'a network of trustProxy');
}

function checkHealth(health: ServiceOptions['health']): void {
  if (health === undefined) return;
  checkMembers(health, ['path', 'check'], 'health', "such as { path: '/health' }");
  if (typeof health.path !== 'string' || !isBasePath(health.path))
    throw new RangeError('path of health must be a path such as /health, without a slash at the end');
  checkFunction(health.check, 'check of health');
}

/** Requires an object with these members, all of which are non-negative numbers. */
function checkNumbers(values: object, names: readonly string[], what: string): void {
  checkMembers(values, names, what);
  for (const [name, value] of Object.entries(values)) checkNumber(value, `${name} of ${what}`, { least: 0 });
}
