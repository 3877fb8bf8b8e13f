import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A regular expression in a file. */
interface Expression {
  /** The path of the file in the folder. */
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
  /** Whether it is built by `RegExp`, and not a literal. */
  readonly isBuilt: boolean;
}

/**
 * Returns the regular expressions in the TypeScript and JavaScript files of a folder: literals, and what is built by `RegExp`. Constants
 * of the same file are inserted; whatever else is inserted counts as a letter, since it has been escaped.
 */
export function findExpressions(folder: string): Expression[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.[cm]?[jt]s$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return expressionsIn(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
    });
}

function expressionsIn(file: ts.SourceFile): Expression[] {
  const inserted = insertedBy(file);
  const found: Expression[] = [];
  const add = (node: ts.Node, source: string, flags: string): void => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const isBuilt = !ts.isRegularExpressionLiteral(node);
    found.push({ file: file.fileName, line, source, flags, isBuilt });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) add(node, ...parseLiteral(node.text));
    const call = ts.isNewExpression(node) || ts.isCallExpression(node) ? node : undefined;
    const [pattern, mode] = call?.expression.getText() === 'RegExp' ? (call.arguments ?? []) : [];
    if (pattern !== undefined) {
      const [flags = ''] = mode === undefined ? [] : textsOf(mode, inserted);
      for (const source of textsOf(pattern, inserted)) add(node, source, flags);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function parseLiteral(text: string): [source: string, flags: string] {
  const end = text.lastIndexOf('/');
  return [text.slice(1, end), text.slice(end + 1)];
}

/** What a file inserts into its expressions. */
interface Inserted {
  readonly constants: ReadonlyMap<string, ts.Expression>;
  /** The code of whatever else is inserted. Each stands for a letter of its own. */
  readonly others: Set<string>;
}

function insertedBy(file: ts.SourceFile): Inserted {
  const constants = new Map<string, ts.Expression>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined)
      constants.set(node.name.getText(), node.initializer);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { constants, others: new Set() };
}

/** Returns the texts that an expression can stand for: one for each side of a condition. */
function textsOf(node: ts.Expression, inserted: Inserted): string[] {
  if (ts.isStringLiteralLike(node)) return [withFewWords(node.text)];
  if (ts.isNumericLiteral(node)) return [node.text];
  if (ts.isRegularExpressionLiteral(node)) return [parseLiteral(node.text)[0]];
  if (ts.isConditionalExpression(node))
    return [node.whenTrue, node.whenFalse].flatMap((side) => textsOf(side, inserted));
  if (ts.isTemplateExpression(node)) {
    const add = (texts: readonly string[], { expression, literal }: ts.TemplateSpan): string[] =>
      texts.flatMap((text) => textsOf(expression, inserted).map((next) => text + next + literal.text));
    return node.templateSpans.reduce(add, [node.head.text]).map(withFewWords);
  }
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'source')
    return textsOf(node.expression, inserted);
  const value = ts.isIdentifier(node) ? inserted.constants.get(node.text) : undefined;
  if (value !== undefined) return textsOf(value, inserted);
  inserted.others.add(node.getText());
  return [String.fromCharCode(0x60 + [...inserted.others].indexOf(node.getText()) + 1)];
}

/** Returns a list of words for an expression, `a|b|c`, with two of them: one text is like the other. */
function withFewWords(text: string): string {
  return /^[\w|-]+$/.test(text) ? text.split('|').slice(0, 2).join('|') : text;
}
