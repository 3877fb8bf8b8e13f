import type { ConfiguredScheme } from '../../auth/configured-schemes.ts';
import { basicHeader } from '../../client/basic.ts';
import { signOAuth1 } from '../../client/oauth1.ts';
import { signRequest } from '../../client/sign.ts';
import { fieldLines, type HeaderFields, type SignedUrl } from '../../client/sign-with-scheme.ts';
import type { Clock } from '../../clock.ts';
import {
  checkFlag,
  checkMembers,
  checkObject,
  checkString,
  checkText,
  checkWord,
} from '../../service/argument-checks.ts';
import { formatSignedDate } from '../../signature/hmac.ts';
import { type Moment, timeOf } from '../state/clock.ts';
import type { DoubleUsers } from '../state/users.ts';
import {
  type ConfiguredSchemeOptions,
  type Signed,
  signByScheme,
  type Unsigned,
} from './configured-signer.ts';
import type { Complete, Fetch } from './fetch.ts';
import type { Content, FetchInit, FetchInput, FetchRequest, TypeOfText } from './fetch-request.ts';

/** The named options, and no others. */
type Only<Names extends keyof SignerOptions> = Pick<SignerOptions, Names> & {
  readonly [Name in Exclude<keyof SignerOptions, Names>]?: never;
};

/** The full form of `hmac`, which is the default. */
type FullForm = Only<'scheme' | 'form' | 'nonce' | 'date' | 'dateField' | 'signContent' | 'secret'> & {
  readonly scheme?: 'hmac';
  readonly form?: 'full';
};

/** The simple form of `hmac`, which has neither a nonce nor a date. */
type SimpleForm = Only<'scheme' | 'form' | 'signContent' | 'secret'> & {
  readonly scheme?: 'hmac';
  readonly form: 'simple';
};

/**
 * The options of `double.as`: `scheme`, and those of the scheme.
 * @example { scheme: 'basic', password: 'wrong' }
 */
export type AsOptions =
  | Only<'scheme'>
  | FullForm
  | SimpleForm
  | (Only<'scheme' | 'password'> & { readonly scheme: 'basic' })
  | (Only<'scheme' | 'client'> & { readonly scheme: 'bearer' })
  | (Only<'scheme' | 'token'> & { readonly scheme: 'bearer' })
  | (Only<'scheme' | 'client' | 'nonce' | 'date'> & { readonly scheme: 'oauth1' });

/** The options of `double.as` for a scheme of the option `schemes`. The names of other schemes have options of their own. */
export type ConfiguredAsOptions<Name extends string = string> = ConfiguredSchemeOptions & {
  readonly scheme: Name & (Name extends SchemeName ? never : unknown);
};

type SchemeName = 'hmac' | 'basic' | 'bearer' | 'oauth1';

/** The options of all schemes. */
interface SignerOptions {
  /** The scheme. All but `hmac` require TLS, so with them a path counts as requested over TLS. Default: `hmac`. */
  readonly scheme?: SchemeName;
  /** For `hmac`: the form. Default: `full`. */
  readonly form?: 'full' | 'simple';
  /** For `hmac` and `oauth1`: the nonce of every request. Default: a new one for each. */
  readonly nonce?: string;
  /** For `hmac` and `oauth1`: the signed date. Default: the time of the double's clock. */
  readonly date?: Moment;
  /** For `hmac`: the field that contains the date. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date';
  /** For `hmac`: whether content is signed by means of Content-Digest. Default: true. */
  readonly signContent?: boolean;
  /** For `hmac`: the secret. Default: the user's. Another one makes the server refuse the request. */
  readonly secret?: string;
  /** For `basic`: the password. Default: the user's. */
  readonly password?: string;
  /** For `bearer`: the token. Default: one issued on first use for the user, with all scopes of the client. */
  readonly token?: string;
  /** For `bearer` and `oauth1`: the client's id or the consumer's key. Default: the first registered one. */
  readonly client?: string;
}

/** The schemes that have each option. The type checks that the list is complete. */
const schemesWith: Readonly<Record<keyof SignerOptions, readonly SchemeName[]>> = {
  scheme: ['hmac', 'basic', 'bearer', 'oauth1'],
  form: ['hmac'],
  nonce: ['hmac', 'oauth1'],
  date: ['hmac', 'oauth1'],
  dateField: ['hmac'],
  signContent: ['hmac'],
  secret: ['hmac'],
  password: ['basic'],
  token: ['bearer'],
  client: ['bearer', 'oauth1'],
};

/**
 * Throws RangeError if an option is unknown, has a value that it cannot have, or would be ignored because it belongs to another
 * scheme or form.
 */
function checkOptions(options: SignerOptions): void {
  checkMembers(options, Object.keys(schemesWith), 'the options of as', "such as { scheme: 'basic' }");
  checkWord(options.form, ['full', 'simple'], 'a form');
  checkWord(options.dateField, ['Date', 'X-Date'], 'a field that contains the date');
  checkFlag(options.signContent, 'signContent');
  for (const name of ['nonce', 'secret', 'password', 'token', 'client'] as const)
    checkText(options[name], name);
  if (options.date !== undefined) timeOf(options.date);
  checkCombination(options);
}

function checkCombination(options: SignerOptions): void {
  const { scheme = 'hmac', form, token, client } = options;
  for (const [name, schemes] of Object.entries(schemesWith)) {
    if (Reflect.get(options, name) !== undefined && !schemes.includes(scheme))
      throw new RangeError(`${name} is an option of the scheme ${schemes.join(' or ')}, not of ${scheme}`);
  }
  for (const name of ['nonce', 'date', 'dateField'] as const) {
    if (form === 'simple' && options[name] !== undefined)
      throw new RangeError(
        `${name} is an option of the full form; the simple form has neither a nonce nor a date`,
      );
  }
  if (token !== undefined && client !== undefined)
    throw new RangeError('token and client exclude each other: a token belongs to a client already');
}

/** A client that signs its requests as a user. */
export interface Signer {
  readonly user: string;
  /**
   * Sends a signed request, as the double's `fetch`. A redirect to another origin gets no credentials. Text without a
   * Content-Type that begins like XML or JSON is sent with that type.
   * @example await double.as('johndoe').fetch('/articles/1', { method: 'PUT', body: '<article>…</article>' });
   */
  readonly fetch: Fetch;
  /**
   * Returns the header fields that sign a request, for another client to send. The URL may be a path of the double, or have any
   * origin, such as that of a proxy. Its path and query are signed as the platform's `fetch` sends them.
   *
   * @param headers The fields that the request has already. Configured schemes sign some of them.
   * @throws RangeError also if the scheme changes the query; `signUrl` returns the URL
   * @example const headers = await double.as('johndoe').sign('GET', '/articles/1');
   */
  sign(
    method: string,
    url: string | URL,
    content?: string | Uint8Array,
    headers?: HeaderFields,
  ): Promise<Record<string, string>>;
  /**
   * Returns the absolute URL and the header fields of a signed request, as `sign` does, also if the scheme changes the query.
   * @example const { url } = await double.as('johndoe', { scheme: 'aws4', presign: 300 }).signUrl('GET', '/report');
   */
  signUrl(
    method: string,
    url: string | URL,
    content?: string | Uint8Array,
    headers?: HeaderFields,
  ): Promise<SignedUrl>;
}

/** The parts of a double that signing requires. */
export interface SigningParts {
  /** Reads a call as `fetch` does. */
  readonly read: (
    input: FetchInput,
    init: FetchInit,
    typeOfText: TypeOfText,
  ) => FetchRequest | Promise<FetchRequest>;
  /** Returns the absolute URL of a path or URL. */
  readonly addressOf: (url: string | URL, secure: boolean) => string;
  readonly send: (outgoing: FetchRequest, complete: Complete) => Promise<Response>;
  readonly users: DoubleUsers;
  /** The configured schemes. */
  readonly schemes: readonly ConfiguredScheme[];
  readonly clock: Clock;
  readonly random: (size: number) => Uint8Array;
  /** Issues an access token of OAuth 2.0 for a user, with all scopes of the client. */
  readonly bearerFor: (user: string, client: string | undefined) => Promise<string>;
  /** Issues an access token of OAuth 1.0a for a user, with all scopes of the consumer. */
  readonly oauth1For: (user: string, consumer: string | undefined) => Promise<OAuth1Credentials>;
}

/** The credentials with which OAuth 1.0a signs. */
export interface OAuth1Credentials {
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly token: string; readonly tokenSecret: string };
}

type Fields = Record<string, string>;
type Sign = (request: Unsigned) => Fields | Promise<Fields>;
type SignUrl = (request: Unsigned) => Signed | Promise<Signed>;

/** Creates a signing client. Throws RangeError if there is no such user and `options` contain no credentials. */
export function createSigner(
  user: string,
  options: AsOptions | ConfiguredSchemeOptions,
  parts: SigningParts,
): Signer {
  const { sign, secure } = signingOf(user, options, parts);
  const signUrl: Signer['signUrl'] = async (method, url, content, headers = {}) => {
    checkString(method, 'the method to sign');
    return sign({ method, url: parts.addressOf(url, secure), content, fields: fieldLines(headers) });
  };
  const addSignature: Complete = async (outgoing) => {
    const { method, url, fields } = outgoing;
    const content = await wholeOf(outgoing.content);
    const signed = await sign({ method, url, content, fields });
    const signature = Object.entries(signed.headers);
    const names = new Set(signature.map(([name]) => name.toLowerCase()));
    const unsigned = fields.filter(([name]) => !names.has(name.toLowerCase()));
    return { ...outgoing, url: signed.url, fields: [...unsigned, ...signature] };
  };
  return {
    user,
    async fetch(input, init = {}) {
      checkObject(init, 'the options of fetch', "such as { method: 'PUT' }");
      const outgoing = await parts.read(input, { secure, ...init }, typeOfText);
      return parts.send({ ...outgoing, content: await wholeOf(outgoing.content) }, addSignature);
    },
    async sign(method, url, ...others) {
      const signed = await signUrl(method, url, ...others);
      if (signed.url === parts.addressOf(url, secure)) return signed.headers;
      throw new RangeError('the scheme changes the query of the URL; use signUrl, which returns the URL');
    },
    signUrl,
  };
}

/** Returns the function that signs, and whether paths count as requested over TLS. */
function signingOf(
  user: string,
  options: AsOptions | ConfiguredSchemeOptions,
  parts: SigningParts,
): { readonly sign: SignUrl; readonly secure: boolean } {
  checkString(user, 'the user of as');
  checkObject(options, 'the options of as', "such as { scheme: 'basic' }");
  const { scheme: name = 'hmac' } = options;
  const own = parts.schemes.find((each) => each.name === name);
  if (own !== undefined) {
    const sign = signByScheme(own, user, { ...options, scheme: own.name }, parts);
    return { sign, secure: own.kind === 'api-key' };
  }
  const known = [...Object.keys(signers), ...parts.schemes.map((each) => each.name)];
  checkWord(name, known, 'a scheme');
  if (!isBuiltIn(options)) throw new RangeError(`${name} is not a scheme`);
  checkOptions(options);
  const sign = signers[options.scheme ?? 'hmac'](user, options, parts);
  const signUrl: SignUrl = async (request) => ({ url: request.url, headers: await sign(request) });
  return { sign: signUrl, secure: name !== 'hmac' };
}

function isBuiltIn(options: AsOptions | ConfiguredSchemeOptions): options is AsOptions {
  return options.scheme === undefined || Object.hasOwn(signers, options.scheme);
}

/** Guesses the type of text without a Content-Type. The platform would send all of it as plain text. */
function typeOfText(text: string): string {
  const [first] = text.trimStart();
  if (first === '<') return 'application/xml';
  return first === '{' || first === '[' ? 'application/json' : 'text/plain;charset=UTF-8';
}

/** Returns the whole content, since a stream cannot be signed. */
async function wholeOf(content: Content): Promise<string | Uint8Array | undefined> {
  return content instanceof ReadableStream
    ? new Uint8Array(await new Response(content).arrayBuffer())
    : content;
}

const signers: Readonly<
  Record<SchemeName, (user: string, options: SignerOptions, parts: SigningParts) => Sign>
> = { hmac: hmacOf, basic: basicOf, bearer: bearerOf, oauth1: oauth1Of };

function hmacOf(user: string, options: SignerOptions, { users, clock, random }: SigningParts): Sign {
  const { form = 'full', nonce, date, dateField, signContent = true } = options;
  if (options.secret === undefined) users.credentials(user);
  return ({ method, url, content }) =>
    signRequest({
      ...{ method, url, user, form, clock, random },
      // Read for each request, since it may have been rotated.
      secret: options.secret ?? users.credentials(user).secret,
      ...(nonce !== undefined && { nonce }),
      ...(date !== undefined && { date: formatSignedDate(timeOf(date)) }),
      ...(dateField !== undefined && { dateField }),
      ...(content !== undefined && signContent && { content }),
    });
}

function basicOf(user: string, options: SignerOptions, { users }: SigningParts): Sign {
  if (options.password === undefined) passwordOf(users, user);
  return () => {
    const password = options.password ?? passwordOf(users, user);
    return { Authorization: basicHeader(user, password) };
  };
}

/** Returns the password of a user. Throws RangeError if it is not known. */
export function passwordOf(users: DoubleUsers, user: string): string {
  const { password } = users.credentials(user);
  if (password !== undefined) return password;
  throw new RangeError(`the password of ${user} is not known; set it in the option users`);
}

function bearerOf(user: string, { token, client }: SignerOptions, { bearerFor, users }: SigningParts): Sign {
  if (token === undefined) users.credentials(user);
  let issued: Promise<string> | undefined;
  return async () => {
    issued ??= token === undefined ? bearerFor(user, client) : Promise.resolve(token);
    return { Authorization: `Bearer ${await issued}` };
  };
}

function oauth1Of(
  user: string,
  options: SignerOptions,
  { oauth1For, users, clock, random }: SigningParts,
): Sign {
  users.credentials(user);
  let issued: Promise<OAuth1Credentials> | undefined;
  return async ({ method, url, content, fields }) => {
    const type = fields.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
    issued ??= oauth1For(user, options.client);
    const isForm = type?.startsWith('application/x-www-form-urlencoded') === true;
    const form = isForm && content !== undefined ? Buffer.from(content).toString() : undefined;
    const nonce = options.nonce ?? Buffer.from(random(16)).toString('base64url');
    const now = options.date === undefined ? clock.now() : timeOf(options.date);
    return { Authorization: signOAuth1({ ...(await issued), method, url, form, nonce, now }) };
  };
}
