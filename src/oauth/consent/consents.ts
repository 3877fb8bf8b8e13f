import type { Authenticator } from '../../auth/authenticate.ts';
import { findTrace } from '../../auth/trace.ts';
import type { Clock } from '../../clock.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { ActionResponse, Variant } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { FormContent } from '../form-body.ts';
import { type Grants, isLive, requireFirst, tokenLength } from '../grants.ts';
import { readParameters } from '../parameters.ts';
import type { Reason } from '../reasons.ts';
import type { Mechanism } from '../records.ts';
import { showQuestion } from './consent-page.ts';

/** A request for consent. It is bound to a single-use ticket, so that the answer is valid for this request only. */
interface ConsentQuestion {
  readonly mechanism: Mechanism;
  /** The client's id, or the consumer's key. */
  readonly client: string;
  readonly user: string;
  readonly scopes: readonly Scope[];
  /** Data that the endpoint needs to process the answer: a redirect URI, a challenge, a state. */
  readonly details: Readonly<Record<string, string>>;
}

/** The user's answer to a request for consent. */
export interface ConsentAnswer extends ConsentQuestion {
  readonly allowed: boolean;
}

/** Options of one consent page. */
interface ConsentForm {
  /** The path that the form is sent to. */
  readonly action: string;
  /** The path of the page where the user can revoke the permission. */
  readonly grants: string;
  /** The address that the browser is redirected to, shown to the user; undefined if there is no redirect (`oob`). */
  readonly destination: string | undefined;
  /** One of `pageVariants`. */
  readonly variant: Variant | undefined;
  /** The method of the request. No ticket is issued for HEAD. */
  readonly method: string;
}

/** Asks users for consent and processes their answers. */
export interface Consents {
  /**
   * Issues a ticket and returns the consent page, or JSON for a client without a browser. For HEAD the page has the same length,
   * and no ticket is issued.
   */
  ask(question: ConsentQuestion, form: ConsentForm): Promise<ActionResponse>;
  /**
   * Processes an answer: the parameters `consent_ticket` and `decision`; others are ignored. Resolves to undefined if no request
   * of this mechanism to this user is open; another user's ticket stays valid. Only the first answer to a request is accepted.
   */
  answer(
    content: FormContent | undefined,
    mechanism: Mechanism,
    user: string,
  ): Promise<ConsentAnswer | undefined>;
  /** Returns why an answer was not accepted. It contains no ticket. */
  findReason(content: FormContent | undefined, mechanism: Mechanism, user: string): Promise<Reason>;
}

/** Dependencies of the consents. */
interface ConsentContext {
  readonly grants: Grants;
  readonly clock: Clock;
  readonly lifetimes: { readonly ticket: number };
}

/** Creates the service that asks for consent. */
export function createConsents({ grants, clock, lifetimes }: ConsentContext): Consents {
  return {
    async ask(question, form) {
      const lifetime = lifetimes.ticket;
      // HEAD is safe (RFC 9110 §9.2.1) and has the fields of GET (§9.3.2): a placeholder has the length of a ticket.
      if (form.method === 'HEAD')
        return showQuestion({ ...question, ...form, ticket: '-'.repeat(tokenLength), lifetime });
      const expires = clock.now() + lifetime;
      const ticket = requireFirst(await grants.issue([{ ...question, kind: 'ticket', expires }]));
      return showQuestion({ ...question, ...form, ticket: ticket.value, lifetime });
    },

    async answer(content, mechanism, user) {
      if (content === undefined || typeof content === 'string') return undefined;
      const { values } = readParameters(content, ['consent_ticket', 'decision']);
      const ticket = values.get('consent_ticket');
      const decision = values.get('decision');
      if (ticket === undefined || (decision !== 'allow' && decision !== 'deny')) return undefined;
      const found = await grants.find(ticket, mechanism, 'ticket');
      if (found === undefined || found.token.user !== user || !isLive(found, clock.now())) return undefined;
      if (!(await grants.consume(found))) return undefined;
      const { client, scopes, details } = found.token;
      return { mechanism, client, user, scopes, details, allowed: decision === 'allow' };
    },

    async findReason(content, mechanism, user) {
      const check = 'consent_ticket';
      if (content === undefined || typeof content === 'string')
        return { check: 'parameters', hint: 'the content is not a valid form in UTF-8' };
      const { values } = readParameters(content, ['consent_ticket', 'decision']);
      const [ticket, decision] = [values.get('consent_ticket'), values.get('decision')];
      if (ticket === undefined) return { check, hint: 'consent_ticket is missing or repeated' };
      if (decision !== 'allow' && decision !== 'deny')
        return { check: 'decision', hint: 'decision must be allow or deny' };
      const found = await grants.find(ticket, mechanism, 'ticket');
      if (found === undefined)
        return { check, hint: 'the ticket is unknown, or was deleted after it expired' };
      const { token } = found;
      if (token.user !== user) return { check: 'user', hint: 'the page was shown to another user' };
      if (token.used) return { check: 'reuse', hint: 'the form was submitted before' };
      const ago = Math.round((clock.now() - token.expires) / 1000);
      return ago < 0
        ? { check: 'reuse', hint: 'the form was submitted twice at the same time' }
        : { check: 'expiry', hint: `the page expired ${ago} s ago` };
    },
  };
}

/** Returns the name of the authenticated user. Rejects with a Problem (401 with a challenge) if there are no credentials. */
export async function requireApprovingUser(
  approver: Authenticator,
  request: IncomingRequest,
  detail = 'Sign in to allow or refuse the request of a client.',
): Promise<string> {
  const principal = await approver.authenticate(request, findTrace(request));
  if (principal !== undefined) return principal.name;
  throw new Problem('authentication-required', detail, {
    headers: approver.challenges(request.connection),
  });
}
