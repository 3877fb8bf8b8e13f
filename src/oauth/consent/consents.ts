import type { Authenticator } from '../../auth/authenticate.ts';
import type { Clock } from '../../clock.ts';
import type { Request } from '../../http/message.ts';
import type { Method } from '../../http/method.ts';
import { Problem } from '../../http/problem.ts';
import type { Outcome, Variant } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { FormContent } from '../form-body.ts';
import { firstOf, type Grants, isLive, tokenLength } from '../grants.ts';
import { readParameters } from '../parameters.ts';
import type { Mechanism } from '../records.ts';
import { showQuestion } from './consent-page.ts';

/** What a user is asked. It is bound to a single-use ticket, so that an answer cannot be turned on another question. */
export interface ConsentQuestion {
  readonly mechanism: Mechanism;
  /** The client's id, or the consumer's key. */
  readonly client: string;
  readonly user: string;
  readonly scopes: readonly Scope[];
  /** What the endpoint needs again when the answer comes: a redirect URI, a challenge, a state. */
  readonly details: Readonly<Record<string, string>>;
}

/** What a user answered. */
export interface ConsentAnswer extends ConsentQuestion {
  readonly allowed: boolean;
}

/** How a question is put. */
export interface ConsentForm {
  /** The path that the answer is sent to. */
  readonly action: string;
  /** Where the answer is sent to, shown to the user; undefined where it is not sent anywhere (`oob`). */
  readonly destination: string | undefined;
  /** One of `pageVariants`. */
  readonly variant: Variant | undefined;
  /** The method of the request: HEAD gets no ticket. */
  readonly method: Method;
}

/** Asks users whether clients may, and takes their answers. */
export interface Consents {
  /**
   * Draws a ticket for the question, and shows both: as a page, or as JSON for a client without a browser. For HEAD the page is of
   * the same length, and no ticket is drawn.
   */
  ask(question: ConsentQuestion, form: ConsentForm): Promise<Outcome>;
  /**
   * Takes an answer, `consent_ticket` and `decision`; all other parameters are ignored. Undefined where it answers no open question
   * of this mechanism to this user: another user's ticket is not spent by that. Of several answers to one question one is taken.
   */
  answer(
    content: FormContent | undefined,
    mechanism: Mechanism,
    user: string,
  ): Promise<ConsentAnswer | undefined>;
}

/** What consents are made of. */
export interface ConsentParts {
  readonly grants: Grants;
  readonly clock: Clock;
  readonly lifetimes: { readonly ticket: number };
}

/** Makes consents. */
export function createConsents({ grants, clock, lifetimes }: ConsentParts): Consents {
  return {
    async ask(question, form) {
      const lasts = lifetimes.ticket;
      // HEAD is safe (RFC 9110 §9.2.1), and has the fields of GET (§9.3.2): hence a ticket's length, and no ticket.
      if (form.method === 'HEAD')
        return showQuestion({ ...question, ...form, ticket: '-'.repeat(tokenLength), lasts });
      const expires = clock.now() + lasts;
      const ticket = firstOf(await grants.issue([{ ...question, kind: 'ticket', expires }]));
      return showQuestion({ ...question, ...form, ticket: ticket.value, lasts });
    },

    async answer(content, mechanism, user) {
      if (content === undefined || typeof content === 'string') return undefined;
      const { values } = readParameters(content, ['consent_ticket', 'decision']);
      const ticket = values.get('consent_ticket');
      const decision = values.get('decision');
      if (ticket === undefined || (decision !== 'allow' && decision !== 'deny')) return undefined;
      const found = await grants.find(ticket, mechanism, 'ticket');
      if (found === undefined || found.token.user !== user || !isLive(found, clock.now())) return undefined;
      if (!(await grants.spend(found))) return undefined;
      const { client, scopes, details } = found.token;
      return { mechanism, client, user, scopes, details, allowed: decision === 'allow' };
    },
  };
}

/** The name of the user who asks or answers. Rejects with a Problem (401 with a challenge) where there are no credentials. */
export async function approvingUser(approver: Authenticator, request: Request): Promise<string> {
  const principal = await approver.authenticate(request);
  if (principal !== undefined) return principal.name;
  throw new Problem('authentication-required', 'Who allows a client something has to be known.', {
    fields: approver.challenges(request.connection),
  });
}
