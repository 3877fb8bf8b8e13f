import { randomBytes } from 'node:crypto';
import type { AttackReport } from '../report.ts';
import { checkOAuthOptions } from './check-options.ts';
import { type AuthorizationServerMetadata, createFlow, type OAuthClient } from './flow.ts';
import { oauth2Cases } from './oauth2-cases.ts';
import { runCases } from './report.ts';
import { type ConnectionOptions, createSender } from './sender.ts';

/** The options of `attackOAuth2`. */
export interface AttackOAuth2Options extends ConnectionOptions {
  /** The server's metadata (RFC 8414), as at `/.well-known/oauth-authorization-server`. */
  readonly metadata: AuthorizationServerMetadata;
  /** A registered client with the grant types `authorization_code` and, to try refresh tokens, `refresh_token`. */
  readonly client: OAuthClient;
  /** Another registered client. Default: none, so attempts as another client are skipped. */
  readonly otherClient?: OAuthClient | undefined;
  /**
   * Consents as a user at the URL of an authorization request. Resolves to the URL to which the server finally redirects the
   * browser, or to undefined if the server shows an error instead. If it rejects, the attempt is `inconclusive`.
   */
  readonly approve: (authorizationUrl: string) => Promise<string | undefined>;
  /** Further parameters of authorization requests, such as `prompt`. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** A resource that access tokens permit to GET. Default: none, so attempts with access tokens are skipped. */
  readonly resource?: string | URL | undefined;
  /** Makes issued codes expire, for example by the server's clock. Default: none, so attempts with expired codes are skipped. */
  readonly expireCodes?: (() => unknown) | undefined;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<Exclude<keyof AttackOAuth2Options, keyof ConnectionOptions>, true>> = {
  metadata: true,
  client: true,
  otherClient: true,
  approve: true,
  parameters: true,
  resource: true,
  expireCodes: true,
  random: true,
};

/**
 * Sends requests to an authorization server of OAuth 2.0 or 2.1 that it must refuse: codes and refresh tokens that were used,
 * by another client, with wrong proof keys or other redirect URIs. Each attempt obtains a code or tokens of its own.
 * @returns the report, in which `passed` is true if the server refused all of them
 * @throws TypeError (as a rejection) if an endpoint is not a URL
 * @example
 * const approve = (url) => double.oauth2.approve(url, { user: 'johndoe' }).catch(() => undefined);
 * const report = await attackOAuth2({ metadata, client, approve, ca: double.ca });
 * assert.ok(report.passed, String(report));
 */
export async function attackOAuth2(options: AttackOAuth2Options): Promise<AttackReport> {
  checkOAuthOptions(options, 'attackOAuth2', optionNames, {
    metadata: ['authorization_endpoint', 'token_endpoint'],
    client: [],
  });
  const { metadata, client, otherClient, approve, parameters = {}, resource, expireCodes } = options;
  const { random = randomBytes } = options;
  const sender = createSender(options);
  const flow = createFlow({ metadata, client, otherClient, approve, parameters, resource, random, sender });
  return runCases(oauth2Cases(flow, expireCodes), options.waive);
}
