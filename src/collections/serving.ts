import type { DocumentFormat } from '../pipeline/resource.ts';
import type { SearchedStore } from './lists/search.ts';

/** The options of a service that the resources of collections depend on. */
export interface Serving {
  /** The format of responses to clients that accept both. Default: XML. */
  readonly defaultFormat?: DocumentFormat | undefined;
  /**
   * If given, unknown and repeated query parameters of lists are rejected. Returns whether a parameter belongs to the credentials of a scheme.
   */
  readonly isCredential?: ((parameter: string) => boolean) | undefined;
  /** The searches of all collections. Default: each collection has its own. */
  readonly searched?: SearchedStore | undefined;
}
