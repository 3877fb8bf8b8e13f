// Finds the operations of a document by the path of a request. A segment of a template can have several parameters and text between.
import { decodeText } from '../../http/syntax/percent.ts';
import {
  type Branch,
  branchAt,
  createBranch,
  findLeaves,
  isParameterValue,
} from '../../pipeline/path-tree.ts';
import { matchSegment } from '../match.ts';
import type { PartnerDocument, Route } from './document.ts';

/** An operation at a path, and the values of its parameters. */
export interface FoundPath<Each> {
  readonly operation: Each;
  /** By name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The paths of a document. */
export interface PartnerPaths<Each> {
  /** Returns the operations at these decoded segments, those of the nearest template first. */
  find(segments: readonly string[]): readonly FoundPath<Each>[];
}

/** A segment with parameters, such as `{from}..{to}`. */
interface Segment {
  readonly names: readonly string[];
  /** The decoded texts before, between and behind the parameters; undefined if it is one parameter alone. */
  readonly texts: readonly string[] | undefined;
}

interface Entry<Each> {
  readonly operations: readonly Each[];
  readonly segments: readonly Segment[];
}

/** Creates the tree of all paths. Each is found at the root, and below the path of each server. */
export function createPaths<Each extends Route>(
  operations: readonly Each[],
  basePaths: PartnerDocument['basePaths'],
): PartnerPaths<Each> {
  const root = createBranch<Entry<Each>[]>();
  const byPath = new Map<string, Each[]>();
  for (const operation of operations)
    byPath.set(operation.path, [...(byPath.get(operation.path) ?? []), operation]);
  for (const [path, own] of byPath) {
    const parts = path.slice(1).split('/');
    const branch = branchAt(
      root,
      parts.map((part) => (part.includes('{') ? undefined : (decodeText(part) ?? part))),
    );
    branch.leaf ??= [];
    branch.leaf.push({
      operations: own,
      segments: parts.filter((part) => part.includes('{')).map(readSegment),
    });
  }
  const prefixes = basePaths.map((path) =>
    path
      .slice(1)
      .split('/')
      .map((text) => decodeText(text) ?? text),
  );
  return {
    find: (segments) => [
      ...findBelow(root, segments),
      ...prefixes.flatMap((prefix) =>
        prefix.every((part, index) => part === segments[index])
          ? findBelow(root, segments.slice(prefix.length))
          : [],
      ),
    ],
  };
}

/** Returns the operations below a node. In each leaf, those with text beside their parameters come first. */
function findBelow<Each>(
  root: Branch<Entry<Each>[]>,
  segments: readonly string[],
): readonly FoundPath<Each>[] {
  return findLeaves(root, segments).flatMap(({ leaf, values }) =>
    [...leaf]
      .sort((one, other) => countTexts(other) - countTexts(one))
      .flatMap((entry) => {
        const parameters = decodeParameters(entry, values);
        return parameters === undefined
          ? []
          : entry.operations.map((operation) => ({ operation, parameters }));
      }),
  );
}

function countTexts({ segments }: Entry<unknown>): number {
  return segments.filter(({ texts }) => texts !== undefined).length;
}

/** Returns the values of a template's parameters in a path that it matches, percent-encoded as sent. A base path may precede. */
export function encodedParameters(template: string, path: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const parts = template.split('/');
  for (const [index, sent] of path.split('/').slice(-parts.length).entries()) {
    const part = parts[index] ?? '';
    if (!part.includes('{')) continue;
    const { names, texts } = readSegment(part);
    const values = texts === undefined ? [sent] : matchEncoded(texts, sent);
    for (const [at, name] of names.entries()) found.set(name, values[at] ?? '');
  }
  return found;
}

function matchEncoded(texts: readonly string[], sent: string): readonly string[] {
  // The text between can be percent-encoded, too.
  return (
    matchSegment(texts, sent) ?? (matchSegment(texts, decodeText(sent) ?? sent) ?? []).map(encodeURIComponent)
  );
}

function decodeParameters(
  { segments }: Entry<unknown>,
  values: readonly string[],
): FoundPath<unknown>['parameters'] | undefined {
  const found: [string, string][] = [];
  for (const [index, { names, texts }] of segments.entries()) {
    const value = values[index] ?? '';
    const groups = texts === undefined ? [value] : matchSegment(texts, value);
    if (groups === undefined || !groups.every(isParameterValue)) return undefined;
    for (const [at, name] of names.entries()) found.push([name, groups[at] ?? '']);
  }
  return Object.fromEntries(found);
}

function readSegment(part: string): Segment {
  const names = Array.from(part.matchAll(/\{([^{}]+)\}/g), ([, name = '']) => name);
  if (names.length === 1 && part === `{${names[0]}}`) return { names, texts: undefined };
  return { names, texts: part.split(/\{[^{}]+\}/).map((text) => decodeText(text) ?? text) };
}
