import { createHmac } from 'node:crypto';
import { createSecretBox, type SecretBox } from '../../accounts/secret-box.ts';
import type { Accounts } from '../../auth/accounts.ts';
import type { Authenticator } from '../../auth/authenticate.ts';
import { findTrace } from '../../auth/trace.ts';
import type { Clock } from '../../clock.ts';
import { parseTargetQuery } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { noOrigins } from '../../pipeline/cors-policy.ts';
import { pathForClient } from '../../pipeline/proxy.ts';
import {
  type ActionResponse,
  action,
  type Call,
  type Resource,
  type Variant,
} from '../../pipeline/resource.ts';
import type { Consumer, Registry } from '../clients.ts';
import { showRefusal, tooManyParameters } from '../consent/consent-page.ts';
import { type Consents, requireApprovingUser } from '../consent/consents.ts';
import { html, pageVariants, showPage } from '../consent/html-page.ts';
import { type FormContent, formReading } from '../form-body.ts';
import { type Found, type Grants, isIssuedTo, isLive } from '../grants.ts';
import { readParameters } from '../parameters.ts';
import { grantsPath } from '../paths.ts';
import { type Reason, recordReason, tokenReason } from '../reasons.ts';
import { appendParameters } from '../redirect.ts';
import { hashSha256 } from '../sha256.ts';

/** Dependencies of the authorization endpoint. */
interface OAuth1AuthorizationContext {
  readonly approver: Authenticator;
  readonly consents: Consents;
  readonly grants: Grants;
  readonly consumers: Registry<Consumer>;
  readonly clock: Clock;
  readonly accounts: Accounts;
  /** Returns that many random bytes. */
  readonly random: (size: number) => Uint8Array;
  readonly masterKey: Uint8Array;
  /** What has the clock of which reasons speak. */
  readonly here: string;
}

/** Dependencies of GET and POST. */
interface EndpointContext extends OAuth1AuthorizationContext {
  readonly path: string;
  /** Encrypts the request token while the consent page is open, so that it is never stored in plain text. */
  readonly seal: SecretBox;
}

const outOfBand = 'oob';
const notOpenSentence = 'The request of the application is unknown, has expired or was already answered.';
const sealedAs = ['request token'];

/**
 * Creates the endpoint where a user allows or refuses a request token (RFC 5849 §2.2). It does not redirect before the user is
 * authenticated.
 */
export function oauth1AuthorizationResource(
  path: string,
  context: OAuth1AuthorizationContext,
): Resource<unknown, FormContent> {
  const key = createHmac('sha256', context.masterKey).update('sealed request tokens').digest();
  const endpoint = { ...context, path, seal: createSecretBox(key, context.random) };
  return {
    ownCredentials: true,
    cors: noOrigins,
    produces: pageVariants,
    GET: action('anyone', (call) => ask(endpoint, call)),
    POST: action('anyone', (call) => conclude(endpoint, call), { reads: [formReading] }),
  };
}

async function ask(
  endpoint: EndpointContext,
  { incoming: request, method, variant }: Call,
): Promise<ActionResponse> {
  const user = await requireApprovingUser(endpoint.approver, request);
  const query = parseTargetQuery(request.target);
  const token = query && readParameters(query, ['oauth_token']).values.get('oauth_token');
  if (token === undefined)
    return refusal(request, 'The parameter oauth_token is required, exactly once.', variant);
  const found = await openToken(endpoint, token);
  if (found === undefined) return notOpen(endpoint, request, token, variant);
  const { client, scopes } = found.token;
  const callback = readCallback(found);
  const details = { token: endpoint.seal.seal(token, sealedAs) };
  return endpoint.consents.ask(
    { mechanism: 'oauth1', client, user, scopes, details },
    {
      action: pathForClient(request, endpoint.path),
      grants: pathForClient(request, grantsPath),
      destination: callback === outOfBand ? undefined : callback,
      variant,
      method,
    },
  );
}

async function conclude(
  endpoint: EndpointContext,
  { incoming: request, body: content, variant }: Call<unknown, FormContent>,
): Promise<ActionResponse> {
  const user = await requireApprovingUser(endpoint.approver, request);
  if (content === 'too-many-parameters') return showRefusal(tooManyParameters, variant);
  const answer = await endpoint.consents.answer(content, 'oauth1', user);
  if (answer === undefined) {
    const reason = await endpoint.consents.findReason(content, 'oauth1', user);
    return refusal(request, 'The form has expired, was already submitted, or is not yours.', variant, reason);
  }
  const token = endpoint.seal.open(answer.details['token'] ?? '', sealedAs);
  const found = token === undefined ? undefined : await openToken(endpoint, token);
  if (token === undefined || found === undefined) return notOpen(endpoint, request, token ?? '', variant);
  return answer.allowed
    ? allow(endpoint, found, token, user, variant)
    : refuse(endpoint, found, token, variant);
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
function refusal(
  request: IncomingRequest,
  sentence: string,
  variant: Variant | undefined,
  reason?: Reason,
): ActionResponse {
  const details = { detail: sentence, error: 'invalid_request' };
  recordReason(findTrace(request), 'oauth', reason ?? { check: 'parameters', hint: sentence }, details);
  return showRefusal(sentence, variant);
}

async function notOpen(
  { grants, clock, consumers, accounts, here }: EndpointContext,
  request: IncomingRequest,
  value: string,
  variant: Variant | undefined,
): Promise<ActionResponse> {
  if (findTrace(request) === undefined) return showRefusal(notOpenSentence, variant);
  const found = await grants.find(value, 'oauth1', 'request');
  const unknown = { check: 'token', hint: 'the request token is unknown, or was deleted after it expired' };
  if (found === undefined) return refusal(request, notOpenSentence, variant, unknown);
  const owner = consumers.find(found.token.client);
  const reason = await tokenReason(found, { accounts, now: clock.now(), here, owner });
  const answered = {
    check: 'reuse',
    hint: 'the request token was approved or its callback is not registered any more',
  };
  return refusal(request, notOpenSentence, variant, reason ?? answered);
}

function alreadyAnswered(variant: Variant | undefined): ActionResponse {
  return showRefusal(notOpenSentence, variant);
}

async function allow(
  { grants, random }: EndpointContext,
  found: Found,
  token: string,
  user: string,
  variant: Variant | undefined,
): Promise<ActionResponse> {
  const callback = readCallback(found);
  const verifier =
    callback === outOfBand ? formatReadableCode(random(12)) : Buffer.from(random(32)).toString('base64url');
  const amended = await grants.update(found, { user, details: { verifier: hashSha256(verifier) } });
  if (amended === undefined) return alreadyAnswered(variant);
  if (callback !== outOfBand) return redirect(callback, { oauth_token: token, oauth_verifier: verifier });
  return showPage(
    {
      status: 200,
      title: 'You have allowed the request',
      body: `<p>Enter this code in <strong><bdi>${html(found.token.client)}</bdi></strong>:</p>
<p><code id="oauth_verifier">${html(verifier)}</code></p>`,
      json: { oauth_token: token, oauth_verifier: verifier },
    },
    variant,
  );
}

async function refuse(
  { grants }: EndpointContext,
  found: Found,
  token: string,
  variant: Variant | undefined,
): Promise<ActionResponse> {
  if (!(await grants.consume(found))) return alreadyAnswered(variant);
  const callback = readCallback(found);
  if (callback !== outOfBand)
    return redirect(callback, { oauth_token: token, oauth_problem: 'user_refused' });
  return showPage(
    {
      status: 200,
      title: 'You have refused the request',
      body: `<p><strong><bdi>${html(found.token.client)}</bdi></strong> has no access in your name.</p>`,
      json: { oauth_token: token, oauth_problem: 'user_refused' },
    },
    variant,
  );
}

/** Characters of a verifier that the user types (RFC 5849 §2.2), without letters and digits that look alike. */
const readableCharacters = 'abcdefghjkmnpqrstuvwxyz023456789';

/** Returns one character for five bits of each byte. */
function formatReadableCode(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => readableCharacters.charAt(byte % readableCharacters.length)).join('');
}

/** Redirects the browser to the callback of the consumer (RFC 5849 §2.2). */
function redirect(callback: string, parameters: Readonly<Record<string, string>>): ActionResponse {
  const added = Object.entries(parameters).map(([name, value]) => `${name}=${encodeOctets(toOctets(value))}`);
  const location = appendParameters(callback, added.join('&'));
  return { status: 303, noStore: true, headers: [['Location', location]] };
}
