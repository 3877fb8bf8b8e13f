import { type Duration, readDuration } from '../duration.ts';
import { originFault } from '../http/headers/origin.ts';
import { seconds } from '../shape/duration.ts';
import { describeFault, formatPath } from '../shape/fault.ts';
import {
  addKeywords,
  flag,
  isList,
  listOf,
  object,
  optional,
  type Shape,
  type ShapesOf,
  text,
} from '../shape/shape.ts';

/** Which pages of other origins may use a resource in browsers (the CORS protocol, Fetch §3.3). */
interface CorsOptions {
  /**
   * The origins: `https://app.example`, also `null`, which sandboxed pages have; or `*` alone for all. None: no other origin.
   */
  readonly origins: readonly string[];
  /**
   * Whether requests may have credentials that the browser adds, as with `credentials: 'include'`. `Authorization` that a script
   * sets is none of them. Impossible with `*`. Default: false.
   */
  readonly credentials?: boolean | undefined;
  /**
   * How long browsers may cache the response to a preflight: seconds, or text such as `10m`. Range: 0 to 86 400 s. Default: 600.
   */
  readonly maxAge?: Duration | undefined;
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
  /** In seconds. */
  readonly maxAge: number;
}

/** Returns the policy of a declaration that was checked. */
export function toCorsPolicy(declared: CorsDeclaration): CorsPolicy {
  const options: CorsOptions = isList(declared) ? { origins: declared } : declared;
  const { origins, credentials = false } = options;
  const maxAge = (readDuration(options.maxAge, 1000) ?? defaultCorsMaxAge * 1000) / 1000;
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

/** The list of origins. */
export const originsShape: Shape<readonly string[]> = listOf(
  addKeywords(text(undefined, { expected: 'an origin such as https://app.example' }), { minLength: 1 }),
  undefined,
  { expected: 'a list of origins such as https://app.example' },
);

/** The options as an object. */
export const corsShape = object({
  origins: originsShape,
  credentials: optional(flag()),
  maxAge: optional(seconds({ min: 0, max: longestCorsMaxAge })),
} satisfies ShapesOf<CorsOptions>);

/**
 * Reads a declaration from unchecked input.
 *
 * @param refuse Returns the error to throw. `at` is the position within the declaration: '' or `.maxAge`.
 */
export function readCors(source: unknown, refuse: (at: string, fault: string) => Error): CorsOptions {
  if (typeof source !== 'object' || source === null)
    throw refuse('', 'must be a list of origins such as https://app.example, or an object with origins');
  const read = corsShape.read(Array.isArray(source) ? { origins: source } : source);
  if ('faults' in read) {
    const fault = read.faults.find(({ kind }) => kind === 'unknown') ?? read.faults[0];
    throw refuse(`.${formatPath(fault?.path ?? [])}`, fault === undefined ? '' : describeFault(fault));
  }
  const { origins, credentials = false, maxAge = defaultCorsMaxAge } = read.value;
  const fault = originsFault(origins, credentials);
  if (fault !== undefined) throw refuse('.origins', fault);
  return { origins, credentials, maxAge };
}
