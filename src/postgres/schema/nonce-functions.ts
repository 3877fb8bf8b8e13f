import { dollarQuote } from './names.ts';
import { functionHead, lockKeys } from './tables.ts';

/**
 * The lock of the high-water mark. Claims share it until they are committed, so the mark is not advanced between the
 * comparison of a claim with it and the deletion of the row that the claim would have found.
 */
const markLock = 1;
/** The lock of the deletion of expired rows. */
const sweepLock = 2;
/** The time (ms) for which nonces are stored after they have expired by both clocks. */
const slack = 60_000;

/** Returns an expression for the keys of the lock of the high-water mark. */
export function formatMarkLock(schema: string): string {
  return lockKeys(schema, markLock);
}

/**
 * Returns the statements that create the functions of nonces.
 *
 * - `claim_nonces` claims nonces, in ascending order of their digests, so that claims never wait for each other in a
 *   circle. Returns the positions of those that were not stored before, from 1. If the call is repeated, the nonces that it
 *   has stored before are fresh.
 * - `advance_mark` raises the high-water mark. It uses the lower one of both clocks: if it used that of a host which is
 *   ahead, requests on other hosts would be refused.
 * - `sweep` deletes some expired rows. Returns whether there may be more.
 */
export function formatNonceFunctions(schema: string): string {
  return [
    `${functionHead(schema, 'claim_nonces(claims text, token bigint, repeated boolean, wait integer) RETURNS text')}${dollarQuote(`
DECLARE
  least_until bigint;
  fresh integer[];
BEGIN
  PERFORM set_config('lock_timeout', wait::text, true);
  PERFORM ${schema}.ensure_durable();
  PERFORM pg_advisory_xact_lock_shared(${lockKeys(schema, markLock)});
  SELECT mark INTO least_until FROM ${schema}.meta;
  WITH wanted AS MATERIALIZED (
    SELECT ord::integer, decode(claimed->>0, 'base64') AS digest, (claimed->>1)::bigint AS until
    FROM json_array_elements(claims::json) WITH ORDINALITY AS each(claimed, ord)
  ), made AS (
    INSERT INTO ${schema}.nonces (digest, until, claim)
    SELECT wanted.digest, wanted.until, token FROM wanted WHERE wanted.until >= least_until ORDER BY wanted.digest
    ON CONFLICT DO NOTHING
    RETURNING nonces.digest
  )
  SELECT array_agg(wanted.ord) INTO fresh FROM wanted JOIN made USING (digest);
  IF repeated THEN
    SELECT array_agg(ord::integer) INTO fresh
    FROM json_array_elements(claims::json) WITH ORDINALITY AS each(claimed, ord)
    JOIN ${schema}.nonces ON nonces.digest = decode(claimed->>0, 'base64') AND nonces.claim = token;
  END IF;
  RETURN array_to_json(coalesce(fresh, '{}'))::text;
END
`)}`,
    `${functionHead(schema, 'advance_mark(host_time bigint) RETURNS void')}${dollarQuote(`
DECLARE
  expired bigint := least(host_time, ${schema}.now_ms()) - ${slack};
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  PERFORM ${schema}.ensure_durable();
  IF expired <= (SELECT mark FROM ${schema}.meta) THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(${lockKeys(schema, markLock)});
  UPDATE ${schema}.meta SET mark = expired WHERE mark < expired;
END
`)}`,
    `${functionHead(schema, 'sweep(host_time bigint, most integer) RETURNS boolean')}${dollarQuote(`
DECLARE
  expired bigint := least(host_time, ${schema}.now_ms()) - ${slack};
  least_until bigint;
  deleted integer;
  more boolean;
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  IF NOT pg_try_advisory_xact_lock(${lockKeys(schema, sweepLock)}) THEN RETURN false; END IF;
  SELECT mark INTO least_until FROM ${schema}.meta;
  DELETE FROM ${schema}.nonces WHERE digest IN
    (SELECT digest FROM ${schema}.nonces WHERE until < least_until ORDER BY until LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  more := deleted >= most;
  DELETE FROM ${schema}.receipts WHERE key IN
    (SELECT key FROM ${schema}.receipts WHERE until <= expired ORDER BY until LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  more := more OR deleted >= most;
  DELETE FROM ${schema}.batches WHERE id IN
    (SELECT id FROM ${schema}.batches WHERE made < clock_timestamp() - interval '10 minutes'
     ORDER BY made LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN more OR deleted >= most;
END
`)}`,
  ].join(';\n');
}
