import { didYouMean } from '../../did-you-mean.ts';
import { originFault } from '../../http/headers/origin.ts';

/** Which pages of other origins may use a resource in browsers (the CORS protocol, Fetch §3.3). */
export interface CorsOptions {
  /**
   * The origins: `https://app.example`, also `null`, which sandboxed pages have; or `*` alone for all. None: no other origin.
   */
  readonly origins: readonly string[];
  /**
   * Whether requests may have credentials that the browser adds, as with `credentials: 'include'`. `Authorization` that a script
   * sets is none of them. Impossible with `*`. Default: false.
   */
  readonly credentials?: boolean;
  /** Seconds for which browsers may cache the response to a preflight. Range: 0 to 86 400. Default: 600. */
  readonly maxAge?: number;
}

/** The options, or only the origins. */
export type CorsDeclaration = CorsOptions | readonly string[];

/** The default of `maxAge`, in seconds. */
export const defaultCorsMaxAge = 600;
/** The longest `maxAge` that a browser uses, in seconds. */
export const longestCorsMaxAge = 86_400;

/** The declaration of a resource that no other origin may use. */
export const noOrigins: CorsDeclaration = [];

/** Options that were checked. */
export interface CorsPolicy {
  /** Whether every origin may use the resource. `origins` is then empty. */
  readonly any: boolean;
  /** The serialized origins. */
  readonly origins: ReadonlySet<string>;
  readonly credentials: boolean;
  readonly maxAge: number;
}

/** Returns whether a declaration is only the list of the origins. */
function isList(declared: CorsDeclaration): declared is readonly string[] {
  return Array.isArray(declared);
}

/** Returns the policy of a declaration that was checked. */
export function toCorsPolicy(declared: CorsDeclaration): CorsPolicy {
  const options: CorsOptions = isList(declared) ? { origins: declared } : declared;
  const { origins, credentials = false, maxAge = defaultCorsMaxAge } = options;
  const any = origins.includes('*');
  return { any, origins: new Set(any ? [] : origins), credentials, maxAge };
}

/** Returns what is wrong with a list of origins; undefined if nothing is. */
export function originsFault(origins: readonly string[], credentials: boolean): string | undefined {
  const wrong = origins.find((origin) => origin !== '*' && originFault(origin) !== undefined);
  if (wrong !== undefined) return `${JSON.stringify(wrong)} ${originFault(wrong)}`;
  if (!origins.includes('*')) return undefined;
  if (origins.length > 1) return '"*" includes all origins; remove the others';
  // Fetch §3.3.5: browsers refuse such a response.
  return credentials ? '"*" is impossible with credentials; write each origin' : undefined;
}

/** The names of the members. The type checks that the list is complete. */
const memberNames: Readonly<Record<keyof CorsOptions, true>> = {
  origins: true,
  credentials: true,
  maxAge: true,
};

/**
 * Reads a declaration from unchecked input.
 *
 * @param refuse Returns the error to throw. `at` is the position within the declaration: '' or `.maxAge`.
 */
export function readCors(source: unknown, refuse: (at: string, fault: string) => Error): CorsOptions {
  if (typeof source !== 'object' || source === null)
    throw refuse('', 'must be a list of origins such as https://app.example, or an object with origins');
  const members: Readonly<Record<string, unknown>> = Array.isArray(source)
    ? { origins: source }
    : Object.fromEntries(Object.entries(source));
  const names = Object.keys(memberNames);
  for (const name of Object.keys(members))
    if (!names.includes(name)) throw refuse(`.${name}`, `is not known${didYouMean(name, names)}`);
  const { origins, credentials = false, maxAge = defaultCorsMaxAge } = members;
  if (!isTexts(origins)) throw refuse('.origins', 'must be a list of origins such as https://app.example');
  if (typeof credentials !== 'boolean') throw refuse('.credentials', 'must be true or false');
  if (!isMaxAge(maxAge))
    throw refuse('.maxAge', `must be a whole number of seconds from 0 to ${longestCorsMaxAge}`);
  const fault = originsFault(origins, credentials);
  if (fault !== undefined) throw refuse('.origins', fault);
  return { origins, credentials, maxAge };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isMaxAge(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= longestCorsMaxAge;
}
