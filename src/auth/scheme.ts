import type { Connection, Request } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';

/**
 * What came of credentials. `claimed` is the user they speak of, where they can be read: failures are counted
 * against that name too. That there are none is seen before a scheme is asked.
 */
export type Verdict =
  | { readonly outcome: 'good'; readonly principal: Principal }
  | { readonly outcome: 'bad'; readonly problem: Problem; readonly claimed?: string };

/** One way to authenticate: it judges the credentials that name it, and says how to ask for them. */
export interface Scheme {
  /** As it stands in the field, in lower case: `hmac`. */
  readonly name: string;
  /** Judges what follows the scheme's name, at once where it can. Nothing but a fault of the server is thrown. */
  authenticate(request: Request, rest: string): Verdict | Promise<Verdict>;
  /** The challenge (RFC 9110 §11.3) for this connection; undefined where the scheme does not work on it. */
  challenge(connection: Connection): string | undefined;
}
