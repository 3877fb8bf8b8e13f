import { createHash } from 'node:crypto';
import type { RawResponse } from '../../net/raw-client.ts';
import { basicHeader } from '../../schemes/sent-credentials.ts';
import { Interruption } from './report.ts';
import type { Sender, UrlRequest } from './sender.ts';

/** A client that is registered at the authorization server. */
export type OAuthClient = {
  /** The id of the client. */
  readonly id: string;
  /** Default: none, for a public client. */
  readonly secret?: string;
  /** How the client sends its secret. Default: `client_secret_basic`. */
  readonly authentication?: 'client_secret_basic' | 'client_secret_post';
  /** A registered redirect URI. */
  readonly redirectUri: string;
  /** The scope to request. Default: none. */
  readonly scope?: string;
};

/** The members of the server's metadata (RFC 8414) that the adversary uses. */
export type AuthorizationServerMetadata = {
  /** The absolute URL of the consent page. */
  readonly authorization_endpoint: string;
  /** The absolute URL of the token endpoint. */
  readonly token_endpoint: string;
};

/** Parameters to set, or to leave out if undefined. */
export type Changes = Readonly<Record<string, string | undefined>>;

/** A code, and the parameters that its exchange requires. */
export interface IssuedCode {
  readonly code: string;
  readonly verifier: string;
  readonly challenge: string;
}

/** The tokens of a successful response. */
interface IssuedTokens {
  readonly accessToken: string;
  /** Undefined if the server issued none. */
  readonly refreshToken: string | undefined;
}

/** Performs the steps of the authorization code grant (RFC 6749 §4.1) as a client. */
export interface OAuthFlow {
  readonly client: OAuthClient;
  /** Another registered client. */
  readonly otherClient: OAuthClient | undefined;
  /** Requests authorization. Returns the URL to which the server redirected; undefined if it did not redirect. */
  authorize(changes?: Changes): Promise<string | undefined>;
  /** Obtains a code. Undefined if the server refused the request. */
  codeUnlessRefused(
    changes?: (challenge: string, verifier: string) => Changes,
  ): Promise<IssuedCode | undefined>;
  /** Obtains a code. Throws Interruption if the server issued none. */
  code(): Promise<IssuedCode>;
  /** Exchanges a code, by default as its client. */
  exchange(code: IssuedCode, changes?: Changes, as?: OAuthClient): Promise<RawResponse>;
  exchangeTogether(code: IssuedCode, count: number): Promise<readonly (RawResponse | undefined)[]>;
  /** Obtains tokens. Throws Interruption if the server issued none. */
  tokens(code?: IssuedCode): Promise<IssuedTokens>;
  refresh(refreshToken: string, as?: OAuthClient): Promise<RawResponse>;
  refreshTogether(refreshToken: string, count: number): Promise<readonly (RawResponse | undefined)[]>;
  /** Requests the resource with an access token. Throws Interruption if there is no resource. */
  access(accessToken: string): Promise<RawResponse>;
}

/** The options of `createFlow`. */
interface FlowOptions {
  readonly metadata: AuthorizationServerMetadata;
  readonly client: OAuthClient;
  readonly otherClient: OAuthClient | undefined;
  readonly approve: (authorizationUrl: string) => Promise<string | undefined>;
  readonly parameters: Readonly<Record<string, string>>;
  readonly resource: string | URL | undefined;
  readonly random: (size: number) => Uint8Array;
  readonly sender: Sender;
}

/** Creates a flow. */
export function createFlow(options: FlowOptions): OAuthFlow {
  const { metadata, client, otherClient, approve, parameters, resource, random, sender } = options;
  const generateText = (): string => Buffer.from(random(32)).toString('base64url');
  const { redirectUri, scope } = client;

  const authorize: OAuthFlow['authorize'] = (changes = {}) => {
    const url = new URL(metadata.authorization_endpoint);
    const required = { response_type: 'code', client_id: client.id, redirect_uri: redirectUri, scope };
    const sent = { ...required, state: generateText(), ...parameters, ...changes };
    for (const [name, value] of selectDefined(sent)) url.searchParams.set(name, value);
    return approve(url.href);
  };
  const codeUnlessRefused: OAuthFlow['codeUnlessRefused'] = async (changes = () => ({})) => {
    const verifier = generateText();
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    const code = codeIn(await authorize({ ...pkce, ...changes(challenge, verifier) }));
    return code === undefined ? undefined : { code, verifier, challenge };
  };
  const code: OAuthFlow['code'] = async () => {
    const issued = await codeUnlessRefused();
    if (issued === undefined) throw new Interruption('inconclusive', 'the server issued no code');
    return issued;
  };
  const tokenRequest = (form: Changes, as: OAuthClient): UrlRequest =>
    authenticateRequest(
      { method: 'POST', url: metadata.token_endpoint, form: new URLSearchParams(selectDefined(form)) },
      as,
    );
  const exchangeRequest = (issued: IssuedCode, changes: Changes = {}, as = client): UrlRequest => {
    const grant = { grant_type: 'authorization_code', code: issued.code, redirect_uri: redirectUri };
    return tokenRequest({ ...grant, code_verifier: issued.verifier, ...changes }, as);
  };
  const refreshRequest = (refreshToken: string, as = client): UrlRequest =>
    tokenRequest({ grant_type: 'refresh_token', refresh_token: refreshToken }, as);
  const repeatRequest = (request: UrlRequest, count: number): UrlRequest[] =>
    Array.from({ length: count }, () => request);
  const exchange: OAuthFlow['exchange'] = (...issued) => sender.send(exchangeRequest(...issued));

  return {
    client,
    otherClient,
    authorize,
    codeUnlessRefused,
    code,
    exchange,
    exchangeTogether: (issued, count) => sender.sendTogether(repeatRequest(exchangeRequest(issued), count)),
    tokens: async (issued) => tokensIn(await exchange(issued ?? (await code()))),
    refresh: (...token) => sender.send(refreshRequest(...token)),
    refreshTogether: (token, count) => sender.sendTogether(repeatRequest(refreshRequest(token), count)),
    async access(accessToken) {
      if (resource === undefined) throw new Interruption('skipped', 'the option resource is missing');
      const headers = [['Authorization', `Bearer ${accessToken}`]] as const;
      return sender.send({ method: 'GET', url: resource, headers });
    },
  };
}

function selectDefined(parameters: Changes): [string, string][] {
  return Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
}

/** Adds the client's credentials to a token request (RFC 6749 §2.3.1). */
function authenticateRequest(request: UrlRequest, { id, secret, authentication }: OAuthClient): UrlRequest {
  const form = new URLSearchParams(request.form);
  if (secret !== undefined && authentication !== 'client_secret_post') {
    const basic = basicHeader(formEncoded(id), formEncoded(secret));
    return { ...request, headers: [['Authorization', basic]] };
  }
  form.set('client_id', id);
  if (secret !== undefined) form.set('client_secret', secret);
  return { ...request, form };
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** Returns the code in a redirect. Undefined if there is no redirect, or one with an error. Throws Interruption otherwise. */
function codeIn(location: string | undefined): string | undefined {
  if (location === undefined) return undefined;
  const parameters = parseRedirect(location);
  const code = parameters.get('code');
  if (code !== null) return code;
  if (parameters.has('error')) return undefined;
  throw new Interruption('inconclusive', 'the server redirected with neither a code nor an error');
}

/** Returns the parameters of a redirect. Throws Interruption if it is not an absolute URL. */
export function parseRedirect(location: string): URLSearchParams {
  if (!URL.canParse(location)) throw new Interruption('inconclusive', 'the redirect is not an absolute URL');
  const { search, hash } = new URL(location);
  return new URLSearchParams([search.slice(1), hash.slice(1)].filter((part) => part !== '').join('&'));
}

/** Returns the tokens in a response. Throws Interruption if there are none. */
export function tokensIn({ status, text }: RawResponse): IssuedTokens {
  const content = status === 200 ? objectIn(text) : {};
  const { access_token: accessToken, refresh_token: refreshToken } = content;
  if (typeof accessToken !== 'string')
    throw new Interruption('inconclusive', `the response to a preceding good request was ${status}`);
  return { accessToken, refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null ? { ...content } : {};
  } catch {
    return {};
  }
}
