import { isToken } from '../http/syntax/token.ts';
import { accessMemberFault, accessRules, scopeInRule, scopeRuleFault } from '../pipeline/access-rule.ts';
import type { Action, Resource } from '../pipeline/resource.ts';
import { describeKind } from '../shape/fault.ts';
import {
  checkFlag,
  checkFunction,
  checkMembers,
  checkObject,
  checkText,
  checkWord,
} from './argument-checks.ts';
import { checkCors } from './cors-checks.ts';

/** The names of the members. The type checks that the list is complete. */
const resourceNames: Readonly<
  Record<Exclude<keyof Resource, 'writeProblem' | 'verbatim' | 'checksParameters'>, true>
> = {
  GET: true,
  PUT: true,
  POST: true,
  PATCH: true,
  DELETE: true,
  methods: true,
  headAccess: true,
  produces: true,
  find: true,
  ownCredentials: true,
  schemes: true,
  defaultFormat: true,
  cors: true,
  requestHeaders: true,
  requirePrecondition: true,
  description: true,
};

/** The names of the members of an action. The type checks that the list is complete. */
const actionNames: Readonly<Record<keyof Action, true>> = {
  access: true,
  handle: true,
  reads: true,
  bodyOptional: true,
  storesNonce: true,
  scopes: true,
  checkHeaders: true,
  mayCreate: true,
  accessIf: true,
};

const actions = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const;

/**
 * Checks a resource in code. A misspelt method would be answered 405, and a misspelt access rule would permit nobody.
 * @throws RangeError with the nearest known name
 */
export function checkResource(template: unknown, resource: unknown): void {
  checkText(template ?? null, 'the path template of a resource');
  const what = `the resource at ${String(template)}`;
  checkObject(resource, what, "such as { GET: action('anyone', …) }");
  // An object of a class may have members for its own use.
  if (isPlain(resource)) checkMembers(resource, Object.keys(resourceNames), what);
  for (const name of actions) {
    const value: unknown = Reflect.get(resource, name);
    if (value !== undefined) checkAction(value, name, String(template));
  }
  checkFurtherMethods(Reflect.get(resource, 'methods'), String(template));
  checkFunction(Reflect.get(resource, 'find'), `find of ${what}`);
  checkAccess(Reflect.get(resource, 'headAccess'), 'HEAD', String(template));
  checkSchemes(Reflect.get(resource, 'schemes'), what);
  checkList(
    Reflect.get(resource, 'produces'),
    `produces of ${what}`,
    "variants, such as [{ type: 'text/xml', mark: 'x' }]",
  );
  checkWord(Reflect.get(resource, 'defaultFormat'), ['xml', 'json'], `a value of defaultFormat of ${what}`);
  checkCors(Reflect.get(resource, 'cors'), `cors of ${what}`);
  checkFieldNames(Reflect.get(resource, 'requestHeaders'), what);
  checkFlag(Reflect.get(resource, 'requirePrecondition'), `requirePrecondition of ${what}`);
}

/** Requires actions by method. HEAD and OPTIONS are derived, and the target of CONNECT is not a path (RFC 9110 §9.3.6). */
function checkFurtherMethods(methods: unknown, template: string): void {
  if (methods === undefined) return;
  const what = `methods of the resource at ${template}`;
  checkObject(methods, what, "such as { PROPFIND: action('anyone', …) }");
  for (const [name, value] of Object.entries(methods)) {
    if (!isToken(name)) throw new RangeError(`${JSON.stringify(name)} in ${what} is not a method`);
    if (name === 'HEAD' || name === 'OPTIONS' || name === 'CONNECT')
      throw new RangeError(`${name} cannot be in ${what}`);
    if (actions.some((each) => each === name))
      throw new RangeError(`${name} is a member of the resource itself, not of its methods`);
    checkAction(value, name, template);
  }
}

/** Requires a list of names, or of lists of names. Whether there are such schemes is checked when the resource is served. */
function checkSchemes(schemes: unknown, what: string): void {
  if (schemes === undefined) return;
  const isName = (name: unknown): boolean => typeof name === 'string';
  const isNames = (names: unknown): boolean =>
    Array.isArray(names) && names.length > 0 && names.every(isName);
  if (
    !Array.isArray(schemes) ||
    schemes.length === 0 ||
    !schemes.every((each) => isName(each) || isNames(each))
  )
    throw new RangeError(`schemes of ${what} must be a list of at least one name, such as ['hmac']`);
}

function checkFieldNames(names: unknown, what: string): void {
  if (names === undefined) return;
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string' && isToken(name)))
    throw new RangeError(`requestHeaders of ${what} must be a list of field names`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function checkAction(value: unknown, method: string, template: string): void {
  const what = `${method} of the resource at ${template}`;
  checkObject(value, what, "such as action('anyone', …)");
  checkFunction(Reflect.get(value, 'handle') ?? null, `the function of ${what}`);
  if (isPlain(value)) checkMembers(value, Object.keys(actionNames), what);
  checkList(Reflect.get(value, 'reads'), `reads of ${what}`, 'readers of content, such as [readBytes]');
  checkList(Reflect.get(value, 'scopes'), `scopes of ${what}`, "lists of scopes, such as [['read']]");
  checkAccess(Reflect.get(value, 'access'), method, template);
  checkFlag(Reflect.get(value, 'storesNonce'), `storesNonce of ${what}`);
  checkFlag(Reflect.get(value, 'bodyOptional'), `bodyOptional of ${what}`);
}

/** Requires a list, unless the value is undefined. A string would be read letter by letter. */
function checkList(value: unknown, what: string, members: string): void {
  if (value === undefined || Array.isArray(value)) return;
  throw new RangeError(`${what} must be a list of ${members}, is ${describeKind(value)}`);
}

/** Requires an access rule, unless it is undefined, which permits nobody. */
function checkAccess(access: unknown, method: string, template: string): void {
  const parameters = Array.from(template.matchAll(/\{([^{}]*)\}/g), ([, name = '']) => name);
  if (Array.isArray(access)) {
    for (const name of access) {
      checkText(name ?? null, `each name in the access rule of ${method} at ${template}`);
      const fault = accessMemberFault(String(name), parameters);
      if (fault !== undefined) throw new RangeError(`the access rule of ${method} at ${template}: ${fault}`);
    }
    return;
  }
  const scope = typeof access === 'string' ? scopeInRule(access) : undefined;
  if (scope !== undefined) {
    const fault = scopeRuleFault(scope);
    if (fault !== undefined) throw new RangeError(`the access rule of ${method} at ${template}: ${fault}`);
    return;
  }
  checkWord(
    access,
    [...accessRules, ...parameters.map((name) => `owner:${name}`)],
    `an access rule of ${method} at ${template}`,
  );
}
