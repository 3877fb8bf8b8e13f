import type { Clock } from '../../clock.ts';
import type { Fields } from '../../http/fields.ts';
import { formatChallenge } from '../../http/headers/authorization.ts';
import { parseContentDigest, parseContentMd5 } from '../../http/headers/content-digest.ts';
import { parseSignedDate } from '../../http/headers/date.ts';
import type { Request } from '../../http/message.ts';
import { isMethod, isSafe } from '../../http/method.ts';
import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import { andThen } from '../../maybe-promise.ts';
import type { HeldNonce, Principal } from '../../principal.ts';
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
import { type ClaimedNonce, noRoomForNonce } from '../nonce-claim.ts';
import type { Scheme, Verdict } from '../scheme.ts';
import type { AuthenticationTrace } from '../trace.ts';
import { credentialsLook, type Explanation, explainDate, explainDateForm, explainDigest } from './explain.ts';

/** Where nonces are remembered. */
export interface Nonces {
  /**
   * Claims the user's nonce in one step, unless it was claimed before. It is kept until `until` (ms) has passed. If
   * there is no room for it, nothing is kept.
   */
  claim(user: string, nonce: string, until: number, now: number): ClaimedNonce;
  /**
   * Resolves when every nonce claimed so far is written, and `durably` when it is on the medium; undefined when there
   * is nothing to wait for.
   */
  kept(durably: boolean): Promise<void> | undefined;
  /**
   * Takes the latest claim out of what is written, for it is to be kept with what its request changes; undefined when
   * nothing is written.
   */
  hold(): HeldNonce | undefined;
}

/** What the scheme goes by. */
export interface HmacOptions {
  readonly realm: string;
  readonly accounts: Accounts;
  readonly nonces: Nonces;
  readonly clock: Clock;
  /** How far a date may be from the clock, either way, in ms; on the edge it is good. */
  readonly window: number;
  /** The window (ms) that nonces are counted with, at least as long; the same when left out. */
  readonly nonceWindow?: number;
  /** Dates before the second of this time (ms) are refused: nonces that came with them are not known. None when left out. */
  readonly notBefore?: number | undefined;
  /** Which requests the simple form may sign. */
  readonly simple: 'safe' | 'all' | 'off';
  /** Whether content must come with a digest that is signed. */
  readonly requireBodyDigest: boolean;
  /** Whether a refusal shows what was checked. */
  readonly explain: boolean;
}

/** A date as the message has it, and the time (ms) that it says. */
interface Dated {
  readonly stamp: string;
  readonly time: number;
}

/** Makes a reader of dates that remembers the last one: many requests come within one second. */
function createDateReader(): (date: string) => Dated | undefined {
  let last = '';
  let dated: Dated | undefined;
  return (date) => {
    if (date === last) return dated;
    const time = parseSignedDate(date);
    dated = time === undefined ? undefined : { stamp: withoutSpaces(date), time };
    last = date;
    return dated;
  };
}

/** What a request is judged by. */
interface Judging extends HmacOptions {
  readonly dated: (date: string) => Dated | undefined;
  /** Stands where a user has no secret, so that every refusal costs as much. It has never been valid. */
  readonly nobodys: Secret;
}

/** What a request signs, and with which credentials. */
interface Presented {
  readonly request: Request;
  readonly credentials: HmacCredentials;
  readonly signed: Signed;
  /** The time that the date says (ms); undefined in the simple form. */
  readonly time: number | undefined;
  /** Where its checks are told. */
  readonly story: AuthenticationTrace | undefined;
}

/**
 * HMAC-SHA256 over the method, the target as sent, and in the full form a date and a nonce. Checked in this order:
 * grammar, user, digest, date, nonce, so that only who holds the secret learns what is wrong after the digest.
 */
export function createHmacScheme(options: HmacOptions): Scheme {
  const nobodys: Secret = { key: keyOf('no one has this secret'), until: Number.NEGATIVE_INFINITY };
  const judging: Judging = { ...options, nobodys, dated: createDateReader() };
  return {
    name: 'hmac',
    authenticate(request, rest, authTrace) {
      const credentials = splitHmacCredentials(rest);
      if (typeof credentials === 'string') {
        authTrace?.fail('parse', hintOf(credentialsLook(rest)));
        return bad(malformedCredentials(credentials, options));
      }
      const presented = present(request, credentials, judging, authTrace);
      if (presented instanceof Problem) return bad(digestFaultOf(credentials, options) ?? presented);
      const account = options.accounts.find(presented.credentials.user);
      return account instanceof Promise
        ? account.then((found) => judge(presented, found, judging))
        : judge(presented, account, judging);
    },
    challenge: () =>
      formatChallenge('hmac', [
        ['realm', options.realm],
        ['algorithm', 'SHA-256'],
      ]),
  };
}

function bad(problem: Problem): Verdict {
  return { outcome: 'bad', problem };
}

/** The Problem with the letters of a digest. They are looked at where it is not the right one: that one is well-formed. */
function digestFaultOf({ digest }: HmacCredentials, options: HmacOptions): Problem | undefined {
  const fault = faultOfDigest(digest);
  return fault === undefined ? undefined : malformedCredentials(fault, options);
}

/** The grammar of what is signed: what is presented, or the Problem with it. */
function present(
  request: Request,
  credentials: HmacCredentials,
  options: Judging,
  authTrace: AuthenticationTrace | undefined,
): Presented | Problem {
  const { fields, method, target } = request;
  const contentDigest = digestFieldOf(fields);
  if (contentDigest instanceof Problem) return contentDigest;
  if (options.requireBodyDigest && contentDigest === undefined && carriesContent(request)) {
    return new Problem('digest-required', 'The content has no Content-Digest that the signature covers.');
  }
  const { nonce } = credentials;
  if (nonce === undefined) {
    const signed = { method, target, date: undefined, nonce, contentDigest };
    const problem = simpleFormFault(method, target, options.simple);
    return problem ?? { request, credentials, signed, time: undefined, story: authTrace };
  }
  const date = fields.get('x-date') ?? fields.get('date');
  if (date === undefined) return new Problem('date-missing', 'The full form needs a Date, or an X-Date.');
  const dated = options.dated(date);
  if (dated === undefined) {
    const detail = 'The date is neither like "20 apr 2013 12:59:24" nor an IMF-fixdate.';
    authTrace?.fail('parse', explainDateForm(date));
    return malformed(detail, options.explain ? { check: 'grammar', ...explainDateForm(date) } : {});
  }
  const signed = { method, target, date: dated.stamp, nonce, contentDigest };
  return { request, credentials, signed, time: dated.time, story: authTrace };
}

function hintOf(hint: string | undefined): Explanation {
  return hint === undefined ? {} : { hint };
}

/** Tells that a check failed, and gives the members that the refusal has: what explains it is found out only where somebody wants it. */
function failed(
  { story: authTrace }: Presented,
  { explain: explaining }: HmacOptions,
  check: string,
  explained: () => Explanation,
): Explanation {
  if (!explaining && authTrace === undefined) return {};
  const members = explained();
  authTrace?.fail(check, members);
  return explaining ? { check, ...members } : {};
}

function malformed(detail: string, members: Explanation): Problem {
  return new Problem('malformed-credentials', detail, { members });
}

function malformedCredentials(fault: string, { explain: explaining }: HmacOptions): Problem {
  return malformed(`${fault}.`, explaining ? { check: 'grammar' } : {});
}

/**
 * The value of Content-Digest, or else of Content-MD5. It is a part of the message, so it must be a digest: a date and a
 * nonce in its place would make the full signature of a request the simple one of the same request, which counts for ever.
 */
function digestFieldOf(fields: Fields): string | Problem | undefined {
  const contentDigest = fields.get('content-digest');
  if (contentDigest !== undefined) {
    if (parseContentDigest(contentDigest) !== undefined) return contentDigest;
    return malformedDigest('Content-Digest', 'a dictionary of digests as RFC 9530 has it');
  }
  const md5 = fields.get('content-md5');
  if (md5 === undefined || parseContentMd5(md5) !== undefined) return md5;
  return malformedDigest('Content-MD5', 'the base64 of 16 bytes');
}

function malformedDigest(field: string, form: string): Problem {
  return new Problem('malformed-field', `${field} must be ${form}.`, { members: { field } });
}

function carriesContent({ body, fields }: Request): boolean {
  return body.present && fields.get('content-length') !== '0';
}

function isSafeMethod(method: string): boolean {
  return isMethod(method) && isSafe(method);
}

function simpleFormFault(
  method: string,
  target: string,
  allowed: HmacOptions['simple'],
): Problem | undefined {
  if (allowed === 'off') return new Problem('simple-form-refused', 'The simple form is switched off.');
  if (allowed === 'safe' && !isSafeMethod(method)) {
    return new Problem(
      'simple-form-refused',
      `The simple form does not sign ${method}: it could be sent again.`,
    );
  }
  if (endsLikeFullForm(target)) {
    return new Problem(
      'simple-form-refused',
      'The target ends like a date and a nonce of the full form, or like a digest of content.',
    );
  }
  return undefined;
}

/** Digest, date and nonce, in this order and in one turn. */
function judge(
  presented: Presented,
  account: Account | undefined,
  judging: Judging,
): Verdict | Promise<Verdict> {
  const { credentials, signed, time } = presented;
  const now = judging.clock.now();
  const good = isSignedBy(
    account?.secrets ?? [],
    messagePieces(signed),
    credentials.digest,
    now,
    judging.nobodys,
  );
  if (!good || account === undefined) {
    const fault = digestFaultOf(credentials, judging);
    if (fault !== undefined) return bad(fault);
    return andThen(explainRefusal(presented, account, judging), (explained) =>
      refuse(presented, 'credentials-refused', 'User, secret or signed message do not fit.', explained),
    );
  }
  presented.story?.pass('parse');
  presented.story?.pass('user');
  presented.story?.pass('digest');
  const principal: Principal = { name: account.name, scheme: 'hmac' };
  const verdict: Verdict = { outcome: 'good', principal };
  if (time === undefined || credentials.nonce === undefined) return verdict;
  const fault = judgeFreshness(presented, time, credentials.nonce, now, judging);
  if (fault !== undefined) return fault;
  if (!isSafeMethod(signed.method)) {
    const held = judging.nonces.hold();
    return held === undefined ? verdict : { outcome: 'good', principal: { ...principal, nonce: held } };
  }
  const writing = judging.nonces.kept(false);
  return writing === undefined ? verdict : writing.then(() => verdict);
}

/**
 * Whether one of the secrets that are valid now signs the message so. Whoever is refused costs two digests at the
 * least, whether there are two secrets, one or none, and whether they have expired.
 */
function isSignedBy(
  secrets: readonly Secret[],
  message: readonly string[],
  digest: string,
  now: number,
  nobodys: Secret,
): boolean {
  for (let at = 0; at < Math.max(secrets.length, 2); at += 1) {
    const { key, until } = secrets[at] ?? nobodys;
    if (key.signs(message, digest) && (until === undefined || now < until)) return true;
  }
  return false;
}

function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function judgeFreshness(
  presented: Presented,
  time: number,
  nonce: string,
  now: number,
  options: HmacOptions,
): Verdict | undefined {
  const { window, nonceWindow = window } = options;
  // To the second, like the dates themselves: the fraction of the clock's second does not count.
  const off = time - wholeSecond(now);
  if (Math.abs(off) > window) {
    const detail = `The date is ${Math.abs(off) / 1000} s ${off < 0 ? 'behind' : 'ahead of'} the server's clock; ${window / 1000} s are allowed.`;
    const explained = failed(presented, options, 'date', () => ({
      message: messageOf(presented.signed),
      ...explainDate(off / 1000, now),
    }));
    return refuse(presented, 'date-out-of-window', detail, explained);
  }
  if (time < wholeSecond(options.notBefore ?? Number.NEGATIVE_INFINITY)) {
    const detail = 'The date is before this server began, and it remembers no nonce from then.';
    const explained = failed(presented, options, 'date', () => ({ message: messageOf(presented.signed) }));
    return refuse(presented, 'date-out-of-window', detail, explained);
  }
  presented.story?.pass('date');
  // The last moment at which this date is still inside that window, to the end of its second.
  const until = time + nonceWindow + 999;
  const claimed = options.nonces.claim(presented.credentials.user, nonce, until, now);
  if (claimed === 'fresh') {
    presented.story?.pass('nonce');
    return undefined;
  }
  if (claimed === 'seen') {
    const detail = 'This user has sent this nonce before.';
    const explained = failed(presented, options, 'nonce', () => ({ message: messageOf(presented.signed) }));
    return refuse(presented, 'nonce-replayed', detail, explained);
  }
  const problem = noRoomForNonce(claimed, window, now);
  presented.story?.fail('nonce');
  return { outcome: 'bad', problem, claimed: presented.credentials.user };
}

function refuse(
  { credentials }: Presented,
  type: ProblemType,
  detail: string,
  members: Explanation,
): Verdict {
  return { outcome: 'bad', problem: new Problem(type, detail, { members }), claimed: credentials.user };
}

/**
 * Explains a wrong digest: to the story what is known, and to the client what can be said whether there is such a user or
 * not. Returns the members of the refusal. Their names, the work for them and, for a client without the secret, their
 * values do not depend on the user.
 */
function explainRefusal(
  presented: Presented,
  account: Account | undefined,
  { explain, nobodys }: Judging,
): Explanation | Promise<Explanation> {
  const { request, credentials, signed, story: authTrace } = presented;
  authTrace?.pass('parse');
  if (account !== undefined) authTrace?.pass('user');
  if (!explain && authTrace === undefined) return {};
  const secrets = account?.secrets ?? [];
  const message = messageOf(signed);
  return explainDigest(request, signed, credentials.digest, secrets, nobodys).then((found) => {
    if (account === undefined) authTrace?.fail('user', { message, ...found });
    else
      authTrace?.fail('digest', { message, hint: secrets.length === 0 ? noSecret : otherSecret, ...found });
    return explain ? { check: 'digest', message, hint: otherUserOrSecret, ...found } : {};
  });
}

const noSecret = 'this user has no secret to sign with';
const otherSecret =
  'the secret is another one, or the message differs in a way that is not among the usual ones';
const otherUserOrSecret = `there is no such user, ${otherSecret}`;
