import type { Clock } from '../../clock.ts';
import type { Fields } from '../../http/fields.ts';
import { formatChallenge } from '../../http/headers/authorization.ts';
import { parseContentDigest, parseContentMd5 } from '../../http/headers/content-digest.ts';
import { parseSignedDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { andThen } from '../../maybe-promise.ts';
import type { Principal } from '../../principal.ts';
import {
  endsLikeFullForm,
  faultOfDigest,
  type HmacCredentials,
  keyOf,
  messageOf,
  messagePieces,
  type Signed,
  splitHmacCredentials,
  withoutSpaces,
} from '../../signature/hmac.ts';
import type { Account, Accounts, Secret } from '../accounts.ts';
import { admitOnce, describeDistance, isSafeMethod, type NonceUse, wholeSecond } from '../freshness.ts';
import { type Nonces, type RefusedNonce, unclaimableNonce } from '../nonce-claim.ts';
import type { BadVerdict, Scheme, Verdict } from '../scheme.ts';
import type { AuthenticationTrace } from '../trace.ts';
import { type Explanation, explainCredentialsForm, explainDate, explainDateForm } from './explain.ts';
import { explainRefusal } from './refusal.ts';

/** Options of the scheme. */
export interface HmacOptions {
  readonly realm: string;
  readonly accounts: Accounts;
  readonly nonces: Nonces;
  readonly clock: Clock;
  /** Maximum difference (ms, inclusive) between a date and the clock, in either direction. */
  readonly window: number;
  /** The window (ms) that determines how long nonces are stored; at least `window`, which is the default. */
  readonly nonceWindow?: number;
  /** Dates before the second of this time (ms) are refused, because their nonces are not known. Default: none. */
  readonly notBefore?: number | undefined;
  /** The requests that the simple form may sign. */
  readonly simple: 'safe' | 'all' | 'off';
  /** Whether a request with content must have a signed content digest. */
  readonly requireBodyDigest: boolean;
  /** Whether errors explain what the server checked. */
  readonly explain: boolean;
}

/** A date as it appears in the message, and its time (ms). */
interface SignedDate {
  readonly stamp: string;
  readonly time: number;
}

/** Creates a date parser that caches the last date, because many requests have the same one. */
function createDateParser(): (date: string) => SignedDate | undefined {
  let last = '';
  let parsed: SignedDate | undefined;
  return (date) => {
    if (date === last) return parsed;
    const time = parseSignedDate(date);
    parsed = time === undefined ? undefined : { stamp: withoutSpaces(date), time };
    last = date;
    return parsed;
  };
}

/** The options with the state of the scheme. */
interface HmacContext extends HmacOptions {
  readonly parseDate: (date: string) => SignedDate | undefined;
  /** Used in place of a missing secret, so that every refusal takes the same time. It is never valid. */
  readonly dummySecret: Secret;
}

/** The credentials of a request, and the message parts that it signs. */
interface Presented {
  readonly request: Request;
  readonly credentials: HmacCredentials;
  readonly signed: Signed;
  /** The time of the date (ms); undefined in the simple form. */
  readonly time: number | undefined;
  /** Records the checks, if given. */
  readonly authTrace: AuthenticationTrace | undefined;
  /** Whether the nonce may be claimed with the change of the request. */
  readonly deferrable: boolean;
}

/**
 * Creates the scheme `hmac`: HMAC-SHA256 over the method, the target as sent, and in the full form a date and a nonce. Checks in
 * this order: grammar, user, digest, date, nonce. So only a client with the secret learns about errors after the digest.
 */
export function createHmacScheme(options: HmacOptions): Scheme {
  const dummySecret: Secret = { key: keyOf('no one has this secret'), until: Number.NEGATIVE_INFINITY };
  const context: HmacContext = { ...options, dummySecret, parseDate: createDateParser() };
  return {
    name: 'hmac',
    requestFields: ['authentication', 'x-date'],
    authenticate(request, rest, authTrace, deferrable = false) {
      const credentials = splitHmacCredentials(rest);
      if (typeof credentials === 'string') {
        authTrace?.fail('parse', hintOf(explainCredentialsForm(rest)));
        return bad(malformedCredentials(credentials, options));
      }
      const presented = present(request, credentials, context, authTrace, deferrable);
      if (presented instanceof Problem) return bad(digestFaultOf(credentials, options) ?? presented);
      const account = options.accounts.find(presented.credentials.user);
      return account instanceof Promise
        ? account.then((found) => verifySignature(presented, found, context))
        : verifySignature(presented, account, context);
    },
    claimedUser(rest) {
      const credentials = splitHmacCredentials(rest);
      return typeof credentials === 'string' ? undefined : credentials.user;
    },
    challenge: () =>
      formatChallenge('hmac', [
        ['realm', options.realm],
        ['algorithm', 'SHA-256'],
      ]),
  };
}

function bad(problem: Problem): BadVerdict {
  return { outcome: 'bad', problem };
}

/** Returns the Problem for a malformed digest. Only called for a wrong digest, because the right one is well-formed. */
function digestFaultOf({ digest }: HmacCredentials, options: HmacOptions): Problem | undefined {
  const fault = faultOfDigest(digest);
  return fault === undefined ? undefined : malformedCredentials(fault, options);
}

/** Parses the signed parts of a request. Returns a Problem if they are malformed. */
function present(
  request: Request,
  credentials: HmacCredentials,
  options: HmacContext,
  authTrace: AuthenticationTrace | undefined,
  deferrable: boolean,
): Presented | Problem {
  const { fields, method, target } = request;
  const contentDigest = digestFieldOf(fields);
  if (contentDigest instanceof Problem) return contentDigest;
  if (options.requireBodyDigest && contentDigest === undefined && carriesContent(request)) {
    return new Problem('digest-required', 'The content requires a signed Content-Digest.');
  }
  const { nonce } = credentials;
  if (nonce === undefined) {
    const signed = { method, target, date: undefined, nonce, contentDigest };
    const problem = simpleFormFault(method, target, options.simple);
    return problem ?? { request, credentials, signed, time: undefined, authTrace, deferrable };
  }
  const date = fields.get('x-date') ?? fields.get('date');
  if (date === undefined)
    return new Problem('date-missing', 'The full form requires a Date or X-Date field.');
  const signedDate = options.parseDate(date);
  if (signedDate === undefined) {
    const detail = 'The date must be like "20 apr 2013 12:59:24" or an IMF-fixdate.';
    authTrace?.fail('parse', explainDateForm(date));
    return malformed(detail, options.explain ? { check: 'grammar', ...explainDateForm(date) } : {});
  }
  const signed = { method, target, date: signedDate.stamp, nonce, contentDigest };
  return { request, credentials, signed, time: signedDate.time, authTrace, deferrable };
}

function hintOf(hint: string | undefined): Explanation {
  return hint === undefined ? {} : { hint };
}

/** Records a failed check, and returns the explanation for the Problem. Computes it only if it is needed. */
function explainFailure(
  { authTrace }: Presented,
  { explain }: HmacOptions,
  check: string,
  explanation: () => Explanation,
): Explanation {
  if (!explain && authTrace === undefined) return {};
  const members = explanation();
  authTrace?.fail(check, members);
  return explain ? { check, ...members } : {};
}

function malformed(detail: string, members: Explanation): Problem {
  return new Problem('malformed-credentials', detail, { members });
}

function malformedCredentials(fault: string, { explain }: HmacOptions): Problem {
  return malformed(`${fault}.`, explain ? { check: 'grammar' } : {});
}

/**
 * Returns the value of Content-Digest, or else of Content-MD5, or a Problem if it is malformed. It is a part of the message, so
 * it must be a digest: a date and a nonce in its place would turn a full signature into a simple one, which never expires.
 */
function digestFieldOf(fields: Fields): string | Problem | undefined {
  const contentDigest = fields.get('content-digest');
  if (contentDigest !== undefined) {
    if (parseContentDigest(contentDigest) !== undefined) return contentDigest;
    return malformedDigest('Content-Digest', 'a dictionary of digests (RFC 9530 §2)');
  }
  const md5 = fields.get('content-md5');
  if (md5 === undefined || parseContentMd5(md5) !== undefined) return md5;
  return malformedDigest('Content-MD5', '16 bytes in base64');
}

function malformedDigest(field: string, form: string): Problem {
  return new Problem('malformed-field', `${field} must be ${form}.`, { members: { field } });
}

function carriesContent({ body, fields }: Request): boolean {
  return body.present && fields.get('content-length') !== '0';
}

function simpleFormFault(
  method: string,
  target: string,
  allowed: HmacOptions['simple'],
): Problem | undefined {
  if (allowed === 'off') return new Problem('simple-form-refused', 'The simple form is disabled.');
  if (allowed === 'safe' && !isSafeMethod(method)) {
    return new Problem(
      'simple-form-refused',
      `The simple form cannot sign ${method}, because the request could be replayed.`,
    );
  }
  if (endsLikeFullForm(target)) {
    return new Problem(
      'simple-form-refused',
      'The target ends like the date and nonce of the full form, or like a content digest.',
    );
  }
  return undefined;
}

/** Checks digest, date and nonce, in this order and in one turn of the event loop. */
function verifySignature(
  presented: Presented,
  account: Account | undefined,
  context: HmacContext,
): Verdict | Promise<Verdict> {
  const { credentials, signed, time } = presented;
  const now = context.clock.now();
  const good = isSignedBy(
    account?.secrets ?? [],
    messagePieces(signed),
    credentials.digest,
    now,
    context.dummySecret,
  );
  if (!good || account === undefined) {
    const fault = digestFaultOf(credentials, context);
    if (fault !== undefined) return bad(fault);
    const wrong = { request: presented.request, signed, digest: credentials.digest, user: credentials.user };
    return andThen(explainRefusal(wrong, account, context, presented.authTrace), (explained) =>
      refuse(
        presented,
        'credentials-refused',
        'The user, the secret or the signed message is wrong.',
        explained,
      ),
    );
  }
  presented.authTrace?.pass('parse');
  presented.authTrace?.pass('user');
  presented.authTrace?.pass('digest');
  const principal: Principal = { name: account.name, scheme: 'hmac' };
  const { user, nonce } = credentials;
  if (time === undefined || nonce === undefined) return { outcome: 'good', principal };
  const stale = checkDate(presented, time, now, context);
  if (stale !== undefined) return stale;
  const { window, nonceWindow = window } = context;
  const use: NonceUse = {
    principal,
    method: signed.method,
    // Until the date is outside the nonce window, to the end of its second.
    claim: { user, nonce, until: time + nonceWindow + 999 },
    deferrable: presented.deferrable,
    authTrace: presented.authTrace,
    refuse: (claimed) => refuseNonce(presented, claimed, now, context),
  };
  return admitOnce(use, now, context.nonces);
}

/**
 * Returns whether one of the currently valid secrets produces the digest. A refusal computes at least two digests, for any number
 * of secrets, valid or expired.
 */
function isSignedBy(
  secrets: readonly Secret[],
  message: readonly string[],
  digest: string,
  now: number,
  dummySecret: Secret,
): boolean {
  for (let at = 0; at < Math.max(secrets.length, 2); at += 1) {
    const { key, until } = secrets[at] ?? dummySecret;
    if (key.signs(message, digest) && (until === undefined || now < until)) return true;
  }
  return false;
}

/** Returns a refusal if the date is outside the window. */
function checkDate(
  presented: Presented,
  time: number,
  now: number,
  options: HmacOptions,
): Verdict | undefined {
  const { window } = options;
  // In whole seconds, like the dates: fractions of a second are ignored.
  const off = time - wholeSecond(now);
  if (Math.abs(off) > window) {
    const detail = describeDistance('The date', off / 1000, window / 1000);
    const explained = explainFailure(presented, options, 'date', () => ({
      message: messageOf(presented.signed),
      ...explainDate(off / 1000, now),
    }));
    return refuse(presented, 'date-out-of-window', detail, explained);
  }
  if (time < wholeSecond(options.notBefore ?? Number.NEGATIVE_INFINITY)) {
    const detail = 'The date is before the start of this server, which does not know the nonces used before.';
    const explained = explainFailure(presented, options, 'date', () => ({
      message: messageOf(presented.signed),
    }));
    return refuse(presented, 'date-out-of-window', detail, explained);
  }
  presented.authTrace?.pass('date');
  return undefined;
}

function refuseNonce(
  presented: Presented,
  claimed: RefusedNonce,
  now: number,
  options: HmacOptions,
): BadVerdict {
  if (claimed === 'seen') {
    const detail = 'The user has already used this nonce.';
    const explained = explainFailure(presented, options, 'nonce', () => ({
      message: messageOf(presented.signed),
    }));
    return refuse(presented, 'nonce-replayed', detail, explained);
  }
  const problem = unclaimableNonce(claimed, options.window, now);
  presented.authTrace?.fail('nonce');
  return { outcome: 'bad', problem, claimed: presented.credentials.user };
}

function refuse(
  { credentials }: Presented,
  type: ProblemType,
  detail: string,
  members: Explanation,
): BadVerdict {
  return { outcome: 'bad', problem: new Problem(type, detail, { members }), claimed: credentials.user };
}
