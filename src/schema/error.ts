import { CountersignError } from '../countersign-error.ts';
import { didYouMean } from '../did-you-mean.ts';
import { describeKind } from '../shape/fault.ts';

/** The codes of {@link DeclarationError}. */
export type DeclarationCode =
  | 'type'
  | 'missing'
  | 'unknown-key'
  | 'unknown-type'
  | 'name'
  | 'clash'
  | 'pattern'
  | 'value'
  | 'range'
  | 'access'
  | 'path'
  | 'seed';

/** Thrown for an invalid declaration, before anything is opened. */
export class DeclarationError extends CountersignError {
  override readonly name = 'DeclarationError';
  readonly code: DeclarationCode;
  /** The position in the configuration: `collections./articles.fields.price.fractionDigits`. */
  readonly path: string;

  constructor(code: DeclarationCode, path: string, message: string) {
    super(`${path}: ${message}`);
    this.code = code;
    this.path = path;
  }
}

/** The members of an object in the configuration. */
export type Members = ReadonlyMap<string, unknown>;

/**
 * Returns the members of an object in the configuration.
 * @throws {DeclarationError} for any other value
 */
export function readMembers(source: unknown, path: string): Members {
  if (typeof source === 'object' && source !== null && !Array.isArray(source)) {
    return new Map(Object.entries(source));
  }
  throw new DeclarationError('type', path, `must be an object, is ${describeKind(source)}`);
}

/**
 * Returns non-empty text from the configuration.
 * @throws {DeclarationError} for any other value
 */
export function readText(source: unknown, path: string): string {
  if (typeof source === 'string' && source !== '') return source;
  throw new DeclarationError('type', path, `must be non-empty text, is ${describeKind(source)}`);
}

/**
 * Returns a boolean from the configuration; the default if it is undefined.
 * @throws {DeclarationError} for any other value
 */
export function readFlag(source: unknown, path: string, defaultValue = false): boolean {
  if (source === undefined) return defaultValue;
  if (typeof source === 'boolean') return source;
  throw new DeclarationError('type', path, `must be true or false, is ${describeKind(source)}`);
}

/**
 * Rejects keys that are not allowed and suggests the nearest allowed one.
 * @throws {DeclarationError} for the first such key
 */
export function refuseUnknown(
  members: Members,
  allowed: readonly string[],
  path: string,
  what: string,
): void {
  for (const key of members.keys()) {
    if (allowed.includes(key)) continue;
    throw new DeclarationError('unknown-key', `${path}.${key}`, `${what}${didYouMean(key, allowed)}`);
  }
}
