import { createHmac } from 'node:crypto';
import { createSecretBox, type SecretBox } from '../../accounts/secret-box.ts';
import type { Authenticator } from '../../auth/authenticate.ts';
import type { Clock } from '../../clock.ts';
import { parseQueryOf } from '../../http/form.ts';
import { action, type Call, type Outcome, type Resource, type Variant } from '../../pipeline/resource.ts';
import { encodeOctets, octetsOf } from '../../signature/oauth1-parameters.ts';
import type { Consumer, Registry } from '../clients.ts';
import { showRefusal, tooManyParameters } from '../consent/consent-page.ts';
import { approvingUser, type Consents } from '../consent/consents.ts';
import { html, pageVariants, showPage } from '../consent/html-page.ts';
import { type FormContent, formReading } from '../form-body.ts';
import { type Found, type Grants, isLive, isOf } from '../grants.ts';
import { readParameters } from '../parameters.ts';
import { withParameters } from '../redirect.ts';
import { sha256 } from '../sha256.ts';

/** What the endpoint is made of. */
export interface OAuth1AuthorizationParts {
  readonly approver: Authenticator;
  readonly consents: Consents;
  readonly grants: Grants;
  readonly consumers: Registry<Consumer>;
  readonly clock: Clock;
  /** Gives that many random bytes. */
  readonly random: (size: number) => Uint8Array;
  readonly masterKey: Uint8Array;
}

/** What GET and POST of the endpoint have in common. */
interface EndpointParts extends OAuth1AuthorizationParts {
  readonly path: string;
  /** Encrypts the request token while the user is being asked, so that the token is never kept in the clear. */
  readonly seal: SecretBox;
}

const outOfBand = 'oob';
const sealedAs = ['request token'];

/** Where a user allows a request token something, or refuses it (RFC 5849 §2.2). Nothing is redirected before the user is known. */
export function oauth1AuthorizationResource(
  path: string,
  parts: OAuth1AuthorizationParts,
): Resource<unknown, FormContent> {
  const key = createHmac('sha256', parts.masterKey).update('sealed request tokens').digest();
  const endpoint = { ...parts, path, seal: createSecretBox(key, parts.random) };
  return {
    ownCredentials: true,
    produces: pageVariants,
    GET: action('anyone', (call) => ask(endpoint, call)),
    POST: action('anyone', (call) => conclude(endpoint, call), { reads: [formReading] }),
  };
}

async function ask(endpoint: EndpointParts, { request, method, variant }: Call): Promise<Outcome> {
  const user = await approvingUser(endpoint.approver, request);
  const query = parseQueryOf(request.target);
  const token = query && readParameters(query, ['oauth_token']).values.get('oauth_token');
  if (token === undefined) return showRefusal('oauth_token is needed, once.', variant);
  const found = await openToken(endpoint, token);
  if (found === undefined) return notOpen(variant);
  const { client, scopes } = found.token;
  const callback = callbackOf(found);
  const details = { token: endpoint.seal.seal(token, sealedAs) };
  return endpoint.consents.ask(
    { mechanism: 'oauth1', client, user, scopes, details },
    { action: endpoint.path, destination: callback === outOfBand ? undefined : callback, variant, method },
  );
}

async function conclude(
  endpoint: EndpointParts,
  { request, content, variant }: Call<unknown, FormContent>,
): Promise<Outcome> {
  const user = await approvingUser(endpoint.approver, request);
  if (content === 'too-many-parameters') return showRefusal(tooManyParameters, variant);
  const answer = await endpoint.consents.answer(content, 'oauth1', user);
  if (answer === undefined) return showRefusal('This answers no question that is open for you.', variant);
  const token = endpoint.seal.open(answer.details['token'] ?? '', sealedAs);
  const found = token === undefined ? undefined : await openToken(endpoint, token);
  if (token === undefined || found === undefined) return notOpen(variant);
  return answer.allowed
    ? allow(endpoint, found, token, user, variant)
    : refuse(endpoint, found, token, variant);
}

/** A request token about which nobody has decided yet, and whose consumer and callback are registered still. */
async function openToken(
  { grants, clock, consumers }: EndpointParts,
  token: string,
): Promise<Found | undefined> {
  const found = await grants.find(token, 'oauth1', 'request');
  if (found === undefined || !isLive(found, clock.now()) || found.token.user !== undefined) return undefined;
  const consumer = consumers.find(found.token.client);
  if (consumer === undefined || !isOf(found, consumer)) return undefined;
  return consumer.callbacks.includes(callbackOf(found)) ? found : undefined;
}

function callbackOf({ token }: Found): string {
  return token.details['callback'] ?? outOfBand;
}

function notOpen(variant: Variant | undefined): Outcome {
  return showRefusal('The request of the application has expired, or it was answered already.', variant);
}

async function allow(
  { grants, random }: EndpointParts,
  found: Found,
  token: string,
  user: string,
  variant: Variant | undefined,
): Promise<Outcome> {
  const callback = callbackOf(found);
  const verifier =
    callback === outOfBand ? typable(random(12)) : Buffer.from(random(32)).toString('base64url');
  const amended = await grants.amend(found, { user, details: { verifier: sha256(verifier) } });
  if (amended === undefined) return notOpen(variant);
  if (callback !== outOfBand) return redirect(callback, { oauth_token: token, oauth_verifier: verifier });
  return showPage(
    {
      status: 200,
      title: 'You have allowed it',
      body: `<p>Give this code to <strong><bdi>${html(found.token.client)}</bdi></strong>:</p>
<p><code id="oauth_verifier">${html(verifier)}</code></p>`,
      json: { oauth_token: token, oauth_verifier: verifier },
    },
    variant,
  );
}

async function refuse(
  { grants }: EndpointParts,
  found: Found,
  token: string,
  variant: Variant | undefined,
): Promise<Outcome> {
  if (!(await grants.spend(found))) return notOpen(variant);
  const callback = callbackOf(found);
  if (callback !== outOfBand)
    return redirect(callback, { oauth_token: token, oauth_problem: 'user_refused' });
  return showPage(
    {
      status: 200,
      title: 'You have refused it',
      body: `<p><strong><bdi>${html(found.token.client)}</bdi></strong> can do nothing in your name.</p>`,
      json: { oauth_token: token, oauth_problem: 'user_refused' },
    },
    variant,
  );
}

/** Without letters and digits that are easily taken for others (RFC 5849 §2.2: it may have to be typed). */
const typableCharacters = 'abcdefghjkmnpqrstuvwxyz023456789';

/** Five bits of each byte. */
function typable(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => typableCharacters.charAt(byte % typableCharacters.length)).join('');
}

/** Sends the browser back to the consumer (RFC 5849 §2.2). */
function redirect(callback: string, parameters: Readonly<Record<string, string>>): Outcome {
  const added = Object.entries(parameters).map(([name, value]) => `${name}=${encodeOctets(octetsOf(value))}`);
  const location = withParameters(callback, added.join('&'));
  return { status: 303, noStore: true, fields: [['Location', location]] };
}
