import { createHash } from 'node:crypto';
import { failed, type SendCommand } from './client.ts';

/** The reply to a claim. */
export interface ClaimReply {
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
export async function sendClaim(
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
export async function sendInitialization(send: SendCommand, prefix: string): Promise<boolean> {
  const reply = String(await send('EVAL', initializeScript, '1', markerKey(prefix)));
  if (reply !== 'created' && reply !== 'exists') throw failed('unexpected reply');
  return reply === 'created';
}

/** Returns the eviction policy of Redis; undefined if it cannot be read. */
export async function evictionPolicy(send: SendCommand): Promise<string | undefined> {
  const memory = String(await send('INFO', 'memory'));
  return /^maxmemory_policy:([a-z-]{1,40})\r?$/m.exec(memory)?.[1];
}
