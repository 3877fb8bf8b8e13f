import { createHmac } from 'node:crypto';
import { createSecretBox, type SecretBox } from '../../accounts/secret-box.ts';
import { parseTargetQuery } from '../../http/form.ts';
import type { ActionResponse, Call, Resource, Variant } from '../../pipeline/resource.ts';
import { findTrace } from '../../schemes/trace.ts';
import { showRefusal } from '../consent/consent-page.ts';
import {
  askConsent,
  authorizationEndpoint,
  type ConsentAnswer,
  requireApprovingUser,
} from '../consent/consents.ts';
import { html, showPage } from '../consent/html-page.ts';
import type { OAuthContext } from '../context.ts';
import type { FormContent } from '../form-body.ts';
import { type Found, isIssuedTo, isLive } from '../grants.ts';
import { readParameters } from '../parameters.ts';
import { oauth1Paths } from '../paths.ts';
import { type Reason, recordReason, tokenReason } from '../reasons.ts';
import { redirect } from '../redirect.ts';
import { hashSha256 } from '../sha256.ts';

/** Dependencies of GET and POST. */
interface EndpointContext extends OAuthContext {
  /** Encrypts the request token while the consent page is open, so that it is never stored in plain text. */
  readonly seal: SecretBox;
}

const outOfBand = 'oob';
const notOpenSentence = 'The request of the application is unknown, has expired or was already answered.';
const sealedAs = ['request token'];

/** Creates the endpoint where a user allows or refuses a request token (RFC 5849 §2.2). */
export function oauth1AuthorizationResource(context: OAuthContext): Resource<unknown, FormContent> {
  const key = createHmac('sha256', context.masterKey).update('sealed request tokens').digest();
  const endpoint = { ...context, seal: createSecretBox(key, context.random) };
  return authorizationEndpoint({
    ...endpoint,
    mechanism: 'oauth1',
    ask: (call) => ask(endpoint, call),
    conclude: (answer, call) => conclude(endpoint, answer, call),
    refuse,
  });
}

async function ask(endpoint: EndpointContext, call: Call): Promise<ActionResponse> {
  const { incoming: request } = call;
  const user = await requireApprovingUser(endpoint.approver, request);
  const query = parseTargetQuery(request.target);
  const token = query && readParameters(query, ['oauth_token']).values.get('oauth_token');
  if (token === undefined) return refuse(call, 'The parameter oauth_token is required, exactly once.');
  const found = await openToken(endpoint, token);
  if (found === undefined) return notOpen(endpoint, call, token);
  const { client, scopes } = found.token;
  const callback = readCallback(found);
  const details = { token: endpoint.seal.seal(token, sealedAs) };
  const question = { mechanism: 'oauth1', client, user, scopes, details } as const;
  const destination = callback === outOfBand ? undefined : callback;
  return askConsent(endpoint, question, call, oauth1Paths.authorize, destination);
}

async function conclude(
  endpoint: EndpointContext,
  { details, user, allowed }: ConsentAnswer,
  call: Call,
): Promise<ActionResponse> {
  const token = endpoint.seal.open(details['token'] ?? '', sealedAs);
  const found = token === undefined ? undefined : await openToken(endpoint, token);
  if (token === undefined || found === undefined) return notOpen(endpoint, call, token ?? '');
  return allowed
    ? allow(endpoint, found, token, user, call.variant)
    : deny(endpoint, found, token, call.variant);
}

/** Finds a request token without a decision of a user, whose consumer and callback are still registered. */
async function openToken(
  { grants, clock, consumers }: EndpointContext,
  token: string,
): Promise<Found | undefined> {
  const found = await grants.find(token, 'oauth1', 'request');
  if (found === undefined || !isLive(found, clock.now()) || found.token.user !== undefined) return undefined;
  const consumer = consumers.find(found.token.client);
  if (consumer === undefined || !isIssuedTo(found, consumer)) return undefined;
  return consumer.callbacks.includes(readCallback(found)) ? found : undefined;
}

function readCallback({ token }: Found): string {
  return token.details['callback'] ?? outOfBand;
}

/** Returns an error page, and records the error with its reason in the trace. */
function refuse({ incoming, variant }: Call, sentence: string, reason?: Reason): ActionResponse {
  const shown = reason ?? { check: 'parameters', hint: sentence };
  recordReason(findTrace(incoming), 'oauth', shown, { detail: sentence, error: 'invalid_request' });
  return showRefusal(sentence, variant);
}

async function notOpen(context: EndpointContext, call: Call, value: string): Promise<ActionResponse> {
  if (findTrace(call.incoming) === undefined) return showRefusal(notOpenSentence, call.variant);
  const found = await context.grants.find(value, 'oauth1', 'request');
  const unknown = { check: 'token', hint: 'the request token is unknown, or was deleted after it expired' };
  if (found === undefined) return refuse(call, notOpenSentence, unknown);
  const reason = await tokenReason(found, context.consumers.find(found.token.client), context);
  const answered = {
    check: 'reuse',
    hint: 'the request token was approved or its callback is not registered any more',
  };
  return refuse(call, notOpenSentence, reason ?? answered);
}

async function allow(
  { grants, random }: EndpointContext,
  found: Found,
  token: string,
  user: string,
  variant: Variant | undefined,
): Promise<ActionResponse> {
  const isTyped = readCallback(found) === outOfBand;
  const verifier = isTyped ? formatReadableCode(random(12)) : Buffer.from(random(32)).toString('base64url');
  const amended = await grants.update(found, { user, details: { verifier: hashSha256(verifier) } });
  if (amended === undefined) return showRefusal(notOpenSentence, variant);
  const body = `<p>Enter this code in <strong><bdi>${html(found.token.client)}</bdi></strong>:</p>
<p><code id="oauth_verifier">${html(verifier)}</code></p>`;
  const json = { oauth_token: token, oauth_verifier: verifier };
  return leave(found, { title: 'You have allowed the request', body, json }, variant);
}

async function deny(
  { grants }: EndpointContext,
  found: Found,
  token: string,
  variant: Variant | undefined,
): Promise<ActionResponse> {
  if (!(await grants.consume(found))) return showRefusal(notOpenSentence, variant);
  const body = `<p><strong><bdi>${html(found.token.client)}</bdi></strong> has no access in your name.</p>`;
  const json = { oauth_token: token, oauth_problem: 'user_refused' };
  return leave(found, { title: 'You have refused the request', body, json }, variant);
}

/** Redirects the browser to the callback of the consumer (RFC 5849 §2.2), or shows the page if there is none. */
function leave(
  found: Found,
  page: { readonly title: string; readonly body: string; readonly json: Readonly<Record<string, string>> },
  variant: Variant | undefined,
): ActionResponse {
  const callback = readCallback(found);
  return callback === outOfBand ? showPage({ status: 200, ...page }, variant) : redirect(callback, page.json);
}

/** Characters of a verifier that the user types (RFC 5849 §2.2), without letters and digits that look alike. */
const readableCharacters = 'abcdefghjkmnpqrstuvwxyz023456789';

/** Returns one character for five bits of each byte. */
function formatReadableCode(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => readableCharacters.charAt(byte % readableCharacters.length)).join('');
}
