import { didYouMean } from '../../did-you-mean.ts';
import { parseDuration } from '../../duration.ts';

/** How many requests are permitted within a time window. */
export interface QuotaPolicy {
  /** The name in the fields RateLimit and RateLimit-Policy. */
  readonly name: string;
  readonly requests: number;
  /** The length of the window in seconds. */
  readonly window: number;
}

/** A quota policy as declared. */
export interface QuotaPolicyDeclaration {
  /** Default: the window. */
  readonly name?: string;
  /** 1 to a billion. */
  readonly requests: number;
  /** Whole seconds, or a duration such as `30s`, `1h` or `7d`. At most a year. */
  readonly window: number | string;
}

/**
 * A quota: one policy, or several which all apply; as text, `1000/1h` or `20/1s,1000/1h`. `none` means no limit.
 * @example { requests: 1000, window: '1h' }
 */
export type QuotaDeclaration = string | QuotaPolicyDeclaration | readonly QuotaPolicyDeclaration[];

/** The maximum number of policies of a quota. */
export const maxPolicies = 8;
/** The maximum number of requests of a policy. */
export const maxRequests = 1_000_000_000;
/** The longest window of a policy, in seconds: a year. */
export const maxQuotaWindow = 31_536_000;
/** A name that needs no escaping in a structured field. */
export const policyNameForm = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Reads a quota. Returns no policy for `none`.
 * @param what names the quota in messages
 * @throws RangeError if the quota is not valid
 */
export function readQuota(value: unknown, what: string): readonly QuotaPolicy[] {
  if (value === 'none') return [];
  const declared: readonly unknown[] =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value];
  if (declared.length === 0 || declared.length > maxPolicies)
    throw new RangeError(`${what} must have 1 to ${maxPolicies} policies`);
  const policies = declared.map((policy) =>
    typeof policy === 'string' ? readText(policy.trim(), what) : readMembers(policy, what),
  );
  const names = new Set<string>();
  for (const { name } of policies) {
    if (names.has(name)) throw new RangeError(`${what} has two policies with the name ${name}`);
    names.add(name);
  }
  return policies;
}

/** Checks a quota. Throws RangeError as `readQuota` does. */
export function checkQuota(value: unknown, what: string): asserts value is QuotaDeclaration {
  readQuota(value, what);
}

/** Returns a quota in the form of text, without spaces. Throws RangeError as `readQuota` does, also on another form. */
export function readQuotaText(value: unknown, what: string): string {
  const text = typeof value === 'string' ? value : '';
  readQuota(text, what);
  return text.replaceAll(' ', '');
}

/** A policy as text: `1000/1h`. */
export const policyForm = /^([0-9]{1,10})\/([0-9]{1,6}[a-z]{1,2})$/;

function readText(text: string, what: string): QuotaPolicy {
  const [, requests = '', window = ''] = policyForm.exec(text) ?? [];
  if (window === '') throw new RangeError(`${what} must be such as 1000/1h, 20/1s,1000/1h or none`);
  return policyOf({ name: window, requests: Number(requests), window }, what);
}

const members = ['name', 'requests', 'window'];

function readMembers(value: unknown, what: string): QuotaPolicy {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${what} must be such as { "requests": 1000, "window": "1h" } or "1000/1h"`);
  const given = new Map<string, unknown>(Object.entries(value));
  for (const name of given.keys()) {
    if (!members.includes(name))
      throw new RangeError(`${shown(name)} is not a member of ${what}${didYouMean(name, members)}`);
  }
  const window = given.get('window');
  const byDefault = typeof window === 'number' ? `${window}s` : window;
  const { name = byDefault } = { name: given.get('name') };
  return policyOf({ name, requests: given.get('requests'), window }, what);
}

function policyOf(
  { name, requests, window }: { readonly [Name in keyof QuotaPolicy]: unknown },
  what: string,
): QuotaPolicy {
  const seconds = secondsOf(window);
  if (!isWhole(requests, maxRequests))
    throw new RangeError(`requests of ${what} must be a whole number from 1 to ${maxRequests}`);
  if (!isWhole(seconds, maxQuotaWindow))
    throw new RangeError(`window of ${what} must be whole seconds or such as 30s, 1h or 7d, up to 365d`);
  if (typeof name !== 'string' || !policyNameForm.test(name))
    throw new RangeError(`name of ${what} must be 1 to 64 characters of A-Z a-z 0-9 . _ -`);
  return Object.freeze({ name, requests, window: seconds });
}

/** Returns the seconds of a window, which need not be whole. */
function secondsOf(window: unknown): unknown {
  return typeof window === 'string' ? (parseDuration(window) ?? 0) / 1000 : window;
}

function isWhole(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
}

/** Returns text as JSON, at most about 64 characters of it. */
function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
