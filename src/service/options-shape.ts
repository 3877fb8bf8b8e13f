import { quotaShape } from '../accounts/quota-policy.ts';
import { type Duration, requireDuration } from '../duration.ts';
import { defaultLifetimes } from '../oauth/lifetimes.ts';
import { oauth2Shape } from '../oauth/oauth2-shape.ts';
import { isBasePath } from '../pipeline/proxy.ts';
import { duration } from '../shape/duration.ts';
import { findFault } from '../shape/fault.ts';
import {
  anything,
  callback,
  either,
  flag,
  grammar,
  listOf,
  mapOf,
  number,
  object,
  optional,
  read,
  recursive,
  refine,
  type Shape,
  type ShapesOf,
  text,
  textLike,
  word,
} from '../shape/shape.ts';
import { defaultLimits, type HealthOptions, type ServiceOptions } from './options.ts';
import { checkCors, checkResource } from './resource-checks.ts';

const anyObject = mapOf(anything);

const positive = number({ min: 0, whole: false });

const lifetimesShape = object(
  Object.fromEntries(Object.keys(defaultLifetimes).map((name) => [name, optional(either(positive, text()))])),
);

/** Describes objects by name, or a Map of them. Their messages contain no value, which can be a secret. */
const registeredShape = mapOf(anyObject, undefined, { orMap: true });

const healthShape = object(
  {
    path: textLike(
      {},
      (path): path is string => isBasePath(path),
      () => 'must be a path such as /health, without a slash at the end',
      { expected: 'a path such as /health, without a slash at the end' },
    ),
    check: optional(callback()),
  } satisfies ShapesOf<HealthOptions>,
  undefined,
  { expected: "an object such as { path: '/health' }" },
);

const collectionsShape: Shape<unknown> = {
  ...anyObject,
  read: (value, path = []) => (Array.isArray(value) ? declaredShape : anyObject).read(value, path),
};

const declaredShape: Shape<unknown> = grammar({}, 'a list of collections', (value) => {
  if (
    Array.isArray(value) &&
    value.some((each) => typeof each?.path !== 'string' || each.shape === undefined)
  )
    throw new RangeError('a list of collections must contain results of defineCollection');
});

const resourcesShape = refine(mapOf(anything), (resources, path) =>
  Object.entries(resources).flatMap(([template, resource]) =>
    findFault([...path, template], () => checkResource(template, resource)),
  ),
);

/** Describes the options of a service. The parts of the service check the values of `anything`. */
export const serviceMembers = {
  clock: optional(anything),
  random: optional(callback()),
  store: optional(anything),
  users: optional(anything),
  collections: optional(collectionsShape),
  seed: optional(anyObject),
  resources: optional(resourcesShape),
  realm: optional(text()),
  window: optional(anything),
  notBefore: optional(anything),
  hmacSimple: optional(anything),
  requireBodyDigest: optional(flag()),
  schemes: optional(anything),
  clients: optional(registeredShape),
  oauth2: optional(recursive('oauth2', () => oauth2Shape)),
  signingKeys: optional(anything),
  consumers: optional(registeredShape),
  lifetimes: optional(lifetimesShape),
  publicUrl: optional(text()),
  masterKey: optional(anything),
  nonces: optional(anything),
  maxNonces: optional(number({ whole: false })),
  maxNoncesPerUser: optional(number({ whole: false })),
  idempotencyLifetime: optional(anything),
  maxIdempotencyKeysPerUser: optional(number({ min: 1 })),
  maxAuthFailures: optional(anything),
  quota: optional(quotaShape),
  trustProxy: optional(listOf(text(), undefined, { expected: "a list of networks such as ['10.0.0.0/8']" })),
  basePath: optional(text()),
  cors: optional(grammar({}, 'a list of origins', checkCors)),
  explain: optional(flag()),
  defaultFormat: optional(word(['xml', 'json'])),
  strictQuery: optional(flag()),
  openapi: optional(flag()),
  limits: optional(
    object(Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, optional(positive)]))),
  ),
  health: optional(healthShape),
  requestId: optional(flag()),
  onRequest: optional(callback()),
  observer: optional(anything),
  onError: optional(callback()),
} satisfies ShapesOf<ServiceOptions>;

const serviceShape = object(serviceMembers);

/**
 * Checks the options of a service. A misspelt one must not be ignored: the default may be less strict than what was meant.
 * @throws RangeError with the nearest known name
 */
export function checkServiceOptions(options: unknown): asserts options is ServiceOptions {
  read(serviceShape, options, { optionsOf: 'a service' });
}

const closeShape = object({ grace: optional(duration()) }, undefined, {
  expected: "an object such as { grace: '2s' }",
  ignoresOthers: true,
});

/**
 * Returns the grace period of `close`, in ms. A test framework that calls `close` as a hook passes a function or an object of its own, which
 * is ignored.
 * @throws RangeError if the options are invalid
 */
export function readGrace(options: unknown, fallback: Duration): number {
  const given = options === undefined || typeof options === 'function' ? {} : options;
  const { grace = fallback } = read(closeShape, given, { optionsOf: 'close' });
  return requireDuration(grace, 'grace');
}
