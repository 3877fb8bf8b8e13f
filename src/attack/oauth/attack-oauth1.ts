import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { raceSize } from '../cases/races.ts';
import type { AttackReport } from '../report.ts';
import { checkOAuthOptions } from './check-options.ts';
import {
  createOAuth1Flow,
  type OAuth1Client,
  type OAuth1Endpoints,
  type OAuth1Flow,
  type Ticket,
} from './oauth1-flow.ts';
import { Interruption, mustBeAccepted, type OAuthCase, runCases } from './report.ts';
import { type ConnectionOptions, createSender } from './sender.ts';

/** The options of `attackOAuth1`. */
export interface AttackOAuth1Options extends ConnectionOptions {
  /** The URLs of the endpoints. */
  readonly endpoints: OAuth1Endpoints;
  /** A registered client (consumer), which signs with HMAC-SHA256. */
  readonly client: OAuth1Client;
  /** Another registered client. Default: none, so the attempt as another client is skipped. */
  readonly otherClient?: OAuth1Client | undefined;
  /** A callback that is registered for the client, or `oob`. */
  readonly callback: string;
  /**
   * Consents as a user at a URL. Resolves to the URL to which the server redirects the browser, with the parameter
   * `oauth_verifier`, or to undefined if the server does not redirect. If it rejects, the attempt is `inconclusive`.
   */
  readonly approve: (authorizationUrl: string) => Promise<string | undefined>;
  /** The server's clock. Default: the host's clock. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<Exclude<keyof AttackOAuth1Options, keyof ConnectionOptions>, true>> = {
  endpoints: true,
  client: true,
  otherClient: true,
  callback: true,
  approve: true,
  clock: true,
  random: true,
};

/**
 * Sends requests to the endpoints of OAuth 1.0a that they must refuse: request tokens that were exchanged before, or at the
 * same time, or without the user's verifier. For resources, use `attack` with credentials of the scheme `oauth1`.
 * @returns the report, in which `passed` is true if the server refused all of them
 * @throws TypeError (as a rejection) if an endpoint is not a URL
 * @example
 * const approve = (url) => double.oauth1.approve(url, { user: 'johndoe' });
 * const report = await attackOAuth1({ endpoints, client, callback, approve, ca: double.ca });
 * assert.ok(report.passed, String(report));
 */
export async function attackOAuth1(options: AttackOAuth1Options): Promise<AttackReport> {
  checkOAuthOptions(options, 'attackOAuth1', optionNames, {
    endpoints: ['requestToken', 'authorize', 'accessToken'],
    client: [],
  });
  const { random = randomBytes } = options;
  const flow = createOAuth1Flow({ ...options, random, sender: createSender(options) });
  return runCases({ 'request-token': requestTokenCases(flow) }, options.waive);
}

function requestTokenCases(flow: OAuth1Flow): readonly OAuthCase[] {
  const once = 'Temporary credentials are valid once (RFC 5849 §2.3).';
  const verified =
    'Only the user who approved the request token passes the verifier on (RFC 5849 §2.2, §2.3).';
  const exchange = (ticketOf: () => Promise<Ticket>) => async () => flow.exchange(await ticketOf());
  return [
    [
      'a request token is exchanged for an access token',
      'Unless this is accepted, the refusal of other requests proves nothing.',
      async () => mustBeAccepted(await flow.exchange(await flow.ticket())),
    ],
    [
      'the request token is exchanged twice',
      once,
      async () => {
        const ticket = await flow.ticket();
        const { status } = await flow.exchange(ticket);
        if (status !== 200)
          throw new Interruption('inconclusive', `the response to a preceding good request was ${status}`);
        return flow.exchange(ticket);
      },
    ],
    [
      `the request token is exchanged ${raceSize} times at once`,
      once,
      async () => flow.exchangeTogether(await flow.ticket(), raceSize),
    ],
    ['the request token was not approved', verified, exchange(flow.unapproved)],
    [
      'the request token was not approved, and there is a verifier',
      verified,
      exchange(async () => ({ ...(await flow.unapproved()), verifier: 'a-verifier' })),
    ],
    [
      'the verifier is missing',
      verified,
      exchange(async () => ({ ...(await flow.ticket()), verifier: undefined })),
    ],
    [
      'the verifier is that of another request token',
      verified,
      exchange(async () => {
        const { verifier } = await flow.ticket();
        return { ...(await flow.ticket()), verifier };
      }),
    ],
    [
      'the request token is exchanged by another consumer',
      'A request token is valid only for the consumer that it was issued to (RFC 5849 §2.3).',
      async () => {
        const { otherClient } = flow;
        if (otherClient === undefined) throw new Interruption('skipped', 'the option otherClient is missing');
        return flow.exchange(await flow.ticket(), otherClient);
      },
    ],
  ];
}
