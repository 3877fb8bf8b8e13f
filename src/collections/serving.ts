import { Problem } from '../http/problem.ts';
import type { DocumentFormat } from '../pipeline/resource.ts';
import type { SearchedStore } from './lists/search.ts';
import type { References } from './references.ts';

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
  /** The references between all collections. Default: none. */
  readonly references?: References | undefined;
}

/** The maximum length of the path of a collection in bytes: databases index no longer texts. */
const maxPathLength = 2000;

/**
 * Returns the path of a collection that a request adds an item to.
 * @throws {Problem} `invalid-id` if its parameters are so long that not every store can store it
 */
export function requireStorablePath(path: string): string {
  // It is ASCII: other characters are percent-encoded.
  if (path.length <= maxPathLength) return path;
  throw new Problem('invalid-id', `The path of the collection has more than ${maxPathLength} bytes.`);
}
