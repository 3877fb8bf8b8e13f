import type { FieldLine } from './fields.ts';
import { type ProblemType, problemTypes } from './problem-types.ts';

/** A value of a problem's own members (RFC 9457 §3.2). */
export type ProblemMember =
  | string
  | number
  | boolean
  | readonly ProblemMember[]
  | { readonly [name: string]: ProblemMember };

/** What may be said about one occurrence, besides its type and detail. */
export interface ProblemParts {
  /** Members of its own: `field`, `line`, `column`. */
  members?: Readonly<Record<string, ProblemMember>>;
  /** Field lines that the reply carries: `Allow`, `WWW-Authenticate`, `Retry-After`. */
  fields?: readonly FieldLine[];
  /** The connection ends after this reply. */
  close?: boolean;
}

/**
 * A refusal that becomes a problem document (RFC 9457). It can be thrown anywhere; one place makes the response of it.
 *
 * The server throws one for every request that it refuses, and recording a stack trace, which the constructor of Error
 * always does, is half of the cost of a refusal. So this class inherits from Error.prototype and never calls that constructor:
 * its instances are instances of Error and have no `stack`. The class that the package exports is in thrown-problem.ts.
 */
export class Problem implements Error {
  static {
    Object.setPrototypeOf(Problem.prototype, Error.prototype);
  }

  readonly name = 'Problem';
  /** The type and the detail. */
  readonly message: string;
  declare readonly stack?: string;
  readonly type: ProblemType;
  readonly status: number;
  readonly title: string;
  /** What happened this time, for a person. */
  readonly detail: string;
  readonly members: Readonly<Record<string, ProblemMember>>;
  readonly fields: readonly FieldLine[];
  readonly close: boolean;

  constructor(type: ProblemType, detail: string, parts: ProblemParts = {}) {
    this.message = `${type}: ${detail}`;
    const { status, title } = problemTypes[type];
    this.type = type;
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.members = parts.members ?? {};
    this.fields = parts.fields ?? [];
    this.close = parts.close ?? false;
  }

  /** The same problem with more field lines. */
  with(fields: readonly FieldLine[]): Problem {
    return new Problem(this.type, this.detail, {
      members: this.members,
      fields: [...this.fields, ...fields],
      close: this.close,
    });
  }
}

/** That the content has more than `limit` bytes. */
export function contentTooLarge(limit: number): Problem {
  return new Problem('content-too-large', `At most ${limit} bytes of content are taken.`, { close: true });
}
