import { didYouMean } from '../did-you-mean.ts';

/** What can be wrong with a declaration. */
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

/** A declaration that cannot be used; thrown before anything is opened. */
export class DeclarationError extends Error {
  override readonly name = 'DeclarationError';
  readonly code: DeclarationCode;
  /** Where in the configuration: `collections./articles.fields.price.fractionDigits`. */
  readonly path: string;

  constructor(code: DeclarationCode, path: string, message: string) {
    super(`${path}: ${message}`);
    this.code = code;
    this.path = path;
  }
}

/** The members of an object of the configuration. */
export type Members = ReadonlyMap<string, unknown>;

/** Takes a value of the configuration for an object. Throws DeclarationError for anything else. */
export function membersOf(source: unknown, path: string): Members {
  if (typeof source === 'object' && source !== null && !Array.isArray(source)) {
    return new Map(Object.entries(source));
  }
  throw new DeclarationError('type', path, `must be an object, is ${kindOf(source)}`);
}

/** Takes a value of the configuration for text that is not empty. Throws DeclarationError for anything else. */
export function textOf(source: unknown, path: string): string {
  if (typeof source === 'string' && source !== '') return source;
  throw new DeclarationError('type', path, `must be text that is not empty, is ${kindOf(source)}`);
}

/** Takes a value of the configuration for true or false; undefined is false unless said otherwise. */
export function flagOf(source: unknown, path: string, unsaid = false): boolean {
  if (source === undefined) return unsaid;
  if (typeof source === 'boolean') return source;
  throw new DeclarationError('type', path, `must be true or false, is ${kindOf(source)}`);
}

/** Refuses every key that is not among those known, naming the nearest. Throws DeclarationError. */
export function refuseUnknown(members: Members, known: readonly string[], path: string, what: string): void {
  for (const key of members.keys()) {
    if (known.includes(key)) continue;
    throw new DeclarationError('unknown-key', `${path}.${key}`, `${what}${didYouMean(key, known)}`);
  }
}

/** What a value of the configuration is, in words: `a number`, `null`, `an array`. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (value === '') return 'empty';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}
