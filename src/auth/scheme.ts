import type { Connection, Request } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { AuthenticationTrace } from './trace.ts';

/**
 * What came of credentials. `claimed` is the user they speak of, where they can be read: failures are counted
 * against that name too. That there are none is seen before a scheme is asked.
 */
export type Verdict =
  | { readonly outcome: 'good'; readonly principal: Principal }
  | {
      readonly outcome: 'bad';
      readonly problem: Problem;
      readonly claimed?: string;
      /** The scheme's challenge where it says what was wrong; it takes the place of its usual one, and goes with any status. */
      readonly challenge?: string;
    };

/** One way to authenticate: it judges the credentials that name it, and says how to ask for them. */
export interface Scheme {
  /** As it stands in the field, in lower case: `hmac`. */
  readonly name: string;
  /**
   * Judges what follows the scheme's name, at once where it can, and tells the story check by check where there is one.
   * Nothing but a fault of the server is thrown.
   */
  authenticate(request: Request, rest: string, authTrace?: AuthenticationTrace): Verdict | Promise<Verdict>;
  /**
   * Where besides a field the request carries credentials of this scheme: `target` says that it does, `content` that it
   * may. Left out, they stand in a field alone.
   */
  elsewhere?(request: Request): 'target' | 'content' | undefined;
  /** Judges such credentials, which came over TLS; undefined where there are none after all. */
  authenticateElsewhere?(request: Request, authTrace?: AuthenticationTrace): Promise<Verdict | undefined>;
  /** The challenge (RFC 9110 §11.3) for this connection; undefined where the scheme does not work on it. */
  challenge(connection: Connection): string | undefined;
  /** The challenge of a request that brought its credentials together with others, where it says that; it came over TLS. */
  severalChallenge?(): string | undefined;
  /** The challenge (RFC 6750 §3.1) for a token whose scope is too narrow; left out where the scheme knows no scopes. */
  scopeChallenge?(needed: string): string;
}
