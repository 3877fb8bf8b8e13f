import { type HeadersInput, toLines } from './field-lines.ts';
import type { FieldLine } from './fields.ts';
import { type ProblemType, problemTypes } from './problem-types.ts';

/** The value of an extension member (RFC 9457 §3.2). */
export type ProblemMember =
  | string
  | number
  | boolean
  | readonly ProblemMember[]
  | { readonly [name: string]: ProblemMember };

/** A document in the form of another API, which replaces the problem document. */
export interface ForeignDocument {
  /** The status code of the response in place of that of the problem type. */
  readonly status: number;
  /** The media type of the document. */
  readonly type: string;
  /** The name of the root element of a document in XML. Default: it is written as JSON. */
  readonly root?: string;
  /** The child elements, or members, by name. */
  readonly body: Readonly<Record<string, ProblemMember>>;
}

/** The options of a problem. */
export interface ProblemOptions {
  /** Extension members: `field`, `line`, `column`. */
  members?: Readonly<Record<string, ProblemMember>> | undefined;
  /** Header fields of the response: `Allow`, `WWW-Authenticate`, `Retry-After`. */
  headers?: HeadersInput | undefined;
  /** Whether the connection is closed after the response. Default: false. */
  close?: boolean | undefined;
  /** The document that the client receives instead of a problem document. Default: none. @internal */
  document?: ForeignDocument | undefined;
  /** The error behind an internal error, which no client sees. @internal */
  cause?: unknown;
}

/** Marks problems in all copies of this module. */
const mark = Symbol.for('countersign.problem');

/**
 * An error that the client receives as a problem document (RFC 9457). Any code that handles a request may throw one.
 *
 * The server throws one for every request that it rejects. Recording a stack trace, which the constructor of Error always does,
 * takes half the time of a rejection. So this class inherits from Error.prototype but does not call that constructor: its
 * instances are instances of Error without a `stack`. The class that the package exports is in pipeline/thrown-problem.ts.
 */
export class Problem implements Error {
  static {
    Object.setPrototypeOf(Problem.prototype, Error.prototype);
    Object.defineProperty(Problem.prototype, mark, { value: true });
    Object.defineProperty(Problem, Symbol.hasInstance, { value: isInstance });
  }

  readonly name = 'Problem';
  /** The type and the detail. */
  readonly message: string;
  /** The stack trace; undefined for a problem that the server throws. */
  declare readonly stack?: string;
  /** The name of the problem type: `not-found`. */
  readonly type: ProblemType;
  /** The status code of the response, which the type determines. */
  readonly status: number;
  /** The title of the problem type. */
  readonly title: string;
  /** What happened in this occurrence, for a human reader. */
  readonly detail: string;
  /** The extension members of the problem document (RFC 9457 §3.2). */
  readonly members: Readonly<Record<string, ProblemMember>>;
  /** The header fields of the response. */
  readonly headers: readonly FieldLine[];
  /** Whether the connection is closed after the response. */
  readonly close: boolean;
  /** The document that the client receives instead of a problem document. @internal */
  readonly document: ForeignDocument | undefined;
  /** The error behind an internal error, which no client sees. @internal */
  declare readonly cause?: unknown;

  constructor(type: ProblemType, detail: string, options: ProblemOptions = {}) {
    this.message = `${type}: ${detail}`;
    const { status, title } = problemTypes[type];
    this.type = type;
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.members = options.members ?? {};
    this.headers =
      options.headers === undefined
        ? []
        : Array.from(toLines(options.headers), ([name, value]): FieldLine => [name, value]);
    this.close = options.close ?? false;
    this.document = options.document;
    if (options.cause !== undefined) this.cause = options.cause;
  }

  /** Returns a copy of the problem with additional field lines. @internal */
  with(fields: readonly FieldLine[]): Problem {
    return new Problem(this.type, this.detail, {
      /** The extension members of the problem document (RFC 9457 §3.2). */
      members: this.members,
      headers: [...this.headers, ...fields],
      /** Whether the connection is closed after the response. */
      close: this.close,
      cause: this.cause,
      document: this.document,
    });
  }
}

/** Returns the problem that the content has more than `limit` bytes. */
export function contentTooLarge(limit: number): Problem {
  return new Problem('content-too-large', `The limit is ${limit} bytes of content.`, { close: true });
}

/**
 * Implements `instanceof` for the class, and as usual for classes that extend it. It accepts a problem of another copy of this
 * module: a test runner that resets its modules loads a second copy with what is loaded on first use.
 */
function isInstance(this: unknown, value: unknown): boolean {
  if (this === Problem) return typeof value === 'object' && value !== null && mark in value;
  return Reflect.apply(Function.prototype[Symbol.hasInstance], this, [value]);
}

/** Returns the Problem (415) for content in a charset other than UTF-8. */
export function unsupportedCharset(charset: string): Problem {
  const shown = charset.replace(/[^\x21-\x7e]/g, '?').slice(0, 40);
  const detail = `Content-Type has the charset ${shown}; only utf-8 is supported.`;
  return new Problem('unsupported-charset', detail, { members: { encoding: shown } });
}
