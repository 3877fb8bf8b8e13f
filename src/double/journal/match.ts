import { HttpHeaders } from '../../http/fields.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { findQuery } from '../../http/target.ts';
import { defaultLimits } from '../../service/options.ts';
import { number, object, optional, read, type ShapesOf } from '../../shape/shape.ts';
import { isPromise } from '../callback.ts';
import {
  callMatch,
  checkName,
  containsText,
  differences,
  type MatchedRequest,
  matchExample,
  matchMembers,
  normalizePath,
  problemTypeShape,
  type RequestMatchParts,
  textOrPattern,
} from '../match.ts';
import { decodeContent } from '../stubs/content.ts';
import type { JournalEntry, RawEntry } from './entry.ts';

/** Selects entries of the journal, by members or by a function. An entry matches if it matches every member that is present. */
export type EntryMatch<Path extends string = string> = EntryParts<Path> | ((entry: JournalEntry) => boolean);

/** The members by which entries are selected. */
interface EntryParts<Path extends string = string> extends RequestMatchParts<Path> {
  /** A user or client that exists, existed, or is named by the credentials of a recorded request. */
  readonly user?: string | undefined;
  /** The status of the response; 0 if there was none. */
  readonly status?: number;
  /** The step (0 to 16) that produced the response. */
  readonly step?: number;
  /** The problem type in the response, such as `nonce-replayed`. */
  readonly problem?: ProblemType;
  /** A text or pattern that the content of the request contains. */
  readonly text?: string | RegExp;
}

const matchShape = object(
  {
    ...matchMembers,
    status: optional(number({ min: 100, max: 599 })),
    step: optional(number({ min: 0, max: 16 })),
    problem: optional(problemTypeShape),
    text: optional(textOrPattern),
  } satisfies ShapesOf<EntryParts>,
  undefined,
  { expected: matchExample },
);

/**
 * Throws RangeError if a match is invalid, with the nearest known name.
 * @param userNames returns the names that `user` can have
 */
export function checkEntryMatch(match: EntryMatch, userNames: () => readonly string[]): void {
  if (typeof match === 'function') return;
  read(matchShape, match, 'a match');
  if (match.user !== undefined) checkName(match, userNames());
}

/**
 * Returns whether an entry matches. Throws what the function of a match throws, and RangeError if it returns a promise, which would
 * otherwise match every entry.
 */
export function fits(entry: JournalEntry, match: EntryMatch): boolean {
  if (typeof match === 'function') return callMatch(() => match(entry));
  const { done } = listRawDifferences(entry, match).next();
  return done === true;
}

/**
 * Returns how an entry differs from a match, one phrase for each difference, without secrets. Empty if it matches. The values
 * as sent are compared, since a secret can be equal to a part of a path or of content.
 */
export function listDifferences(entry: JournalEntry, match: EntryParts): string[] {
  return [...listRawDifferences(entry, match)].map((each) => entry.redact(each));
}

function* listRawDifferences(entry: JournalEntry, match: EntryParts): Generator<string, void> {
  const { request } = entry.raw();
  yield* differences(viewEntry(entry, request), match, callMatch);
  for (const name of ['status', 'step', 'problem'] as const) {
    const value = name === 'problem' ? entry.problem?.type : entry[name];
    if (match[name] !== undefined && match[name] !== value)
      yield `the ${name} is ${value ?? 'none'}, not ${match[name]}`;
  }
  const text = (): string => Buffer.from(request?.body ?? []).toString('utf8');
  if (match.text !== undefined && !containsText(text(), match.text))
    yield `the content does not contain ${JSON.stringify(String(match.text))}`;
}

/** Returns the request of an entry as rules compare it. What could not be parsed has no members. */
function viewEntry(entry: JournalEntry, request: RawEntry['request']): MatchedRequest {
  const { method = '(unparsed)', target = '', headers = [], body = new Uint8Array() } = request ?? {};
  return {
    method,
    target,
    path: request === undefined ? '(unparsed)' : normalizePath(request),
    get headers() {
      return new HttpHeaders(headers.flat());
    },
    get secure() {
      return entry.request.secure !== false;
    },
    get user() {
      return entry.user;
    },
    get scheme() {
      return entry.scheme;
    },
    get query() {
      return new URLSearchParams(findQuery(target));
    },
    get body() {
      return decodeBody(body, this.headers.get('content-type'));
    },
  };
}

/** Returns recorded content as a stub receives it; undefined if it cannot be decoded, or only later, as multipart/form-data. */
function decodeBody(bytes: Uint8Array, type: string | undefined): unknown {
  try {
    const decoded = decodeContent(Buffer.from(bytes), type, defaultLimits.xmlDepth);
    return isPromise(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}
