import type { IncomingRequest } from '../http/message.ts';
import { findQuery } from '../http/target.ts';
import { type ReportError, writeError } from './callback.ts';
import { findDifference, type MatchedRequest, normalizePath, type RequestMatch, tryMatch } from './match.ts';
import { decodeContent } from './stubs/content.ts';

/** What requests are compared with depends on. */
interface MatchedParts {
  /** Resolves to the user or client whom the credentials name, or to whom a token was issued. */
  readonly findUser: (request: IncomingRequest) => Promise<string | undefined>;
  /** Returns the scheme of the credentials. */
  readonly findScheme: (request: IncomingRequest) => string | undefined;
  /** The longest content (bytes) that is read. */
  readonly bodyLimit: number;
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
  /** Called with the errors of functions that select requests. Default: writes them to standard error. */
  readonly onError?: ReportError | undefined;
}

/** What was found out about a request before it is routed. */
interface Facts {
  readonly user: string | undefined;
  readonly body: unknown;
}

/** A request as it is compared, and what the functions of rules returned for it. */
interface Compared {
  readonly view: MatchedRequest;
  readonly results: Map<object, boolean>;
}

/** What rules have to know of a request before they are compared with it. */
export interface RuleNeeds {
  readonly user: boolean;
  readonly content: boolean;
}

/** Compares requests with the rules of a double. A request costs nothing that no rule needs. */
export class MatchedRequests {
  readonly #parts: MatchedParts;
  readonly #rules: { readonly needs: RuleNeeds }[] = [];
  /** By the content, which copies of a request share. */
  readonly #facts = new WeakMap<IncomingRequest['body'], Facts>();
  readonly #compared = new WeakMap<IncomingRequest, Compared>();

  constructor(parts: MatchedParts) {
    this.#parts = parts;
  }

  /** Adds rules of one kind, which are asked what they need for each request. */
  register(rules: { readonly needs: RuleNeeds }): void {
    this.#rules.push(rules);
  }

  /**
   * Finds out what the rules need to know of a request. Content that cannot be read or decoded counts as none.
   * @returns undefined if they need nothing
   */
  prepare(request: IncomingRequest): Promise<void> | undefined {
    const user = this.#rules.some(({ needs }) => needs.user);
    const content = this.#rules.some(({ needs }) => needs.content);
    return user || content ? this.#prepare(request, { user, content }) : undefined;
  }

  /** Returns what a request is compared with. */
  view(request: IncomingRequest): MatchedRequest {
    return this.#compare(request).view;
  }

  /**
   * Returns the first member in which a request differs from the match of a rule; undefined if it matches. A function is called once
   * for a request and a rule.
   */
  findDifference(request: IncomingRequest, rule: object, match: RequestMatch): string | undefined {
    const { view, results } = this.#compare(request);
    const { onError = writeError } = this.#parts;
    return findDifference(view, match, (run) => {
      const result = results.get(rule) ?? tryMatch(run, onError);
      results.set(rule, result);
      return result;
    });
  }

  #compare(request: IncomingRequest): Compared {
    const known = this.#compared.get(request) ?? { view: this.#createView(request), results: new Map() };
    this.#compared.set(request, known);
    return known;
  }

  #createView(request: IncomingRequest): MatchedRequest {
    const { method, target, headers, connection } = request;
    const { user, body } = this.#facts.get(request.body) ?? {};
    const { findScheme } = this.#parts;
    return {
      method,
      target,
      path: normalizePath(request),
      headers,
      user,
      body,
      secure: connection.secure,
      get query() {
        return new URLSearchParams(findQuery(target));
      },
      get scheme() {
        return findScheme(request);
      },
    };
  }

  async #prepare(request: IncomingRequest, { user, content }: RuleNeeds): Promise<void> {
    this.#facts.set(request.body, {
      user: user ? await this.#parts.findUser(request) : undefined,
      body: content ? await this.#read(request) : undefined,
    });
  }

  async #read(request: IncomingRequest): Promise<unknown> {
    if (!request.body.present) return undefined;
    const { bodyLimit, maxDepth } = this.#parts;
    try {
      const bytes = await request.body.hold(bodyLimit);
      return await decodeContent(Buffer.from(bytes), request.headers.get('content-type'), maxDepth);
    } catch {
      return undefined;
    }
  }
}
