import type { IncomingRequest } from '../http/message.ts';
import type { Problem, ProblemMember } from '../http/problem.ts';

/** Details of a failed check: the members of a Problem that explains itself. */
export type Members = Readonly<Record<string, ProblemMember>>;

/** A secret that a test double knows. */
export interface KnownSecret {
  readonly owner: 'user' | 'client' | 'consumer';
  readonly name: string;
  readonly secret: string;
  /** Whether it is a password, with which nothing can be signed. */
  readonly isPassword: boolean;
  /** Whether the owner has it now. Otherwise it was replaced, or its owner was removed. */
  readonly current: boolean;
}

/** What a test double knows beyond its service, for explanations that only its journal shows. A server has no such knowledge. */
export interface TraceKnowledge {
  /** The names of the users that exist. */
  readonly userNames: readonly string[];
  /** The ids of the keys that users have. */
  readonly keyIds: readonly string[];
  /** The secrets that users, clients and consumers have, or had. */
  readonly secrets: readonly KnownSecret[];
  /** The public hosts of the service, which a client addresses in front of a proxy. */
  readonly hosts: readonly string[];
  /** Whether an explanation has only the time of one for a client of a server. */
  readonly isLimited: boolean;
  /** Resolves to the content of the request; undefined if it is long or does not arrive at once. Never rejects. */
  content(): Promise<Uint8Array | undefined>;
}

/** When credentials were made, and their nonce. Neither is a secret. */
export interface PresentedTimes {
  /** ms since 1970-01-01T00:00:00Z; undefined if they have no date. */
  readonly time: number | undefined;
  /** The date as sent. Default: whole seconds. */
  readonly sentTime?: string | undefined;
  readonly nonce: string | undefined;
}

/**
 * Records the checks of the credentials of one request. It is created only for a listener. What it shows never contains a secret, a
 * password, a token or a signature.
 */
export class AuthenticationTrace {
  /** The scheme in lower case; undefined without readable credentials. */
  scheme: string | undefined;
  /** The date and the nonce of the credentials; undefined if they cannot be parsed, or have neither. @internal */
  presented: PresentedTimes | undefined;
  /** The checks that were passed, in order. */
  readonly passed: string[] = [];
  /** The check that failed first; undefined if none failed. */
  failedAt: string | undefined;
  #details: Members = {};
  /** Returns the details, until they are read for the first time. */
  #explain: (() => Members) | undefined;
  /** Returns what the content shows of credentials that are missing elsewhere. */
  #findInContent: ((content: Uint8Array) => string | undefined) | undefined;
  readonly #learn: (() => TraceKnowledge) | undefined;
  #knowledge: TraceKnowledge | undefined;

  /** @internal */
  constructor(learn?: () => TraceKnowledge) {
    this.#learn = learn;
  }

  /** What a test double knew when the check failed. Undefined unless one records. @internal */
  get knowledge(): TraceKnowledge | undefined {
    this.#knowledge ??= this.#learn?.();
    return this.#knowledge;
  }

  /** Details of the failed check, as shown with `--explain`. They are determined on first use. */
  get details(): Members {
    const explain = this.#explain;
    if (explain === undefined) return this.#details;
    this.#explain = undefined;
    this.#details = explain();
    return this.#details;
  }

  /** Whether the details are yet to be determined. @internal */
  get isPending(): boolean {
    return this.#explain !== undefined;
  }

  /** Whether the details contain a hint. It does not determine them: those of a wrong signature always do. @internal */
  get hasHint(): boolean {
    return this.isPending || this.#details['hint'] !== undefined;
  }

  /** Records that a check passed. */
  pass(check: string): void {
    this.passed.push(check);
  }

  /**
   * Records that a check failed. Only the first failed check is recorded.
   *
   * @param details A function is called when they are read for the first time; what it returns must contain a hint.
   */
  fail(check: string, details: Members | (() => Members) = {}): void {
    if (this.failedAt !== undefined) return;
    this.failedAt = check;
    // Later changes of users do not change an explanation.
    this.#knowledge ??= this.#learn?.();
    if (typeof details === 'function') this.#explain = details;
    else this.#details = details;
  }

  /**
   * Records how credentials are found in the content, where they are not expected. The content is read after the request was refused.
   *
   * @internal
   */
  searchContent(find: (content: Uint8Array) => string | undefined): void {
    this.#findInContent ??= find;
  }

  /** Whether credentials are to be found in the content. @internal */
  get searchesContent(): boolean {
    return this.#findInContent !== undefined;
  }

  /** Adds what the content shows of the credentials to the hint. @internal */
  addContent(content: Uint8Array): void {
    const found = this.#findInContent?.(content);
    const { hint } = this.details;
    if (found === undefined) return;
    const isGeneral = hint === undefined || String(hint).startsWith('no credentials were sent');
    this.#details = { ...this.#details, hint: isGeneral ? found : `${String(hint)}; and ${found}` };
  }

  /** Records that the credentials were refused. The check is the member `check` of the Problem, or follows from its type. */
  refused({ type, members }: Problem): void {
    const { check = checkOf[type] ?? type } = members;
    this.fail(String(check), members);
  }
}

/** Returns the trace that an observer attached to a request. */
export function findTrace({ trace }: Pick<IncomingRequest, 'trace'>): AuthenticationTrace | undefined {
  return trace instanceof AuthenticationTrace ? trace : undefined;
}

/** The check that failed, by problem type. */
const checkOf: Readonly<Record<string, string>> = {
  'several-credentials': 'parse',
  'malformed-credentials': 'parse',
  'malformed-field': 'parse',
  'tls-required': 'transport',
  'scheme-not-offered': 'scheme',
  'too-many-failures': 'throttle',
};

/** A named part of a signed message, such as `method` or `query`. */
export interface MessagePart {
  readonly name: string;
  /** The value that the server verifies the signature against. */
  readonly expected: string;
  /** The value that the client's signature covers, if a usual mistake reproduces that signature and the part differs. */
  readonly signed?: string;
}

/** An explanation, which may take long to make. */
export interface Explained {
  /** What the trace records. A function makes it when it is read. */
  readonly traced: Members | (() => Members);
  /** Makes what the client may see, which does not show whether the user exists. */
  readonly shown: () => Members;
}
