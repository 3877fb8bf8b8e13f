import { type Clock, systemClock } from '../../clock.ts';
import type { Parameter } from '../../http/form.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import type { RawResponse } from '../../net/raw-client.ts';
import { createOAuth1Scheme } from '../../schemes/oauth1/scheme.ts';
import { Interruption } from './report.ts';
import type { Sender, UrlRequest } from './sender.ts';

/** A client (RFC 5849 §1.1; formerly consumer) that is registered at the server. */
export type OAuth1Client = {
  /** The key of the client (consumer). */
  readonly key: string;
  /** The secret of the client. */
  readonly secret: string;
};

/** The endpoints of OAuth 1.0a (RFC 5849 §2). */
export type OAuth1Endpoints = {
  /** The absolute URL for request tokens. */
  readonly requestToken: string;
  /** The absolute URL of the consent page. */
  readonly authorize: string;
  /** The absolute URL for access tokens. */
  readonly accessToken: string;
};

/** Temporary credentials (RFC 5849 §2.1), and the verifier if a user has approved them. */
export interface Ticket {
  readonly token: string;
  readonly tokenSecret: string;
  readonly verifier: string | undefined;
}

/** Performs the steps of RFC 5849 §2 as a client. */
export interface OAuth1Flow {
  readonly otherClient: OAuth1Client | undefined;
  /** Obtains temporary credentials that no user has approved. Throws Interruption if the server issued none. */
  unapproved(): Promise<Ticket>;
  /** Obtains approved temporary credentials. Throws Interruption if the server issued none. */
  ticket(): Promise<Ticket>;
  /** Requests token credentials, signed anew, by default as the client of the ticket. */
  exchange(ticket: Ticket, as?: OAuth1Client): Promise<RawResponse>;
  /** Requests token credentials several times at once. Each request has a signature of its own. */
  exchangeTogether(ticket: Ticket, count: number): Promise<readonly (RawResponse | undefined)[]>;
}

/** The options of `createOAuth1Flow`. */
interface OAuth1FlowOptions {
  readonly endpoints: OAuth1Endpoints;
  readonly client: OAuth1Client;
  readonly otherClient?: OAuth1Client | undefined;
  readonly callback: string;
  readonly approve: (authorizationUrl: string) => Promise<string | undefined>;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  readonly random: (size: number) => Uint8Array;
  readonly sender: Sender;
}

/** Creates a flow. */
export function createOAuth1Flow(options: OAuth1FlowOptions): OAuth1Flow {
  const { endpoints, client, otherClient, callback, approve, clock = systemClock, random, sender } = options;
  const signRequest = (
    address: string,
    as: OAuth1Client,
    token: Ticket | undefined,
    parameters: readonly Parameter[],
  ): UrlRequest => {
    const url = new URL(address);
    const { fields } = createOAuth1Scheme({ parameters }).sign(
      { method: 'POST', url, target: url.pathname, fields: [] },
      { consumer: as, token },
      { now: clock.now(), random },
    );
    return { method: 'POST', url: address, headers: fields };
  };
  const unapproved: OAuth1Flow['unapproved'] = async () => {
    const own: Parameter[] = [['oauth_callback', toOctets(callback)]];
    const { status, text } = await sender.send(signRequest(endpoints.requestToken, client, undefined, own));
    const issued = new URLSearchParams(text);
    const [token, tokenSecret] = [issued.get('oauth_token'), issued.get('oauth_token_secret')];
    if (token !== null && tokenSecret !== null) return { token, tokenSecret, verifier: undefined };
    throw new Interruption('inconclusive', `the response to the request for a request token was ${status}`);
  };
  const exchangeRequest = (ticket: Ticket, as = client): UrlRequest => {
    const { verifier } = ticket;
    const own: Parameter[] = verifier === undefined ? [] : [['oauth_verifier', toOctets(verifier)]];
    return signRequest(endpoints.accessToken, as, ticket, own);
  };
  return {
    otherClient,
    unapproved,
    async ticket() {
      const ticket = await unapproved();
      const url = new URL(endpoints.authorize);
      url.searchParams.set('oauth_token', ticket.token);
      const verifier = verifierIn(await approve(url.href));
      if (verifier === undefined) throw new Interruption('inconclusive', 'the server issued no verifier');
      return { ...ticket, verifier };
    },
    exchange: (ticket, as) => sender.send(exchangeRequest(ticket, as)),
    exchangeTogether: (ticket, count) =>
      sender.sendTogether(Array.from({ length: count }, () => exchangeRequest(ticket))),
  };
}

function verifierIn(location: string | undefined): string | undefined {
  const query = location?.split('#')[0]?.split('?').slice(1).join('?');
  return new URLSearchParams(query).get('oauth_verifier') ?? undefined;
}
