/**
 * Nonces in Redis, for several processes on several hosts: `countersign/redis`.
 *
 * @module
 */

export type { RedisClient } from './client.ts';
export { createRedisNonceStore, initializeRedisNonceStore, type RedisNonceStoreOptions } from './nonces.ts';
