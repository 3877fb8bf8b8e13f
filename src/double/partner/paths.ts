// Finds the operations of a document by the path of a request. A segment of a template can have several parameters and text between.
import { decodeText } from '../../http/syntax/percent.ts';
import {
  type Branch,
  branchAt,
  createBranch,
  findLeaves,
  isParameterValue,
} from '../../pipeline/path-tree.ts';
import { matchSegment } from '../../pipeline/segment-template.ts';
import type { Operation, PartnerDocument } from './document.ts';

/** The operations of one path template, and the values of its parameters in a path. */
export interface FoundPath {
  readonly operations: readonly Operation[];
  /** By name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The paths of a document. */
export interface PartnerPaths {
  /** Returns the templates that match these decoded segments. Several match only if they differ in the names of parameters. */
  find(segments: readonly string[]): readonly FoundPath[];
}

/** A segment with parameters, such as `{from}..{to}`. */
interface Segment {
  readonly names: readonly string[];
  /** The decoded texts before, between and behind the parameters; undefined if it is one parameter alone. */
  readonly texts: readonly string[] | undefined;
}

interface Entry {
  readonly operations: readonly Operation[];
  readonly segments: readonly Segment[];
}

/** Creates the tree of all paths. Each is found at the root, and below the path of each server. */
export function createPaths({ operations, basePaths }: PartnerDocument): PartnerPaths {
  const root = createBranch<Entry[]>();
  const byPath = new Map<string, Operation[]>();
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
    find(segments) {
      const found = findBelow(root, segments);
      if (found.length > 0) return found;
      for (const prefix of prefixes) {
        if (!prefix.every((part, index) => part === segments[index])) continue;
        const below = findBelow(root, segments.slice(prefix.length));
        if (below.length > 0) return below;
      }
      return [];
    },
  };
}

/** Returns the entries of the first node that match, those with text beside their parameters first. */
function findBelow(root: Branch<Entry[]>, segments: readonly string[]): readonly FoundPath[] {
  for (const { leaf, values } of findLeaves(root, segments)) {
    const found = leaf.flatMap((entry) => {
      const parameters = decodeParameters(entry, values);
      return parameters === undefined ? [] : [{ entry, parameters }];
    });
    const isLiteral = ({ entry }: (typeof found)[number]): boolean =>
      entry.segments.some(({ texts }) => texts !== undefined);
    const nearest = found.some(isLiteral) ? found.filter(isLiteral) : found;
    if (nearest.length > 0)
      return nearest.map(({ entry: { operations }, parameters }) => ({ operations, parameters }));
  }
  return [];
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
  { segments }: Entry,
  values: readonly string[],
): FoundPath['parameters'] | undefined {
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
