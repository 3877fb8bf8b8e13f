import type { Authenticator } from '../../auth/authenticate.ts';
import type { FieldLine } from '../../http/fields.ts';
import { type Form, maxFormParameters, parseQueryOf } from '../../http/form.ts';
import type { Origins } from '../../pipeline/origin.ts';
import { action, type Call, type Outcome, type Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { Client, Registry } from '../clients.ts';
import { showRefusal, tooManyParameters } from '../consent/consent-page.ts';
import { approvingUser, type ConsentAnswer, type Consents } from '../consent/consents.ts';
import { pageVariants } from '../consent/html-page.ts';
import { type FormContent, formReading } from '../form-body.ts';
import { firstOf } from '../grants.ts';
import type { Lifetimes } from '../lifetimes.ts';
import { readParameters } from '../parameters.ts';
import type { Grant } from '../records.ts';
import { withParameters } from '../redirect.ts';
import { defaultScopes, isWithin, parseScope } from '../scopes.ts';
import type { TokenHolderContext } from '../token-holder.ts';
import { isChallenge } from './pkce.ts';

/** What the authorization endpoint is made of. */
export interface AuthorizationParts extends TokenHolderContext {
  readonly approver: Authenticator;
  readonly consents: Consents;
  readonly lifetimes: Lifetimes;
  readonly origins: Origins;
}

/**
 * The authorization endpoint (RFC 6749 §3.1). The user is authenticated before anything else is looked at, and client and
 * redirect URI are verified before anything is redirected, so that this is no open redirector (RFC 9700 §4.11.2).
 */
export function authorizationResource(
  path: string,
  parts: AuthorizationParts,
): Resource<unknown, FormContent> {
  return {
    ownCredentials: true,
    produces: pageVariants,
    GET: action('anyone', (call) => ask(path, parts, call)),
    POST: action('anyone', (call) => conclude(parts, call), { reads: [formReading] }),
  };
}

async function ask(
  path: string,
  parts: AuthorizationParts,
  { request, method, variant }: Call,
): Promise<Outcome> {
  const user = await approvingUser(parts.approver, request);
  const asked = readRequest(parseQueryOf(request.target), parts.clients);
  if (typeof asked === 'string') return showRefusal(asked, variant);
  const { client, redirectUri, state } = asked;
  const wanted = readWanted(asked);
  if ('error' in wanted)
    return redirect(redirectUri, { ...wanted, state, iss: parts.origins.forLinks(request) });
  const { scopes, challenge } = wanted;
  const details = {
    redirect_uri: redirectUri,
    code_challenge: challenge,
    ...(state === undefined ? {} : { state }),
  };
  return parts.consents.ask(
    { mechanism: 'oauth2', client: client.id, user, scopes, details },
    { action: path, destination: placeOf(redirectUri), variant, method },
  );
}

async function conclude(parts: AuthorizationParts, call: Call<unknown, FormContent>): Promise<Outcome> {
  const { request, content, variant } = call;
  const user = await approvingUser(parts.approver, request);
  if (content === 'too-many-parameters') return showRefusal(tooManyParameters, variant);
  const answer = await parts.consents.answer(content, 'oauth2', user);
  if (answer === undefined) return showRefusal('This answers no question that is open for you.', variant);
  const { redirect_uri: redirectUri = '', state } = answer.details;
  const client = parts.clients.find(answer.client);
  // The registration may have changed since the question was put.
  if (client === undefined || !client.redirectUris.includes(redirectUri))
    return showRefusal('The application is not known here any more.', variant);
  const iss = parts.origins.forLinks(request);
  if (!answer.allowed) return redirect(redirectUri, { error: 'access_denied', state, iss });
  return redirect(redirectUri, { code: await issueCode(parts, client, answer), state, iss });
}

async function issueCode(parts: AuthorizationParts, client: Client, answer: ConsentAnswer): Promise<string> {
  const { user, scopes, details } = answer;
  const { lifetimes, clock, grants } = parts;
  const now = clock.now();
  const lasts = client.grants.includes('refresh_token')
    ? lifetimes.refreshTotal
    : lifetimes.code + lifetimes.access;
  const { redirect_uri = '', code_challenge = '' } = details;
  const grant: Pick<Grant, 'mechanism' | 'client' | 'user' | 'scopes'> = {
    mechanism: 'oauth2',
    client: client.id,
    user,
    scopes,
  };
  const { issued } = await grants.begin({ ...grant, ends: now + lasts }, [
    { ...grant, kind: 'code', expires: now + lifetimes.code, details: { redirect_uri, code_challenge } },
  ]);
  return firstOf(issued).value;
}

/** What of a redirect URI is shown to the user: its origin, or all of it where it has none (a private-use scheme). */
function placeOf(uri: string): string {
  const { origin } = new URL(uri);
  return origin === 'null' ? uri : origin;
}

/** An authorization request whose client is known and whose redirect URI is registered: errors may be redirected there. */
interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}

const names = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
];

/** Reads client and redirect URI. Gives a sentence for the user where either is missing or not registered (RFC 6749 §4.1.2.1). */
function readRequest(query: Form | undefined, clients: Registry<Client>): AuthorizationRequest | string {
  if (query === undefined)
    return `The query does not decode as a form in UTF-8 of at most ${maxFormParameters} parameters.`;
  const { values, repeated } = readParameters(query, names);
  const id = values.get('client_id');
  const redirectUri = values.get('redirect_uri');
  if (id === undefined || redirectUri === undefined)
    return 'client_id and redirect_uri are needed, once each.';
  const client = clients.find(id);
  // Character by character (RFC 9700 §2.1).
  if (client?.redirectUris.includes(redirectUri) !== true)
    return 'No application is registered with this client_id and this redirect_uri.';
  return { client, redirectUri, state: values.get('state'), values, repeated };
}

/** What is asked for, or the error that is redirected (RFC 6749 §4.1.2.1). */
type Wanted =
  | { readonly scopes: readonly Scope[]; readonly challenge: string }
  | { readonly error: string; readonly error_description: string };

function readWanted({ client, values, repeated }: AuthorizationRequest): Wanted {
  const wrong = (error: string, error_description: string): Wanted => ({ error, error_description });
  if (repeated[0] !== undefined) return wrong('invalid_request', `${repeated[0]} was sent more than once.`);
  const type = values.get('response_type');
  if (type === undefined) return wrong('invalid_request', 'response_type is missing.');
  if (type !== 'code') return wrong('unsupported_response_type', 'The only response_type is code.');
  if (!client.grants.includes('authorization_code'))
    return wrong('unauthorized_client', 'The client is not registered for authorization_code.');
  const challenge = values.get('code_challenge');
  // RFC 7636 §4.4.1; without a method it would be plain (§4.3).
  if (challenge === undefined || values.get('code_challenge_method') !== 'S256')
    return wrong('invalid_request', 'code_challenge is needed, with the code_challenge_method S256.');
  if (!isChallenge(challenge))
    return wrong('invalid_request', 'code_challenge is not 43 characters of base64url.');
  const scope = values.get('scope');
  const scopes = scope === undefined ? defaultScopes : parseScope(scope);
  if (scopes === undefined || !isWithin(scopes, client.scopes))
    return wrong(
      'invalid_scope',
      'The scope is not known, or goes beyond what the client is registered for.',
    );
  return { scopes, challenge };
}

/** Sends the browser back to the client, with these parameters added to its redirect URI (RFC 6749 §4.1.2). */
function redirect(uri: string, parameters: Readonly<Record<string, string | undefined>>): Outcome {
  const pairs = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const location: FieldLine = ['Location', withParameters(uri, String(new URLSearchParams(pairs)))];
  // The address of this page contains the client's state (RFC 9700 §4.2.4).
  return { status: 303, noStore: true, fields: [location, ['Referrer-Policy', 'no-referrer']] };
}
