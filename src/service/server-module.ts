import type { MaybePromise } from '../maybe-promise.ts';
import type { AccessLogEntry } from '../pipeline/options.ts';
import type { Resource } from '../pipeline/resource.ts';
import type { SchemeDeclarations } from '../schemes/scheme-declarations.ts';
import type { NonceStore } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import type { ServiceOptions } from './options.ts';

/** The options of the server by their names in the configuration file. Those that can contain secrets are left out. */
export type ServerModuleOptions = Readonly<
  Record<string, string | number | boolean | readonly string[] | readonly object[] | undefined>
>;

/** Parts of the server, which a module of `--module` returns. All are optional. */
export interface ServerModule {
  /** Stores items instead of the data directory. It is closed when the server stops. */
  readonly store?: Store | undefined;
  /** Stores nonces. Default: those of the store, or of the data directory. */
  readonly nonces?: NonceStore | undefined;
  /** Resources in code by path template, or a function that returns them. The store may be that of the data directory. */
  readonly resources?: ServiceOptions['resources'] | ModuleResources | undefined;
  /** Users by name, in addition to the others. */
  readonly users?: NonNullable<ServiceOptions['users']> | undefined;
  /** Authentication schemes by name, in addition to those of the configuration file. */
  readonly schemes?: SchemeDeclarations | undefined;
  /**
   * Called after each response with the entry of the access log, also if the log is off. What it throws is logged, once
   * per kind of error, and changes nothing.
   */
  readonly onRequest?: ((entry: AccessLogEntry) => unknown) | undefined;
}

/** Returns resources in code that use the store of the server. */
type ModuleResources = (parts: { readonly store: Store }) => MaybePromise<Readonly<Record<string, Resource>>>;

/** The default export of a module of `--module`. */
export type ServerModuleFactory = (options: ServerModuleOptions) => MaybePromise<ServerModule>;
