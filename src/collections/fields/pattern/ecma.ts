/** Writes patterns as regular expressions of ECMA-262, for JSON Schema. */
import type { CharacterClass } from './classes.ts';
import { type Assertion, type Expression, parsePattern } from './syntax.ts';

/**
 * Returns the regular expression, for the flag `u`, that matches the same texts as a pattern.
 * @throws {PatternError} for an invalid pattern
 */
export function formatEcmaPattern(source: string): string {
  const expression = parsePattern(source);
  return `^${expression.kind === 'choice' ? `(?:${formatExpression(expression)})` : formatExpression(expression)}$`;
}

/** Returns the regular expression, for the flag `u`, that matches what an expression matches. */
function formatExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'class':
      return formatClass(expression.class);
    case 'assertion':
      return formatAssertion(expression.test);
    case 'sequence':
      return expression.parts.map(formatPart).join('');
    case 'choice':
      return expression.branches.map(formatExpression).join('|');
    case 'repeat':
      return `${formatRepeated(expression.part)}${quantifier(expression.min, expression.max)}`;
  }
}

function formatAssertion(test: Assertion): string {
  switch (test.at) {
    case 'start':
      return '^';
    case 'end':
      return '$';
    case 'boundary':
      return test.negated ? '\\B' : '\\b';
    case 'ahead':
    case 'behind':
      return `(?${test.at === 'behind' ? '<' : ''}${test.negated ? '!' : '='}${formatExpression(test.body)})`;
  }
}

function formatPart(part: Expression): string {
  return part.kind === 'choice' ? `(?:${formatExpression(part)})` : formatExpression(part);
}

function formatRepeated(part: Expression): string {
  return part.kind === 'class' ? formatExpression(part) : `(?:${formatExpression(part)})`;
}

function quantifier(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function formatClass({ negated, ranges, categories }: CharacterClass): string {
  const [only] = ranges;
  const isSingle = ranges.length === 1 && categories.length === 0 && only?.[0] === only?.[1];
  if (isSingle && only !== undefined && !negated) return character(only[0]);
  const inRanges = ranges.map(([first, last]) => {
    if (first === last) return character(first);
    return `${character(first)}-${character(last)}`;
  });
  // A category is compiled as `^\p{L}$`.
  const inCategories = categories.map(({ source }) => source.slice(1, -1));
  return `[${negated ? '^' : ''}${inRanges.join('')}${inCategories.join('')}]`;
}

/** Returns a character as it can be written both inside and outside of a class. */
function character(code: number): string {
  const text = String.fromCodePoint(code);
  if (/[\p{L}\p{N}_ !"#%&',:;<=>@`~]/u.test(text)) return text;
  // With the flag `u`, only these characters can be escaped by a backslash in both places.
  if (/[\^$\\.*+?()[\]{}|/]/.test(text)) return `\\${text}`;
  if (code <= 0xff) return `\\x${hexadecimal(code, 2)}`;
  return code <= 0xffff ? `\\u${hexadecimal(code, 4)}` : `\\u{${hexadecimal(code, 1)}}`;
}

function hexadecimal(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, '0');
}
