import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { type Duration, readDuration, requireSeconds } from '../duration.ts';
import { membersOf, read } from '../shape/shape.ts';
import { emitWarning, StoreError } from '../store/errors.ts';
import type { NonceResult, NonceStore } from '../store/nonces/nonces.ts';
import { endOfLost, lostUntil } from '../store/nonces/time.ts';
import { createSender, failed, type RedisClient, type SendCommand } from './client.ts';

/** The options of `createRedisNonceStore`. All are optional. */
export interface RedisNonceStoreOptions {
  /** The start of all keys. Services with different users need different prefixes. Default: `countersign:`. */
  readonly prefix?: string | undefined;
  /** The `window` of the service, or a longer one: seconds, or text such as `10m`. Range: 1 s to a year. Default: 600. */
  readonly window?: Duration | undefined;
  /**
   * The maximum difference between the clocks of a host and of Redis, in seconds or as text. Beyond it, claims reject. Nonces are
   * stored this much longer. Range: 1 s to an hour. Default: 30.
   */
  readonly clockTolerance?: Duration | undefined;
  /** The time after which a claim without a reply rejects: ms, or text such as `5s`. Range: 1 ms to a minute. Default: 2000. */
  readonly timeout?: Duration | undefined;
  /** The clock of the service. Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /**
   * Called with one line for each loss of nonces, and at most once a minute while claims fail, the clocks differ by more
   * than a second, or Redis may evict keys. Default: `process.emitWarning`.
   */
  readonly onWarning?: ((line: string) => void) | undefined;
}

/** In seconds. */
const year = 31_536_000;
/** By how much (ms) `until` may exceed two windows: dates have whole seconds. */
const rounding = 2000;
/** The difference (ms) of the clocks from which it is reported. */
const reportedDifference = 1000;

/**
 * Creates nonces in Redis 6.2 or later, for services that share them. A claim is one round trip.
 *
 * A nonce is never `fresh` if it may have been claimed before. If Redis has lost keys, or may have (another process answers
 * after a restart or a failover, or the marker key is missing after FLUSHALL), all nonces are refused whose requests could
 * have been accepted before that, which takes one window. So does the first use, unless `initializeRedisNonceStore` was
 * called. Redis must not evict keys: set `maxmemory-policy` to `noeviction`.
 *
 * @throws RangeError for an invalid option, TypeError for a client without `sendCommand` and `call`
 * @example
 * const client = await createClient({ url: process.env.REDIS_URL }).on('error', console.error).connect();
 * const service = createService({ users, nonces: createRedisNonceStore(client) });
 */
export function createRedisNonceStore(client: RedisClient, options: RedisNonceStoreOptions = {}): NonceStore {
  return new NoncesInRedis(client, options);
}

/**
 * Prepares an empty Redis, so that the first nonces need not wait for a window. Does nothing if it was used before with
 * this prefix. Call it once, when Redis is installed and before a service uses it. Never call it at each start: after a
 * loss of data it would make replays possible. Resolves to whether Redis was prepared.
 */
export async function initializeRedisNonceStore(
  client: RedisClient,
  options: Pick<RedisNonceStoreOptions, 'prefix' | 'timeout'> = {},
): Promise<boolean> {
  const checked = readOptions(options);
  return sendInitialization(createSender(client, checked.timeout), checked.prefix);
}

class NoncesInRedis implements NonceStore {
  readonly window: number;
  /** In ms. */
  readonly #window: number;
  readonly #prefix: string;
  /** In ms. */
  readonly #tolerance: number;
  readonly #clock: Clock;
  readonly #send: SendCommand;
  readonly #report: Report;
  /** The time since which nonces are complete, by the latest reply. */
  #since: number | undefined;

  constructor(client: RedisClient, options: RedisNonceStoreOptions) {
    const { prefix, window, clockTolerance, timeout, clock, onWarning } = readOptions(options);
    this.window = window / 1000;
    this.#window = window;
    this.#prefix = prefix;
    this.#tolerance = clockTolerance;
    this.#clock = clock;
    this.#send = createSender(client, timeout);
    this.#report = createReporter(onWarning, clock);
  }

  async claim(user: string, nonce: string, until: number, now: number): Promise<NonceResult> {
    // A nonce whose time has passed would not be stored, and one without a time could never be dropped.
    if (!(until >= now && Number.isFinite(until) && Number.isFinite(now))) return 'seen';
    try {
      return await this.#claim(user, nonce, until, now);
    } catch (error) {
      if (error instanceof StoreError) this.#report('failure', error.message);
      throw error;
    }
  }

  async #claim(user: string, nonce: string, until: number, now: number): Promise<NonceResult> {
    // After a loss of data, such a nonce would have to be refused for longer than one window.
    if (until > now + 2 * this.#window + rounding)
      throw failed('a nonce would be stored for more than twice the option `window`');
    const before = this.#clock.now();
    const expiry = Math.ceil(until) + this.#tolerance;
    const reply = await sendClaim(this.#send, this.#prefix, user, nonce, expiry);
    this.#reportDifference(reply.time, before, this.#clock.now());
    if (Math.abs(reply.time - now) > this.#tolerance)
      throw failed('its clock differs too much from that of this host');
    if (reply.since !== this.#since) this.#noteSince(reply);
    if (!reply.isNew) return 'seen';
    const end = this.#endOfLost(reply.since);
    return until < end ? lostUntil(end, until, now) : 'fresh';
  }

  /**
   * Returns the first `until` (ms) that no lost nonce can have. The clock of the host of a request before `since` may have been ahead
   * of that of Redis, and that of the former Redis ahead of this one, by the tolerance each.
   */
  #endOfLost(since: number): number {
    return since === 0 ? 0 : endOfLost(since, this.#window + this.#tolerance);
  }

  #noteSince({ since, time }: ClaimReply): void {
    this.#since = since;
    void this.#checkEviction();
    // Dates of the present are accepted one window before those of the future.
    const end = this.#endOfLost(since) - this.#window;
    if (end <= time) return;
    const where = `Redis is new, was restarted, or has lost the nonces with the prefix ${this.#prefix}`;
    this.#report(
      `loss ${since}`,
      `${where}: signed requests are refused until ${new Date(end).toISOString()}.`,
    );
  }

  async #checkEviction(): Promise<void> {
    // Redis may not permit the command. Then nothing is known.
    const policy = await evictionPolicy(this.#send).catch(() => undefined);
    if (policy === undefined || policy === 'noeviction') return;
    this.#report(
      'eviction',
      `Redis may evict nonces: its maxmemory-policy is ${policy}, and must be noeviction.`,
    );
  }

  #reportDifference(time: number, before: number, after: number): void {
    const difference = time > after ? time - after : Math.min(0, time - before);
    if (Math.abs(difference) <= reportedDifference) return;
    const direction = difference > 0 ? 'ahead of' : 'behind';
    const seconds = (Math.abs(difference) / 1000).toFixed(1);
    this.#report('clock', `The clock of Redis is ${seconds} s ${direction} that of this host.`);
  }
}

/** The options with their defaults; durations in ms. */
type ReadOptions = {
  readonly [Name in keyof RedisNonceStoreOptions]-?: NonNullable<RedisNonceStoreOptions[Name]>;
} & Readonly<Record<'window' | 'clockTolerance' | 'timeout', number>>;

// A caller in JavaScript can pass any value, and an invalid one must not weaken a check.
/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<keyof RedisNonceStoreOptions, true>> = {
  prefix: true,
  window: true,
  clockTolerance: true,
  timeout: true,
  clock: true,
  onWarning: true,
};

function readOptions(options: RedisNonceStoreOptions): ReadOptions {
  read(membersOf(Object.keys(optionNames)), options, { optionsOf: 'nonces in Redis' });
  const { prefix = 'countersign:', window = 600, clockTolerance = 30, timeout = 2000 } = options;
  const { clock = systemClock, onWarning = emitWarning } = options;
  if (typeof prefix !== 'string') throw new RangeError('prefix is not a string');
  return {
    prefix,
    window: requireSeconds(window, 'window', 1, year),
    clockTolerance: requireSeconds(clockTolerance, 'clockTolerance', 1, 3600),
    timeout: requireTimeout(timeout),
    clock,
    onWarning,
  };
}

function requireTimeout(timeout: unknown): number {
  const length = readDuration(timeout, 1);
  if (length !== undefined && length >= 1 && length <= 60_000) return length;
  throw new RangeError("timeout is not a number of milliseconds from 1 to 60000, or text such as '5s'");
}

/** The reply to a claim. */
interface ClaimReply {
  /** Whether the key of the nonce did not exist. */
  readonly isNew: boolean;
  /** The time of Redis (ms) since which no nonce was lost; 0 if none was ever claimed before. */
  readonly since: number;
  /** The time of Redis (ms). */
  readonly time: number;
}

/*
 * The marker contains the run id of the Redis process and the time since which nonces are complete. It is missing after
 * FLUSHALL, or after a start without data. It names another process after a restart or a failover, which may have lost
 * the latest keys. Both are checked in the same atomic step that claims the nonce.
 */
const readMarker = `
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not run then return redis.error_reply('NORUNID INFO has no run_id') end
local found = redis.call('GET', KEYS[1])
local known, since = string.match(found or '', '^(%w+) (%d+)$')
`;

const claimScript = `${readMarker}
local seconds, microseconds = unpack(redis.call('TIME'))
local time = string.format('%.0f', seconds * 1000 + math.floor(microseconds / 1000))
if known ~= run then
  since = time
  redis.call('SET', KEYS[1], run .. ' ' .. since)
end
local made = redis.call('SET', KEYS[2], '1', 'NX', 'PXAT', ARGV[1])
return (made and 'fresh ' or 'seen ') .. since .. ' ' .. time
`;

const initializeScript = `${readMarker}
if found then return 'exists' end
redis.call('SET', KEYS[1], run .. ' 0')
return 'created'
`;

/** Returns the key of the marker. No nonce has it, because the key of a nonce is longer. */
function markerKey(prefix: string): string {
  return `${prefix}since`;
}

/** Returns the key of a nonce. JSON makes the pair unambiguous, with lone surrogates too (ECMA-262 §25.5.2.3). */
function nonceKey(prefix: string, user: string, nonce: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([user, nonce]))
    .digest('base64url');
  return `${prefix}${digest}`;
}

/**
 * Claims a nonce.
 *
 * @param expiry the time (ms) until which it is stored, by the clock of Redis
 */
async function sendClaim(
  send: SendCommand,
  prefix: string,
  user: string,
  nonce: string,
  expiry: number,
): Promise<ClaimReply> {
  const keys = [markerKey(prefix), nonceKey(prefix, user, nonce)];
  const reply = String(await send('EVAL', claimScript, '2', ...keys, String(expiry)));
  const [, result, since, time] = /^(fresh|seen) (\d{1,15}) (\d{1,15})$/.exec(reply) ?? [];
  if (result === undefined) throw failed('unexpected reply');
  return { isNew: result === 'fresh', since: Number(since), time: Number(time) };
}

/** Creates the marker if there is none, so that all nonces are taken as complete. Resolves to whether there was none. */
async function sendInitialization(send: SendCommand, prefix: string): Promise<boolean> {
  const reply = String(await send('EVAL', initializeScript, '1', markerKey(prefix)));
  if (reply !== 'created' && reply !== 'exists') throw failed('unexpected reply');
  return reply === 'created';
}

/** Returns the eviction policy of Redis; undefined if it cannot be read. */
async function evictionPolicy(send: SendCommand): Promise<string | undefined> {
  const memory = String(await send('INFO', 'memory'));
  return /^maxmemory_policy:([a-z-]{1,40})\r?$/m.exec(memory)?.[1];
}

/** The minimum time (ms) between two reports of one kind. */
const interval = 60_000;

/** Reports a line of a kind, at most once a minute. */
type Report = (kind: string, line: string) => void;

/** Creates a function that reports lines. */
function createReporter(onWarning: (line: string) => void, clock: Clock): Report {
  const last = new Map<string, number>();
  return (kind, line) => {
    const now = clock.steady();
    const before = last.get(kind);
    if (before !== undefined && now - before < interval) return;
    last.set(kind, now);
    onWarning(line);
  };
}
