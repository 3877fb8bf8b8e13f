import { didYouMean } from '../did-you-mean.ts';
import { DeclarationError, kindOf, type Members, refuseUnknown } from './error.ts';
import { compilePattern, longestText, mostSteps, type Pattern } from './pattern/match.ts';
import { PatternError } from './pattern/syntax.ts';
import { compare, type Simple, type SimpleTypeName, violationsOf } from './simple-type.ts';

/** The options of each simple type, besides those of every field. */
const optionsOf: Readonly<Record<SimpleTypeName, readonly string[]>> = {
  text: ['maxLength', 'pattern', 'enum'],
  decimal: ['fractionDigits', 'enum', 'min', 'max'],
  integer: ['enum', 'min', 'max'],
  boolean: [],
  date: ['enum', 'min', 'max'],
  dateTime: ['enum', 'min', 'max'],
  currency: ['enum'],
};

/** More fraction digits than anything is measured in. */
const mostFractionDigits = 100;

/**
 * Compiles the declaration of a simple field or attribute.
 * @param general the options that this place takes for every type: `type`, perhaps `required` and `attributes`
 */
export function compileSimple(
  type: SimpleTypeName,
  members: Members,
  general: readonly string[],
  path: string,
): Simple {
  const options = optionsOf[type];
  refuseUnknown(members, [...general, ...options], path, `is no option of ${type}`);
  const maxLength = countOf(members.get('maxLength'), 1, Number.MAX_SAFE_INTEGER, `${path}.maxLength`);
  const bare: Simple = {
    kind: 'simple',
    type,
    fractionDigits:
      countOf(members.get('fractionDigits'), 0, mostFractionDigits, `${path}.fractionDigits`) ?? 0,
    maxLength,
    pattern: patternOf(members.get('pattern'), maxLength, `${path}.pattern`),
    oneOf: undefined,
    min: undefined,
    max: undefined,
  };
  const ranged = { ...bare, ...rangeOf(bare, members, path) };
  return { ...ranged, oneOf: choicesOf(ranged, members.get('enum'), `${path}.enum`) };
}

function countOf(source: unknown, least: number, most: number, path: string): number | undefined {
  if (source === undefined) return undefined;
  if (typeof source === 'number' && Number.isInteger(source) && source >= least && source <= most)
    return source;
  throw new DeclarationError(
    'value',
    path,
    `must be a whole number from ${least} to ${most}, is ${said(source)}`,
  );
}

function patternOf(source: unknown, maxLength: number | undefined, path: string): Pattern | undefined {
  if (source === undefined) return undefined;
  if (typeof source !== 'string') {
    throw new DeclarationError('type', path, `must be text, is ${kindOf(source)}`);
  }
  const pattern = compiled(source, path);
  if (pattern.cost * (maxLength ?? longestText) <= mostSteps) return pattern;
  const longest = Math.floor(mostSteps / pattern.cost);
  throw new DeclarationError(
    'pattern',
    path,
    `has ${pattern.size} states, which is many for so long a text; set maxLength to at most ${longest}`,
  );
}

function compiled(source: string, path: string): Pattern {
  try {
    return compilePattern(source);
  } catch (error) {
    if (error instanceof PatternError) throw new DeclarationError('pattern', path, error.message);
    throw error;
  }
}

function rangeOf(bare: Simple, members: Members, path: string): Pick<Simple, 'min' | 'max'> {
  const min = members.has('min') ? literalOf(bare, members.get('min'), `${path}.min`) : undefined;
  const max = members.has('max') ? literalOf(bare, members.get('max'), `${path}.max`) : undefined;
  if (min !== undefined && max !== undefined && compare(bare.type, min, max) > 0) {
    throw new DeclarationError('range', `${path}.min`, `${min} is greater than max, which is ${max}`);
  }
  return { min, max };
}

function choicesOf(simple: Simple, source: unknown, path: string): ReadonlySet<string> | undefined {
  if (source === undefined) return undefined;
  if (!Array.isArray(source) || source.length === 0) {
    throw new DeclarationError('type', path, `must be a list of one value or more, is ${kindOf(source)}`);
  }
  const choices = new Set<string>();
  source.forEach((choice: unknown, at) => {
    const literal = literalOf(simple, choice, `${path}[${at}]`);
    if (choices.has(literal))
      throw new DeclarationError('value', `${path}[${at}]`, `${literal} stands twice`);
    choices.add(literal);
  });
  return choices;
}

/** A value in the configuration, in the form it has in a JSON document. Throws when it breaks a rule of its field. */
function literalOf(simple: Simple, source: unknown, path: string): string {
  const written = simple.type === 'integer' ? 'a JSON number' : 'a JSON string';
  if (typeof source !== (simple.type === 'integer' ? 'number' : 'string')) {
    throw new DeclarationError('type', path, `must be ${written}, is ${kindOf(source)}`);
  }
  const text = String(source);
  const [breach] = violationsOf(simple, text);
  if (breach !== undefined) throw new DeclarationError('value', path, breach.detail);
  return text;
}

function said(source: unknown): string {
  return typeof source === 'number' ? String(source) : kindOf(source);
}

/** Refuses a word that is none of those known. */
export function unknownType(word: string, known: readonly string[], path: string): DeclarationError {
  return new DeclarationError(
    'unknown-type',
    path,
    `"${word}" is no type of field${didYouMean(word, known)}`,
  );
}
