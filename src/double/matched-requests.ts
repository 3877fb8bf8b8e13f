import type { IncomingRequest } from '../http/message.ts';
import { findQuery } from '../http/target.ts';
import { normalizePath } from './match.ts';
import { ContentNeeded, type MatchedRequest } from './request-match.ts';
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
}

/** What was found out about a request before it is routed. */
interface Facts {
  user?: string | undefined;
  /** Undefined if the content was not read. */
  content?: { readonly body: unknown };
}

/** What rules have to know of a request before they are compared with it. */
export interface RuleNeeds {
  readonly user: boolean;
  readonly content: boolean;
}

/** What no rules have to know. */
export const noNeeds: RuleNeeds = { user: false, content: false };

/** Reads of requests what faults and stubs are compared with. A request costs nothing that no rule needs. */
export class MatchedRequests {
  readonly #parts: MatchedParts;
  /** By the content, which copies of a request share. */
  readonly #facts = new WeakMap<IncomingRequest['body'], Facts>();

  constructor(parts: MatchedParts) {
    this.#parts = parts;
  }

  /** Finds out what rules need to know. Content that cannot be read or decoded counts as none. */
  async prepare(request: IncomingRequest, needs: RuleNeeds): Promise<void> {
    const facts = this.#facts.get(request.body) ?? {};
    this.#facts.set(request.body, facts);
    if (needs.user) facts.user = await this.#parts.findUser(request);
    if (needs.content) facts.content ??= { body: await this.#read(request) };
  }

  /** Returns what a request is compared with. */
  view(request: IncomingRequest): MatchedRequest {
    const { method, target, headers, connection } = request;
    const { user, content } = this.#facts.get(request.body) ?? {};
    const { findScheme } = this.#parts;
    return {
      method,
      target,
      path: normalizePath(request),
      headers,
      user,
      secure: connection.secure,
      get query() {
        return new URLSearchParams(findQuery(target));
      },
      get scheme() {
        return findScheme(request);
      },
      get body() {
        if (content === undefined && request.body.present) throw new ContentNeeded();
        return content?.body;
      },
    };
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
