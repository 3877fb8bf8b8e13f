import { type Clock, systemClock } from '../../clock.ts';
import type { RawResponse } from '../../net/raw-client.ts';
import { baseStringOf, keyTextOf, signatureOf } from '../../signature/oauth1.ts';
import { encodeOctets, octetsOf, type Parameter } from '../../signature/oauth1-parameters.ts';
import { Interruption } from './report.ts';
import type { Sender, UrlRequest } from './sender.ts';

/** A consumer that is registered at the server. */
export interface OAuth1Consumer {
  readonly key: string;
  readonly secret: string;
}

/** The endpoints of OAuth 1.0a (RFC 5849 §2). */
export interface OAuth1Endpoints {
  readonly requestToken: string;
  readonly authorize: string;
  readonly accessToken: string;
}

/** Temporary credentials (RFC 5849 §2.1), and the verifier if a user has approved them. */
export interface Ticket {
  readonly token: string;
  readonly tokenSecret: string;
  readonly verifier: string | undefined;
}

/** Performs the steps of RFC 5849 §2 as a consumer. */
export interface OAuth1Flow {
  readonly otherConsumer: OAuth1Consumer | undefined;
  /** Obtains temporary credentials that no user has approved. Throws Interruption if the server issued none. */
  unapproved(): Promise<Ticket>;
  /** Obtains approved temporary credentials. Throws Interruption if the server issued none. */
  ticket(): Promise<Ticket>;
  /** Requests token credentials, signed anew, by default as the consumer of the ticket. */
  exchange(ticket: Ticket, as?: OAuth1Consumer): Promise<RawResponse>;
  /** Requests token credentials several times at once. Each request has a signature of its own. */
  exchangeTogether(ticket: Ticket, count: number): Promise<readonly (RawResponse | undefined)[]>;
}

/** The options of `createOAuth1Flow`. */
export interface OAuth1FlowOptions {
  readonly endpoints: OAuth1Endpoints;
  readonly consumer: OAuth1Consumer;
  readonly otherConsumer: OAuth1Consumer | undefined;
  readonly callback: string;
  readonly approve: (authorizationUrl: string) => Promise<string | undefined>;
  readonly clock: Pick<Clock, 'now'> | undefined;
  readonly random: (size: number) => Uint8Array;
  readonly sender: Sender;
}

/** Creates a flow. */
export function createOAuth1Flow(options: OAuth1FlowOptions): OAuth1Flow {
  const {
    endpoints,
    consumer,
    otherConsumer,
    callback,
    approve,
    clock = systemClock,
    random,
    sender,
  } = options;
  const signed = (url: string, as: OAuth1Consumer, secret: string, own: readonly Parameter[]): UrlRequest => {
    const parameters: Parameter[] = [
      ['oauth_consumer_key', octetsOf(as.key)],
      ['oauth_signature_method', 'HMAC-SHA256'],
      ['oauth_timestamp', String(Math.floor(clock.now() / 1000))],
      ['oauth_nonce', Buffer.from(random(16)).toString('hex')],
      ['oauth_version', '1.0'],
      ...own,
    ];
    const { origin, pathname } = new URL(url);
    const base = baseStringOf({ method: 'POST', origin, path: pathname, parameters });
    const signature = signatureOf('HMAC-SHA256', base, keyTextOf(as.secret, secret));
    const fields = [...parameters, ['oauth_signature', signature] as const];
    const value = fields.map(([name, text]) => `${name}="${encodeOctets(text)}"`).join(', ');
    return { method: 'POST', url, headers: [['Authorization', `OAuth ${value}`]] };
  };
  const unapproved: OAuth1Flow['unapproved'] = async () => {
    const own: Parameter[] = [['oauth_callback', octetsOf(callback)]];
    const { status, text } = await sender.send(signed(endpoints.requestToken, consumer, '', own));
    const issued = new URLSearchParams(text);
    const [token, tokenSecret] = [issued.get('oauth_token'), issued.get('oauth_token_secret')];
    if (token !== null && tokenSecret !== null) return { token, tokenSecret, verifier: undefined };
    throw new Interruption('unexpected', `the response to the request for a request token was ${status}`);
  };
  const exchangeRequest = ({ token, tokenSecret, verifier }: Ticket, as = consumer): UrlRequest => {
    const own: Parameter[] = [['oauth_token', octetsOf(token)]];
    if (verifier !== undefined) own.push(['oauth_verifier', octetsOf(verifier)]);
    return signed(endpoints.accessToken, as, tokenSecret, own);
  };
  return {
    otherConsumer,
    unapproved,
    async ticket() {
      const ticket = await unapproved();
      const url = new URL(endpoints.authorize);
      url.searchParams.set('oauth_token', ticket.token);
      const verifier = verifierIn(await approve(url.href));
      if (verifier === undefined) throw new Interruption('unexpected', 'the server issued no verifier');
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
