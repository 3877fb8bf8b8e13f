// Explains a request that neither a stub nor an operation of a partner's document matched.

import { findClosestMatch } from '../did-you-mean.ts';
import type { MatchedRequest, RequestMatch, RequestMatchParts } from './match.ts';
import { fitsMethod, fitsPath } from './match.ts';

/** What a request may have been meant for. */
export interface Candidate {
  /** Names it in a sentence: `stub is GET /orders`. */
  readonly name: string;
  readonly match: RequestMatch;
  /** The first member that differs, or why it is not applied although it matches. */
  readonly difference: string;
  /** Whether the request matches, so that it was meant in any case. */
  readonly matches?: boolean;
}

/** A candidate whose path is given. */
interface Placed {
  readonly candidate: Candidate;
  readonly match: RequestMatchParts;
  readonly path: string | RegExp;
}

/** Describes the candidate that a request comes nearest to, and why it does not apply; undefined if none is near. */
export function describeNearest(
  request: MatchedRequest,
  candidates: readonly Candidate[],
): string | undefined {
  const nearest = candidates.find(({ matches }) => matches) ?? findNearest(request, candidates);
  return nearest && `The nearest ${nearest.name}, but ${nearest.difference}.`;
}

function findNearest(request: MatchedRequest, candidates: readonly Candidate[]): Candidate | undefined {
  const placed = candidates.flatMap(readPath);
  const atPath = placed.filter(({ path }) => fitsPath(request.path, path));
  const nearest =
    atPath.find(({ match }) => fitsMethod(request.method, match)) ??
    atPath[0] ??
    findNearPath(request.path, placed);
  return nearest?.candidate ?? candidates.find((candidate) => readPath(candidate).length === 0);
}

function readPath(candidate: Candidate): readonly Placed[] {
  const { match } = candidate;
  return typeof match === 'function' || match.path === undefined
    ? []
    : [{ candidate, match, path: match.path }];
}

/** Returns the candidate whose path is similar, or differs by segments in front, as if a base path was forgotten. */
function findNearPath(path: string, placed: readonly Placed[]): Placed | undefined {
  const filled = placed.map((each) => (typeof each.path === 'string' ? fillTemplate(each.path, path) : ''));
  const close =
    findClosestMatch(path, filled) ??
    filled.find((each) => path !== '/' && each !== '' && (each.endsWith(path) || path.endsWith(each)));
  return close === undefined ? undefined : placed[filled.indexOf(close)];
}

/** Puts the segments of a path in the place of the parameters of a template, counted from the end. */
function fillTemplate(template: string, path: string): string {
  const segments = path.split('/');
  const parts = template.split('/');
  const shift = segments.length - parts.length;
  return parts.map((part, at) => (part.includes('{') ? (segments[at + shift] ?? part) : part)).join('/');
}
