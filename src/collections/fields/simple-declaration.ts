import { defaultJsonLength } from './any-json.ts';
import { DeclarationError } from './error.ts';
import type { ReadField } from './field.ts';
import { compilePattern, maxSteps, maxTextLength, type Pattern } from './pattern/match.ts';
import { PatternError } from './pattern/syntax.ts';
import { compare, listViolations, type Simple, type SimpleTypeName } from './simple-type.ts';

/** The members of a declaration that restrict the values of its type. */
const ruleNames = [
  'minLength',
  'maxLength',
  'format',
  'pattern',
  'enum',
  'min',
  'max',
  'exclusiveMin',
  'exclusiveMax',
] as const;

/** Compiles the declaration of a simple field or attribute. */
export function compileSimple(type: SimpleTypeName, declared: ReadField, path: string): Simple {
  const { fractionDigits = 0, maxLength = type === 'json' ? defaultJsonLength : undefined } = declared;
  const { minLength, format, to, onDelete = 'restrict' } = declared;
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength)
    throw new DeclarationError(
      'range',
      `${path}.minLength`,
      `${minLength} is greater than maxLength, which is ${maxLength}`,
    );
  const bare: Simple = {
    kind: 'simple',
    hasRules: ruleNames.some((name) => declared[name] !== undefined) || maxLength !== undefined,
    type,
    fractionDigits,
    minLength,
    maxLength,
    format,
    pattern: compileDeclaredPattern(declared.pattern, maxLength, `${path}.pattern`),
    oneOf: undefined,
    min: undefined,
    max: undefined,
    exclusiveMin: undefined,
    exclusiveMax: undefined,
    reference: to === undefined ? undefined : { to, onDelete },
  };
  const ranged = { ...bare, ...checkRange(bare, declared, path) };
  return { ...ranged, oneOf: checkChoices(ranged, declared.enum, `${path}.enum`) };
}

function compileDeclaredPattern(
  source: string | undefined,
  maxLength: number | undefined,
  path: string,
): Pattern | undefined {
  if (source === undefined) return undefined;
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

function checkRange(
  bare: Simple,
  declared: ReadField,
  path: string,
): Pick<Simple, 'min' | 'max' | 'exclusiveMin' | 'exclusiveMax'> {
  const min = checkLiteral(bare, declared.min, `${path}.min`);
  const max = checkLiteral(bare, declared.max, `${path}.max`);
  if (min !== undefined && max !== undefined && compare(bare.type, min, max) > 0)
    throw new DeclarationError('range', `${path}.min`, `${min} is greater than max, which is ${max}`);
  const exclusiveMin = checkLiteral(bare, declared.exclusiveMin, `${path}.exclusiveMin`);
  const exclusiveMax = checkLiteral(bare, declared.exclusiveMax, `${path}.exclusiveMax`);
  if (
    exclusiveMin !== undefined &&
    exclusiveMax !== undefined &&
    compare(bare.type, exclusiveMin, exclusiveMax) >= 0
  )
    throw new DeclarationError(
      'range',
      `${path}.exclusiveMin`,
      `no value is between ${exclusiveMin} and ${exclusiveMax}`,
    );
  return { min, max, exclusiveMin, exclusiveMax };
}

function checkChoices(
  simple: Simple,
  values: ReadField['enum'],
  path: string,
): ReadonlySet<string> | undefined {
  if (values?.length === 0)
    throw new DeclarationError('type', path, 'must be an array of at least one value, is an empty array');
  const texts = values?.flatMap((value, at) => checkLiteral(simple, value, `${path}[${at}]`) ?? []);
  return texts && new Set(texts);
}

/** Returns a value of the declaration as text. Throws a {@link DeclarationError} if it violates the rules of its field. */
function checkLiteral(simple: Simple, value: string | number | undefined, path: string): string | undefined {
  if (value === undefined) return undefined;
  const text = String(value);
  const [violation] = listViolations(simple, text);
  if (violation !== undefined) throw new DeclarationError('value', path, violation.detail);
  return text;
}
