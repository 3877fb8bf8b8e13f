import { basicHeader } from '../../client/basic.ts';
import { signOAuth1 } from '../../client/oauth1.ts';
import { signRequest } from '../../client/sign.ts';
import type { Clock } from '../../clock.ts';
import { formatSignedDate } from '../../signature/hmac.ts';
import { type Moment, timeOf } from '../state/clock.ts';
import type { DoubleUsers } from '../state/users.ts';
import type { Complete, Fetch } from './fetch.ts';
import type { Content, FetchInit, FetchInput, FetchRequest, TypeOfText } from './fetch-request.ts';

/** How requests are signed for a user. */
export interface AsOptions {
  /** `hmac` when left out. The others work over TLS only, so a path alone goes as over TLS with them. */
  readonly scheme?: 'hmac' | 'basic' | 'bearer' | 'oauth1';
  /** Of `hmac`: `full` when left out. */
  readonly form?: 'full' | 'simple';
  /** Of `hmac` and `oauth1`: the nonce of every request; a fresh one for each when left out. */
  readonly nonce?: string;
  /** Of `hmac` and `oauth1`: when the request says it was made; the double's time when left out. */
  readonly date?: Moment;
  /** Of `hmac`: the field of the date; `Date` when left out. */
  readonly dateField?: 'Date' | 'X-Date';
  /** Of `hmac`: whether content is covered by the signature, through its Content-Digest; true when left out. */
  readonly signContent?: boolean;
  /** Another secret than the user's own: to be refused with. */
  readonly secret?: string;
  /** Another password than the user's own. */
  readonly password?: string;
  /** Of `bearer`: this token; one for the user with all scopes of the client when left out, drawn once. */
  readonly token?: string;
  /** Of `bearer` and `oauth1`: the client, or the consumer, that comes for the user; the first one registered when left out. */
  readonly client?: string;
}

/** Somebody who signs what they send. */
export interface Signer {
  readonly user: string;
  /**
   * The double's `fetch`, with credentials, which a redirect to another origin does not get. Text without a Content-Type that begins like XML or JSON is sent as such.
   * @example await double.as('johndoe').fetch('/articles/1', { method: 'PUT', body: '<article>…</article>' });
   */
  readonly fetch: Fetch;
  /**
   * The header fields that sign a request which somebody else sends.
   * @example const headers = await double.as('johndoe').sign('GET', `${double.url}/articles/1`);
   */
  sign(method: string, url: string | URL, content?: string | Uint8Array): Promise<Record<string, string>>;
}

/** What signing needs of a double. */
export interface SigningParts {
  /** Reads a call as `fetch` does. */
  readonly read: (
    input: FetchInput,
    init: FetchInit,
    typeOfText: TypeOfText,
  ) => FetchRequest | Promise<FetchRequest>;
  readonly send: (outgoing: FetchRequest, complete: Complete) => Promise<Response>;
  readonly users: DoubleUsers;
  readonly clock: Clock;
  readonly random: (size: number) => Uint8Array;
  /** Draws an access token of OAuth 2.0 for a user, with all scopes of the client. */
  readonly bearerFor: (user: string, client: string | undefined) => Promise<string>;
  /** Draws an access token of OAuth 1.0a for a user, likewise, and gives the consumer with it. */
  readonly oauth1For: (user: string, consumer: string | undefined) => Promise<OAuth1Credentials>;
}

/** What OAuth 1.0a signs with. */
export interface OAuth1Credentials {
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly token: string; readonly tokenSecret: string };
}

/** What is to be signed. */
interface Unsigned {
  readonly method: string;
  readonly url: string;
  readonly content: string | Uint8Array | undefined;
  readonly type: string | undefined;
}

type Fields = Record<string, string>;
type Sign = (request: Unsigned) => Fields | Promise<Fields>;

/** Makes a signer. Throws RangeError on a user whom the double does not have, unless its credentials are given. */
export function createSigner(user: string, options: AsOptions, parts: SigningParts): Signer {
  const { scheme = 'hmac' } = options;
  const sign = signers[scheme](user, options, parts);
  const secure = scheme !== 'hmac';
  const signed: Complete = async (outgoing) => {
    const { method, url, fields } = outgoing;
    const content = await wholeOf(outgoing.content);
    const type = fields.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
    const signature = Object.entries(await sign({ method, url, content, type }));
    const names = new Set(signature.map(([name]) => name.toLowerCase()));
    const kept = fields.filter(([name]) => !names.has(name.toLowerCase()));
    return { ...outgoing, fields: [...kept, ...signature] };
  };
  return {
    user,
    async fetch(input, init = {}) {
      const outgoing = await parts.read(input, { secure, ...init }, typeOfText);
      return parts.send({ ...outgoing, content: await wholeOf(outgoing.content) }, signed);
    },
    sign: async (method, url, content) => sign({ method, url: String(url), content, type: undefined }),
  };
}

/** What text is where nobody has said it: the platform would call all of it plain. */
function typeOfText(text: string): string {
  const [first] = text.trimStart();
  if (first === '<') return 'application/xml';
  return first === '{' || first === '[' ? 'application/json' : 'text/plain;charset=UTF-8';
}

/** Content as it can be signed: all of it has to be here. */
async function wholeOf(content: Content): Promise<string | Uint8Array | undefined> {
  return content instanceof ReadableStream
    ? new Uint8Array(await new Response(content).arrayBuffer())
    : content;
}

const signers: Readonly<
  Record<NonNullable<AsOptions['scheme']>, (user: string, options: AsOptions, parts: SigningParts) => Sign>
> = { hmac: hmacOf, basic: basicOf, bearer: bearerOf, oauth1: oauth1Of };

function hmacOf(user: string, options: AsOptions, { users, clock, random }: SigningParts): Sign {
  const { form = 'full', nonce, date, dateField, signContent = true } = options;
  if (options.secret === undefined) users.credentials(user);
  return ({ method, url, content }) =>
    signRequest({
      ...{ method, url, user, form, clock, random },
      // The secret of the moment: it may have been rotated.
      secret: options.secret ?? users.credentials(user).secret,
      ...(nonce !== undefined && { nonce }),
      ...(date !== undefined && { date: formatSignedDate(timeOf(date)) }),
      ...(dateField !== undefined && { dateField }),
      ...(content !== undefined && signContent && { content }),
    });
}

function basicOf(user: string, options: AsOptions, { users }: SigningParts): Sign {
  if (options.password === undefined) passwordOf(users, user);
  return () => {
    const password = options.password ?? passwordOf(users, user);
    return { Authorization: basicHeader(user, password) };
  };
}

/** The password of a user. Throws RangeError where there is none to be known. */
export function passwordOf(users: DoubleUsers, user: string): string {
  const { password } = users.credentials(user);
  if (password !== undefined) return password;
  throw new RangeError(`${user} has no password that is known; give one in the double's users`);
}

function bearerOf(user: string, { token, client }: AsOptions, { bearerFor, users }: SigningParts): Sign {
  if (token === undefined) users.credentials(user);
  let drawn: Promise<string> | undefined;
  return async () => {
    drawn ??= token === undefined ? bearerFor(user, client) : Promise.resolve(token);
    return { Authorization: `Bearer ${await drawn}` };
  };
}

function oauth1Of(user: string, options: AsOptions, { oauth1For, users, clock, random }: SigningParts): Sign {
  users.credentials(user);
  let drawn: Promise<OAuth1Credentials> | undefined;
  return async ({ method, url, content, type }) => {
    drawn ??= oauth1For(user, options.client);
    const isForm = type?.startsWith('application/x-www-form-urlencoded') === true;
    const form = isForm && content !== undefined ? Buffer.from(content).toString() : undefined;
    const nonce = options.nonce ?? Buffer.from(random(16)).toString('base64url');
    const now = options.date === undefined ? clock.now() : timeOf(options.date);
    return { Authorization: signOAuth1({ ...(await drawn), method, url, form, nonce, now }) };
  };
}
