import { type Duration, parseDuration } from '../duration.ts';
import { grammar, leaf, number, object, optional, read, type Shape, text } from '../shape/shape.ts';

/** How many requests are permitted within a time window. */
export interface QuotaPolicy {
  /** The name in the fields RateLimit and RateLimit-Policy. */
  readonly name: string;
  readonly requests: number;
  /** The length of the window in seconds. */
  readonly window: number;
}

/** A quota policy as declared. */
interface QuotaPolicyDeclaration {
  /** Default: the window. */
  readonly name?: string | undefined;
  /** 1 to a billion. */
  readonly requests: number;
  /** Whole seconds, or a duration such as `30s`, `1h` or `7d`. At most a year. */
  readonly window: Duration;
}

/**
 * A quota: one policy, or several which all apply; as text, `1000/1h` or `20/1s,1000/1h`. `none` means no limit.
 * @example { requests: 1000, window: '1h' }
 */
export type QuotaDeclaration = string | QuotaPolicyDeclaration | readonly QuotaPolicyDeclaration[];

/** The maximum number of policies of a quota. */
const maxPolicies = 8;
/** The maximum number of requests of a policy. */
const maxRequests = 1_000_000_000;
/** The longest window of a policy, in seconds: a year. */
const maxWindow = 31_536_000;
/** A policy as text: `1000/1h`. */
const policyForm = /^([0-9]{1,10})\/([0-9]{1,6}[a-z]{1,2})$/;
/** A policy within text, where spaces may surround it. */
const policyText = `\\s*${policyForm.source.slice(1, -1)}\\s*`;

const policyShape: Shape<QuotaPolicyDeclaration> = object({
  name: optional(
    text('name in the fields RateLimit and RateLimit-Policy; by default the window', {
      // A name that needs no escaping in a structured field.
      form: /^[A-Za-z0-9._-]{1,64}$/,
      expected: '1 to 64 characters of A-Z a-z 0-9 . _ -',
    }),
  ),
  requests: number({ min: 1, max: maxRequests, expected: `a whole number from 1 to ${maxRequests}` }),
  window: leaf(
    {
      description: 'seconds, or a duration such as 30s, 1h or 7d',
      anyOf: [
        { type: 'integer', minimum: 1, maximum: maxWindow },
        { type: 'string', minLength: 1 },
      ],
    },
    'whole seconds or such as 30s, 1h or 7d, up to 365d',
    isWindow,
  ),
});

/** Describes a quota. It is read as declared; `readQuota` returns its policies. */
export const quotaShape: Shape<QuotaDeclaration> = grammar(
  {
    description: 'how many requests are permitted in a time, such as 1000/1h; none: no limit',
    anyOf: [
      { type: 'string', pattern: `^(?:none|${policyText}(?:,${policyText}){0,${maxPolicies - 1}})$` },
      policyShape.schema,
      {
        type: 'array',
        items: { anyOf: [{ type: 'string', pattern: `^${policyText}$` }, policyShape.schema] },
        minItems: 1,
        maxItems: maxPolicies,
      },
    ],
  },
  'a quota',
  (value, what) => {
    checkQuota(value, what);
    return value;
  },
);

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
    typeof policy === 'string' ? readText(policy.trim(), what) : readPolicy(policy, what),
  );
  const names = new Set<string>();
  for (const { name } of policies) {
    if (names.has(name)) throw new RangeError(`${what} has two policies with the name ${name}`);
    names.add(name);
  }
  return policies;
}

/** Checks a quota. Throws RangeError as `readQuota` does. */
function checkQuota(value: unknown, what: string): asserts value is QuotaDeclaration {
  readQuota(value, what);
}

/** Returns a quota in the form of text, without spaces. Throws RangeError as `readQuota` does, also on another form. */
export function readQuotaText(value: unknown, what: string): string {
  const text = typeof value === 'string' ? value : '';
  readQuota(text, what);
  return text.replaceAll(' ', '');
}

function readText(text: string, what: string): QuotaPolicy {
  const [, requests = '', window = ''] = policyForm.exec(text) ?? [];
  if (window === '') throw new RangeError(`${what} must be such as 1000/1h, 20/1s,1000/1h or none`);
  return readPolicy({ requests: Number(requests), window }, what);
}

function readPolicy(value: unknown, what: string): QuotaPolicy {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${what} must be such as { "requests": 1000, "window": "1h" } or "1000/1h"`);
  const {
    requests,
    window,
    name = typeof window === 'number' ? `${window}s` : window,
  } = read(policyShape, value, what);
  return Object.freeze({ name, requests, window: countSeconds(window) });
}

/** Returns the seconds of a window, which need not be whole. */
function countSeconds(window: number | string): number {
  return typeof window === 'string' ? (parseDuration(window) ?? 0) / 1000 : window;
}

function isWindow(value: unknown): value is number | string {
  if (typeof value !== 'number' && typeof value !== 'string') return false;
  const seconds = countSeconds(value);
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= maxWindow;
}
