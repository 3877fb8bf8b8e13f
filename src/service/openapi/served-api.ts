import type { Collection } from '../../collections/declaration.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { AuthScheme } from '../../schemes/auth-scheme.ts';
import type { ServiceOptions } from '../options.ts';

/** The path of the OpenAPI document. */
export const openApiPath = '/openapi.json';

/** What a service serves. */
export interface ServedApi {
  readonly collections: readonly Collection[];
  readonly resources: Readonly<Record<string, Resource>>;
  readonly options: Pick<
    ServiceOptions,
    'basePath' | 'publicUrl' | 'strictQuery' | 'defaultFormat' | 'health' | 'requestId' | 'openapi'
  >;
  readonly schemes: readonly AuthScheme[];
  /** Whether OAuth 2.0 and OAuth 1.0a are offered. */
  readonly oauth2: boolean;
  readonly oauth1: boolean;
  /** The scopes of OAuth 2.0. */
  readonly scopes: readonly Scope[];
  /** Whether the requests of users or peers are limited. */
  readonly quota: boolean;
}
