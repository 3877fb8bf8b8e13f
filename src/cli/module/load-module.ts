import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listRegistered } from '../../accounts/registered.ts';
import { userNameFault } from '../../accounts/user-name.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Options } from '../../options/options.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { checkSchemes, readSchemes } from '../../schemes/configured-schemes.ts';
import type { UserDeclaration } from '../../service/options.ts';
import { checkResource } from '../../service/resource-checks.ts';
import type { ServerModule, ServerModuleOptions } from '../../service/server-module.ts';
import { checkUser } from '../../service/user-checks.ts';
import { describeKind } from '../../shape/fault.ts';
import {
  anything,
  callback,
  mapOf,
  object,
  optional,
  read,
  type Shape,
  type ShapesOf,
  text,
} from '../../shape/shape.ts';
import type { Store } from '../../store/store.ts';
import { CommandError, rethrowAsCommandError } from '../errors.ts';
import { moduleFault, redactPasswords } from './module-fault.ts';

/** The parts of the server that a module returned, all of them valid. */
export interface LoadedModule extends Pick<ServerModule, 'nonces' | 'onRequest'> {
  /** The path of the module, as it was given. */
  readonly file: string;
  readonly store: Store | undefined;
  /** The options of the server, with the schemes of the module. */
  readonly options: Options;
  readonly users: ReadonlyMap<string, UserDeclaration>;
  /** Removes passwords from a message about the parts of the module. */
  readonly withoutPasswords: (text: string) => string;
  /** Returns the resources in code. Rejects with CommandError. */
  resources(store: Store): Promise<Readonly<Record<string, Resource>>>;
}

/**
 * Loads the module of `--module` and calls its default export. Removes the encryption key from the environment before.
 *
 * @throws CommandError with one line that contains no password, if the module cannot be loaded or returns something invalid
 */
export async function loadModule(options: Options, environment: NodeJS.ProcessEnv): Promise<LoadedModule> {
  const file = options.module ?? '';
  const path = resolve(file);
  delete environment['COUNTERSIGN_KEY'];
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new CommandError([`the module ${file} does not exist`], 1);
  /** Runs code of the module. */
  const call = <T>(run: () => MaybePromise<T>): Promise<T> =>
    awaitSettled(
      file,
      (async () => run())().catch((error: unknown): never => {
        throw new CommandError([moduleFault(file, path, error, environment)], 1);
      }),
    );
  const check = <T>(run: () => T): T => rethrowAsCommandError(run, 1, `the module ${file}: `);
  const create = await call(() => importDefault(path));
  if (typeof create !== 'function')
    throw new CommandError(
      [`the default export of the module ${file} must be a function, is ${describeKind(create)}`],
      1,
    );
  const returned: unknown = await call(() => create(selectModuleOptions(options)));
  try {
    return check(() => {
      checkModule(returned);
      const { resources = {} } = returned;
      return {
        ...readModule(file, options, returned),
        withoutPasswords: (text) => redactPasswords(text, environment),
        async resources(store) {
          const made: unknown =
            typeof resources === 'function' ? await call(() => resources({ store })) : resources;
          return check(() => {
            checkResources(made);
            return made;
          });
        },
      };
    });
  } catch (error) {
    await closeReturnedStore(returned);
    throw error;
  }
}

async function importDefault(path: string): Promise<unknown> {
  const module: { default?: unknown } = await import(pathToFileURL(path).href);
  return module.default;
}

/** Waits for a promise of a module. Without anything that could settle it, the process would end without a message. */
async function awaitSettled<T>(file: string, promise: Promise<T>): Promise<T> {
  let onIdle = (): void => {};
  const idle = new Promise<never>((_, reject) => {
    onIdle = () =>
      reject(new CommandError([`the module ${file} returned a promise that is never settled`], 1));
  });
  process.once('beforeExit', onIdle);
  try {
    return await Promise.race([promise, idle]);
  } finally {
    process.off('beforeExit', onIdle);
  }
}

/** Returns the parts of a module. Throws RangeError if they conflict with the configuration. */
function readModule(
  file: string,
  options: Options,
  module: ServerModule,
): Omit<LoadedModule, 'resources' | 'withoutPasswords'> {
  const { store, nonces, onRequest, users = {}, schemes = {} } = module;
  const ofModule = new Map<string, UserDeclaration>(listRegistered(users));
  checkDistinct('user', ofModule.keys(), new Set(options.users.keys()), options);
  checkDistinct('scheme', Object.keys(schemes), new Set(Object.keys(options.schemes)), options);
  const windows = readSchemes(schemes).map(({ window }) => window);
  const merged = {
    ...options,
    schemes: { ...options.schemes, ...schemes },
    nonceWindow: Math.max(options.nonceWindow, ...windows),
  };
  if (store !== undefined && options.memory) throw new RangeError('it has a store, which excludes --memory');
  // The test double that the control interface then controls has its own nonces.
  if (nonces !== undefined && options.memory && options.controlPort !== undefined)
    throw new RangeError('it has nonces, which excludes --memory together with --control-port');
  return {
    file,
    store,
    options: Object.freeze(merged),
    users: ofModule,
    nonces,
    onRequest,
  };
}

function checkDistinct(
  what: string,
  names: Iterable<string>,
  others: ReadonlySet<string>,
  { config }: Options,
): void {
  for (const name of names)
    if (others.has(name)) throw new RangeError(`the ${what} ${name} is also declared in ${config}`);
}

/**
 * Returns the options that a module receives: those of the option table, without the file with the encryption key. `nonceWindow` is in
 * seconds, like the `window` of stores.
 */
function selectModuleOptions(options: Options): ServerModuleOptions {
  const {
    users,
    clients,
    consumers,
    schemes,
    oauth2,
    collections,
    seed,
    warnings,
    flags,
    keyFile,
    ...plain
  } = options;
  return Object.freeze({
    ...plain,
    nonceWindow: plain.nonceWindow / 1000,
    trustProxy: Object.freeze([...plain.trustProxy]),
    corsOrigin: Object.freeze([...plain.corsOrigin]),
    quota: plain.quota && Object.freeze(plain.quota.map((policy) => Object.freeze({ ...policy }))),
  });
}

/** Closes the store that an invalid module returned, if it has one. */
async function closeReturnedStore(returned: unknown): Promise<void> {
  if (typeof returned !== 'object' || returned === null) return;
  const store: unknown = Reflect.get(returned, 'store');
  if (typeof store !== 'object' || store === null) return;
  const close: unknown = Reflect.get(store, 'close');
  if (typeof close === 'function') await Promise.resolve(close.call(store)).catch(() => {}); // the first error is reported
}

/** Describes an object with these methods, and others, which its prototype can have. */
function describeMethods(
  required: readonly string[],
  further: Readonly<Record<string, Shape<unknown>>> = {},
): Shape<unknown> {
  const methods = Object.fromEntries(required.map((name) => [name, callback()]));
  const others = Object.fromEntries(Object.entries(further).map(([name, shape]) => [name, optional(shape)]));
  const shape = object({ ...methods, ...others });
  const names = [...required, ...Object.keys(further)];
  const select = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(names.map((name) => [name, Reflect.get(value, name)]))
      : value;
  return { ...shape, read: (value, path) => shape.read(select(value), path) };
}

const noncesShape = describeMethods(['claim']);

const storeShape = describeMethods(['read', 'list', 'apply', 'close'], {
  storeId: text(undefined, { form: /^[A-Za-z0-9]{1,32}$/, expected: '1 to 32 letters and digits' }),
  receipt: callback(),
  exportState: callback(),
  importState: callback(),
  nonces: noncesShape,
  documents: describeMethods(['read', 'replace', 'watch'], { location: text() }),
});

const members = {
  store: optional(storeShape),
  nonces: optional(noncesShape),
  resources: optional(anything),
  users: optional(anything),
  schemes: optional(anything),
  onRequest: optional(callback()),
} satisfies ShapesOf<ServerModule>;

const moduleShape = object(members, undefined, {
  expected: `an object with any of ${Object.keys(members).join(', ')}`,
});

/**
 * Checks what a module returned. The messages contain no secrets.
 * @throws RangeError with the nearest known name
 */
function checkModule(returned: unknown): asserts returned is ServerModule {
  const { resources, users, schemes } = read(moduleShape, returned, 'what the function returns');
  if (resources !== undefined && typeof resources !== 'function') checkResources(resources);
  if (users !== undefined) checkUsers(users);
  if (schemes !== undefined) checkSchemes(schemes, 'schemes');
}

const resourcesShape = mapOf(anything, undefined, {
  expected: "an object such as { '/path': { GET: action('anyone', …) } }",
});

/** Requires an object of resources by path template. Throws RangeError. */
function checkResources(resources: unknown): asserts resources is Readonly<Record<string, Resource>> {
  for (const [template, resource] of Object.entries(read(resourcesShape, resources, ['resources'])))
    checkResource(template, resource);
}

const usersShape = mapOf(anything, undefined, {
  expected: 'an object such as { johndoe: { secret: … } }',
  orMap: true,
});

function checkUsers(users: unknown): void {
  for (const [name, user] of Object.entries(read(usersShape, users, ['users']))) {
    const fault = userNameFault(name);
    if (fault !== undefined) throw new RangeError(`users: ${fault}`);
    checkUser(name, user, false);
  }
}
