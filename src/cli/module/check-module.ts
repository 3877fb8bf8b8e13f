import { userNameFault } from '../../auth/accounts.ts';
import { checkSchemes } from '../../auth/configured-schemes.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { checkFunction, checkMembers, checkObject } from '../../service/argument-checks.ts';
import { checkResource } from '../../service/resource-checks.ts';
import type { ServerModule } from '../../service/server-module.ts';
import { checkUser } from '../../service/user-checks.ts';
import { describeKind } from '../../shape/fault.ts';

/** The names of the members. The type checks that the list is complete. */
const memberNames: Readonly<Record<keyof ServerModule, true>> = {
  store: true,
  nonces: true,
  resources: true,
  users: true,
  schemes: true,
  onRequest: true,
};

/**
 * Checks what a module returned. The messages contain no secrets.
 * @throws RangeError with the nearest known name
 */
export function checkModule(returned: unknown): asserts returned is ServerModule {
  const names = Object.keys(memberNames);
  checkMembers(returned, names, 'what the function returns', `with any of ${names.join(', ')}`);
  const member = (name: keyof ServerModule): unknown => Reflect.get(returned, name);
  if (member('store') !== undefined) checkStore(member('store'));
  if (member('nonces') !== undefined) checkNonces(member('nonces'), 'nonces');
  const resources = member('resources');
  if (resources !== undefined && typeof resources !== 'function') checkResources(resources);
  if (member('users') !== undefined) checkUsers(member('users'));
  if (member('schemes') !== undefined) checkSchemes(member('schemes'), 'schemes');
  checkFunction(member('onRequest'), 'onRequest');
}

/** Requires an object of resources by path template. Throws RangeError. */
export function checkResources(resources: unknown): asserts resources is Readonly<Record<string, Resource>> {
  checkObject(resources, 'resources', "such as { '/path': { GET: action('anyone', …) } }");
  for (const [template, resource] of Object.entries(resources)) checkResource(template, resource);
}

function checkStore(store: unknown): void {
  checkObject(store, 'store');
  const storeId: unknown = Reflect.get(store, 'storeId');
  if (typeof storeId !== 'string' || !/^[A-Za-z0-9]{1,32}$/.test(storeId))
    throw new RangeError('storeId of store must be 1 to 32 letters and digits');
  checkMethods(store, 'store', ['read', 'list', 'apply', 'close']);
  for (const name of ['receipt', 'exportState', 'importState'])
    checkFunction(Reflect.get(store, name), `${name} of store`);
  const nonces: unknown = Reflect.get(store, 'nonces');
  if (nonces !== undefined) checkNonces(nonces, 'nonces of store');
  const documents: unknown = Reflect.get(store, 'documents');
  if (documents === undefined) return;
  checkObject(documents, 'documents of store');
  if (typeof Reflect.get(documents, 'location') !== 'string')
    throw new RangeError('location of documents of store must be text');
  checkMethods(documents, 'documents of store', ['read', 'replace', 'watch']);
}

function checkNonces(nonces: unknown, what: string): void {
  checkObject(nonces, what);
  checkMethods(nonces, what, ['claim', 'kept', 'hold', 'release']);
}

function checkMethods(value: object, what: string, names: readonly string[]): void {
  for (const name of names) {
    const method: unknown = Reflect.get(value, name);
    if (typeof method !== 'function')
      throw new RangeError(`${name} of ${what} must be a function, is ${describeKind(method)}`);
  }
}

function checkUsers(users: unknown): void {
  checkObject(users, 'users', 'such as { johndoe: { secret: … } }');
  for (const [name, user] of users instanceof Map ? users : Object.entries(users)) {
    const fault = typeof name === 'string' ? userNameFault(name) : 'the name of a user must be text';
    if (fault !== undefined) throw new RangeError(`users: ${fault}`);
    checkUser(name, user, false);
  }
}
