import { didYouMean } from '../did-you-mean.ts';
import { describeKind } from '../shape/fault.ts';
import { defaultJsonLength } from './any-json.ts';
import { DeclarationError, type Members, refuseUnknown } from './error.ts';
import { compilePattern, maxSteps, maxTextLength, type Pattern } from './pattern/match.ts';
import { PatternError } from './pattern/syntax.ts';
import { compare, listViolations, type Simple, type SimpleTypeName } from './simple-type.ts';

/** The options of each simple type, in addition to those of every field. */
const optionsOf: Readonly<Record<SimpleTypeName, readonly string[]>> = {
  text: ['maxLength', 'pattern', 'enum'],
  decimal: ['fractionDigits', 'enum', 'min', 'max'],
  integer: ['enum', 'min', 'max'],
  boolean: [],
  date: ['enum', 'min', 'max'],
  dateTime: ['enum', 'min', 'max'],
  currency: ['enum'],
  json: ['maxLength'],
};

/** The maximum of `fractionDigits`. */
export const maxFractionDigits = 100;

/**
 * Compiles the declaration of a simple field or attribute.
 * @param general the options that are allowed here for every type: `type`, and possibly `required` and
 * `attributes`
 */
export function compileSimple(
  type: SimpleTypeName,
  members: Members,
  general: readonly string[],
  path: string,
): Simple {
  const options = optionsOf[type];
  refuseUnknown(members, [...general, ...options], path, `is not an option of ${type}`);
  const maxLength =
    readCount(members.get('maxLength'), 1, Number.MAX_SAFE_INTEGER, `${path}.maxLength`) ??
    (type === 'json' ? defaultJsonLength : undefined);
  const bare: Simple = {
    kind: 'simple',
    type,
    fractionDigits:
      readCount(members.get('fractionDigits'), 0, maxFractionDigits, `${path}.fractionDigits`) ?? 0,
    maxLength,
    pattern: readPattern(members.get('pattern'), maxLength, `${path}.pattern`),
    oneOf: undefined,
    min: undefined,
    max: undefined,
  };
  const ranged = { ...bare, ...readRange(bare, members, path) };
  return { ...ranged, oneOf: readChoices(ranged, members.get('enum'), `${path}.enum`) };
}

function readCount(source: unknown, min: number, max: number, path: string): number | undefined {
  if (source === undefined) return undefined;
  if (typeof source === 'number' && Number.isInteger(source) && source >= min && source <= max) return source;
  throw new DeclarationError(
    'value',
    path,
    `must be a whole number from ${min} to ${max}, is ${formatSource(source)}`,
  );
}

function readPattern(source: unknown, maxLength: number | undefined, path: string): Pattern | undefined {
  if (source === undefined) return undefined;
  if (typeof source !== 'string') {
    throw new DeclarationError('type', path, `must be text, is ${describeKind(source)}`);
  }
  const pattern = compileSource(source, path);
  if (pattern.cost * (maxLength ?? maxTextLength) <= maxSteps) return pattern;
  const longest = Math.floor(maxSteps / pattern.cost);
  throw new DeclarationError(
    'pattern',
    path,
    `has ${pattern.size} states, too many for a text of this length; set maxLength to at most ${longest}`,
  );
}

function compileSource(source: string, path: string): Pattern {
  try {
    return compilePattern(source);
  } catch (error) {
    if (error instanceof PatternError) throw new DeclarationError('pattern', path, error.message);
    throw error;
  }
}

function readRange(bare: Simple, members: Members, path: string): Pick<Simple, 'min' | 'max'> {
  const min = members.has('min') ? readLiteral(bare, members.get('min'), `${path}.min`) : undefined;
  const max = members.has('max') ? readLiteral(bare, members.get('max'), `${path}.max`) : undefined;
  if (min !== undefined && max !== undefined && compare(bare.type, min, max) > 0) {
    throw new DeclarationError('range', `${path}.min`, `${min} is greater than max, which is ${max}`);
  }
  return { min, max };
}

function readChoices(simple: Simple, source: unknown, path: string): ReadonlySet<string> | undefined {
  if (source === undefined) return undefined;
  if (!Array.isArray(source) || source.length === 0) {
    throw new DeclarationError(
      'type',
      path,
      `must be an array of at least one value, is ${Array.isArray(source) ? 'an empty array' : describeKind(source)}`,
    );
  }
  const choices = new Set<string>();
  source.forEach((choice: unknown, at) => {
    const literal = readLiteral(simple, choice, `${path}[${at}]`);
    if (choices.has(literal))
      throw new DeclarationError('value', `${path}[${at}]`, `${literal} is listed twice`);
    choices.add(literal);
  });
  return choices;
}

/** Returns a value of the configuration as text, checked by the rules of its field. */
function readLiteral(simple: Simple, source: unknown, path: string): string {
  const written = simple.type === 'integer' ? 'a JSON number' : 'a JSON string';
  if (typeof source !== (simple.type === 'integer' ? 'number' : 'string')) {
    throw new DeclarationError('type', path, `must be ${written}, is ${describeKind(source)}`);
  }
  const text = String(source);
  const [violation] = listViolations(simple, text);
  if (violation !== undefined) throw new DeclarationError('value', path, violation.detail);
  return text;
}

function formatSource(source: unknown): string {
  return typeof source === 'number' ? String(source) : describeKind(source);
}

/** Returns the error for a type that does not exist. */
export function unknownType(word: string, allowed: readonly string[], path: string): DeclarationError {
  return new DeclarationError(
    'unknown-type',
    path,
    `"${word}" is not a field type${didYouMean(word, allowed)}`,
  );
}
