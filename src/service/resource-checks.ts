import type { Collection } from '../collections/declaration.ts';
import { didYouMean } from '../did-you-mean.ts';
import { isToken } from '../http/syntax/token.ts';
import {
  accessMemberFault,
  accessRules,
  roleInRule,
  roleRuleFault,
  scopeInRule,
  scopeRuleFault,
} from '../pipeline/access-rule.ts';
import { readCors } from '../pipeline/cors-policy.ts';
import {
  type Action,
  actionFor,
  listFurtherMethods,
  namedMethods,
  type Resource,
  scopesInAccess,
} from '../pipeline/resource.ts';
import type { Scope } from '../principal.ts';
import { createFault } from '../shape/fault.ts';
import {
  anything,
  callback,
  flag,
  grammar,
  leaf,
  listOf,
  mapOf,
  object,
  optional,
  read,
  type Shape,
  type ShapesOf,
  text,
  textLike,
  word,
} from '../shape/shape.ts';
import type { ServedRoutes } from './routes.ts';

/** Describes a list whose members are checked where they are used. A string would be read letter by letter. */
function describeList(members: string): Shape<readonly unknown[]> {
  return listOf(anything, undefined, { expected: `a list of ${members}` });
}

/** Describes a plain object with these members, or an object of a class, which may have members for its own use. */
function describeObject(members: Parameters<typeof object>[0], expected: string): Shape<object> {
  const shape = object(members, undefined, { expected });
  const select = (value: object): object =>
    Object.fromEntries(Object.keys(members).map((name) => [name, Reflect.get(value, name)]));
  return { ...shape, read: (value, path) => shape.read(isOfClass(value) ? select(value) : value, path) };
}

function isOfClass(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null;
}

const actionShape = describeObject(
  {
    access: optional(anything),
    handle: callback(),
    reads: optional(describeList('readers of content, such as [readBytes]')),
    bodyOptional: optional(flag()),
    scopes: optional(describeList("lists of scopes, such as [['read']]")),
    checkHeaders: optional(anything),
    mayCreate: optional(anything),
    permitsState: optional(anything),
  } satisfies ShapesOf<Action>,
  "an object such as action('anyone', …)",
);

const methods = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const;

/** Describes actions by method. HEAD and OPTIONS are derived, and the target of CONNECT is not a path (RFC 9110 §9.3.6). */
const furtherMethodsShape = mapOf(actionShape, undefined, {
  expected: "an object such as { PROPFIND: action('anyone', …) }",
  checkName(name, path) {
    if (!isToken(name)) return [createFault(path, 'is not a method')];
    if (name === 'HEAD' || name === 'OPTIONS' || name === 'CONNECT')
      return [createFault(path, 'is derived, or has no path')];
    const isMember = methods.some((each) => each === name);
    return isMember ? [createFault(path, 'is a member of the resource itself, not of its methods')] : [];
  },
});

/** Describes names of schemes, or lists of them. Whether there are such schemes is checked when the resource is served. */
const schemesShape = leaf(
  {},
  "a list of at least one name, such as ['hmac']",
  (value): value is readonly (string | readonly string[])[] =>
    isFilled(value) && value.every((each) => isName(each) || (isFilled(each) && each.every(isName))),
);

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function isName(value: unknown): boolean {
  return typeof value === 'string';
}

const fieldName = textLike(
  {},
  (name): name is string => isToken(name),
  () => 'is not a field name',
);

const resourceShape = describeObject(
  {
    GET: optional(actionShape),
    PUT: optional(actionShape),
    POST: optional(actionShape),
    PATCH: optional(actionShape),
    DELETE: optional(actionShape),
    methods: optional(furtherMethodsShape),
    headAccess: optional(anything),
    produces: optional(describeList("variants, such as [{ type: 'text/xml', mark: 'x' }]")),
    find: optional(callback()),
    ownCredentials: optional(anything),
    schemes: optional(schemesShape),
    defaultFormat: optional(word(['xml', 'json'])),
    cors: optional(grammar({}, 'a list of origins', checkCors)),
    requestHeaders: optional(listOf(fieldName, undefined, { expected: 'a list of field names' })),
    requirePrecondition: optional(flag()),
    hide: optional(flag()),
    description: optional(anything),
  } satisfies ShapesOf<Omit<Resource, 'writeProblem' | 'verbatim' | 'checksParameters'>>,
  "an object such as { GET: action('anyone', …) }",
);

/**
 * Checks a resource in code. A misspelt method would be answered 405, and a misspelt access rule would permit nobody.
 * @throws RangeError with the nearest known name
 */
export function checkResource(template: unknown, resource: unknown): void {
  const path = read(text(), template, 'the path template of a resource');
  const what = `the resource at ${path}`;
  read(resourceShape, resource, what);
  const further: unknown = readMember(resource, 'methods');
  const actions = [
    ...methods.map((method) => [method, readMember(resource, method)] as const),
    ...Object.entries(Object(further)),
  ];
  for (const [method, action] of actions)
    checkAccess(readMember(action, 'access'), `access of ${method} of ${what}`, path);
  checkAccess(readMember(resource, 'headAccess'), `headAccess of ${what}`, path);
}

function readMember(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

/** Requires an access rule, unless it is undefined, which permits nobody. */
function checkAccess(access: unknown, what: string, template: string): void {
  if (access === undefined) return;
  const parameters = Array.from(template.matchAll(/\{([^{}]*)\}/g), ([, name = '']) => name);
  const rule = typeof access === 'string' ? access : '';
  const [scope, role] = [scopeInRule(rule), roleInRule(rule)];
  if (scope !== undefined || role !== undefined) {
    const fault = scope === undefined ? roleRuleFault(role ?? '') : scopeRuleFault(scope);
    if (fault !== undefined) throw new RangeError(`${what}: ${fault}`);
    return;
  }
  if (!Array.isArray(access)) {
    const rules = [...accessRules, ...parameters.map((name) => `owner:${name}`)];
    read(word(rules, undefined, 'an access rule'), access, what);
    return;
  }
  for (const name of access) {
    const fault = accessMemberFault(read(text(), name, `each name in ${what}`), parameters);
    if (fault !== undefined) throw new RangeError(`${what}: ${fault}`);
  }
}

/** Checks the value of an option `cors`, unless it is undefined. `what` names it in the message. Throws RangeError. */
export function checkCors(value: unknown, what: string): void {
  if (value !== undefined) readCors(value, (at, fault) => new RangeError(`${what}${at}: ${fault}`));
}

/** Returns whether a collection or a resource has a `cors` of its own. */
export function someUseCors(
  collections: readonly Collection[],
  resources: Readonly<Record<string, Resource>>,
): boolean {
  return [...collections, ...Object.values(resources)].some(({ cors }) => cors !== undefined);
}

/**
 * Checks the scopes that access rules name. A misspelt one would permit nobody.
 * @throws RangeError with the nearest scope
 */
export function checkNamedScopes(
  existing: readonly Scope[],
  collections: readonly Collection[],
  resources: ServedRoutes['resources'],
): void {
  const check = (named: readonly Scope[], what: string): void => {
    const unknown = named.find((scope) => !existing.includes(scope));
    if (unknown === undefined) return;
    const hint = didYouMean(unknown, existing) || '; the scopes are those of oauth2.scopes';
    throw new RangeError(`${what}: there is no scope ${JSON.stringify(unknown)}${hint}`);
  };
  for (const { path, access } of collections)
    for (const rule of Object.values(access)) check(scopesInAccess(rule), `collections.${path}.access`);
  for (const [template, resource] of Object.entries(resources))
    for (const method of [...namedMethods, ...listFurtherMethods(resource)])
      check(
        scopesInAccess(actionFor(resource, method)?.access ?? 'nobody'),
        `the access rule of ${method} at ${template}`,
      );
}
