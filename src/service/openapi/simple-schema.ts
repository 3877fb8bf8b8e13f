import { currencies } from '../../schema/currency.ts';
import { formatEcmaPattern } from '../../schema/pattern/ecma.ts';
import type { Simple, SimpleTypeName } from '../../schema/simple-type.ts';
import type { Components } from './components.ts';
import type { JsonSchema } from './document.ts';

/** Returns the schema of a field with a single value, in JSON. */
export function buildSimpleSchema(simple: Simple, components: Components): JsonSchema {
  const { type, oneOf, minLength, maxLength, format, pattern, reference } = simple;
  if (oneOf !== undefined) return choiceSchema(simple, [...oneOf]);
  if (type === 'integer') return integerSchema(simple);
  if (type === 'json')
    return { description: `Any JSON value of at most ${maxLength} characters; in XML, its text` };
  return {
    ...(type === 'decimal' ? decimalSchema(simple.fractionDigits) : typeSchema(type, components)),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(format !== undefined && { format }),
    ...(pattern !== undefined && { pattern: formatEcmaPattern(pattern.source) }),
    ...rangeDescription(simple),
    ...(reference !== undefined && {
      description: `The id of an item of ${reference.to}; requests can have its address`,
    }),
  };
}

/** Returns the schema of any value of a type, as text in a query. */
export function typeSchema(type: SimpleTypeName, components: Components): JsonSchema {
  switch (type) {
    case 'text':
    case 'reference':
      return { type: 'string' };
    case 'decimal':
      return decimalSchema(undefined);
    case 'integer':
      return integerSchema({});
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'dateTime':
      return { type: 'string', format: 'date-time' };
    case 'json':
      return {};
    case 'currency':
      return components.add('schemas', 'CurrencyCode', {
        type: 'string',
        description: 'An active currency code of ISO 4217',
        enum: [...currencies],
      });
  }
}

/** Returns the schema of a decimal: digits as text, so that no program converts them to a binary fraction. */
function decimalSchema(fractionDigits: number | undefined): JsonSchema {
  const fraction =
    fractionDigits === undefined
      ? '(?:\\.[0-9]+)?'
      : fractionDigits === 0
        ? ''
        : `\\.[0-9]{${fractionDigits}}`;
  // Negative zero is not a decimal.
  return {
    type: 'string',
    format: 'decimal',
    pattern: `^(?!-[0.]+$)-?(?:0|[1-9][0-9]*)${fraction}$`,
  };
}

/** The bounds of a simple type. */
type Bounds = Partial<Pick<Simple, 'min' | 'max' | 'exclusiveMin' | 'exclusiveMax'>>;

function integerSchema({ min, max, exclusiveMin, exclusiveMax }: Bounds): JsonSchema {
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
  return {
    type: 'integer',
    minimum: Number(min ?? least),
    maximum: Number(max ?? most),
    ...(exclusiveMin !== undefined && { exclusiveMinimum: Number(exclusiveMin) }),
    ...(exclusiveMax !== undefined && { exclusiveMaximum: Number(exclusiveMax) }),
  };
}

function choiceSchema({ type }: Simple, choices: readonly string[]): JsonSchema {
  if (type === 'integer') return { type: 'integer', enum: choices.map(Number) };
  return { type: 'string', enum: choices };
}

/** JSON Schema has no range of texts, so a description contains it. */
function rangeDescription({ min, max, exclusiveMin, exclusiveMax }: Bounds): JsonSchema {
  const bounds = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(exclusiveMin === undefined ? [] : [`more than ${exclusiveMin}`]),
    ...(exclusiveMax === undefined ? [] : [`less than ${exclusiveMax}`]),
  ];
  return bounds.length === 0 ? {} : { description: bounds.join(', ') };
}
