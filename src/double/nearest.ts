// Explains a request that neither a stub nor an operation of a partner's document matched.

import { findClosestMatch } from '../did-you-mean.ts';
import { fitsMethod, fitsPath, isRestricted, type MatchedRequest, type RequestMatch } from './match.ts';

/** What a request may have been meant for. */
export interface Candidate {
  readonly match: RequestMatch;
  /** Whether it selects the request, and does not apply to it for another reason. */
  readonly matches?: boolean;
  /** Returns what it is, and why it does not apply: `stub is GET /orders, but the method is PUT, not GET`. */
  explain(): string | undefined;
}

/** A candidate whose path is a text or a template, with its segments. */
interface Placed {
  readonly candidate: Candidate;
  readonly segments: readonly string[];
}

/** Describes the candidate that a request comes nearest to, and why it does not apply; undefined if none is near. */
export function describeNearest(
  request: MatchedRequest,
  candidates: readonly Candidate[],
): string | undefined {
  const matching = candidates.filter(({ matches }) => matches);
  const nearest =
    matching.find(({ match }) => isSpecific(match)) ??
    findAtPath(request, candidates) ??
    findNearPath(splitPath(request.path), candidates.flatMap(readSegments)) ??
    candidates.find(({ match }) => beginsAs(request.path, pathOf(match))) ??
    matching[0] ??
    candidates.find(({ match }) => pathOf(match) === undefined);
  const explanation = nearest?.explain();
  return explanation && `The nearest ${explanation}.`;
}

/** Returns whether a match selects by more than the method. */
function isSpecific(match: RequestMatch): boolean {
  return isRestricted(typeof match === 'function' ? match : { ...match, method: undefined });
}

/** Returns whether a path begins with the text with which a regular expression begins: `^\/orders\/` of `/^\/orders\/\d+$/`. */
function beginsAs(path: string, wanted: string | RegExp | undefined): boolean {
  if (!(wanted instanceof RegExp)) return false;
  const [, literal = ''] = /^\^?((?:[\w\-~%@:]|\\?\/|\\[.-])*)(?![*?{])/.exec(wanted.source) ?? [];
  const begin = literal.replaceAll('\\', '');
  return begin.length > 1 && path.toLowerCase().startsWith(begin.toLowerCase());
}

function pathOf(match: RequestMatch): string | RegExp | undefined {
  return typeof match === 'function' ? undefined : match.path;
}

/** Returns a candidate whose path fits, one that has the method first. */
function findAtPath(
  { path, method }: MatchedRequest,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const atPath = candidates.filter(({ match }) => {
    const wanted = pathOf(match);
    return wanted !== undefined && fitsPath(path, wanted);
  });
  return atPath.find(({ match }) => typeof match === 'object' && fitsMethod(method, match)) ?? atPath[0];
}

function readSegments(candidate: Candidate): readonly Placed[] {
  const path = pathOf(candidate.match);
  return typeof path === 'string' ? [{ candidate, segments: splitPath(path) }] : [];
}

/** Returns a candidate with one segment that is misspelt, or else with segments in front or behind that are missing or too many. */
function findNearPath(path: readonly string[], placed: readonly Placed[]): Candidate | undefined {
  const misspelt = placed.flatMap(({ candidate, segments }) => {
    const [at, ...others] = segments.length === path.length ? listDifferences(segments, path) : [];
    return at === undefined || others.length > 0
      ? []
      : [{ candidate, sent: path[at] ?? '', meant: segments[at] ?? '' }];
  });
  for (const sent of new Set(misspelt.map((each) => each.sent))) {
    const alike = misspelt.filter((each) => each.sent === sent);
    const closest = findClosestMatch(
      sent,
      alike.map(({ meant }) => meant),
    );
    const found = alike.find(({ meant }) => meant === closest);
    if (found !== undefined) return found.candidate;
  }
  const longestFirst = placed.toSorted((one, other) => other.segments.length - one.segments.length);
  const shifted =
    longestFirst.find(({ segments }) => beginAlike(segments.toReversed(), path.toReversed())) ??
    longestFirst.find(({ segments }) => beginAlike(segments, path));
  return shifted?.candidate;
}

function splitPath(path: string): readonly string[] {
  return path.slice(1).split('/');
}

/** Returns the indices of the segments of a template that a path of the same length does not have. */
function listDifferences(template: readonly string[], path: readonly string[]): readonly number[] {
  const isParameter = (at: number): boolean => template[at]?.includes('{') === true && path[at] !== '';
  return [...template.keys()].filter((at) => template[at] !== path[at] && !isParameter(at));
}

/** Returns whether the longer one of a template and a path begins with the other, and both have a text in common there. */
function beginAlike(template: readonly string[], path: readonly string[]): boolean {
  const length = Math.min(template.length, path.length);
  const [begin, sent] = [template.slice(0, length), path.slice(0, length)];
  return (
    listDifferences(begin, sent).length === 0 && begin.some((each) => each !== '' && sent.includes(each))
  );
}
