export type { Clock } from '../clock.ts';
export { StoreError } from '../store/errors.ts';
export type { NoncesLost } from '../store/nonces/time.ts';
export type { CallClient, RedisClient, SendCommandClient } from './client.ts';
export {
  createRedisNonceStore,
  initializeRedisNonceStore,
  type RedisNonceStoreOptions,
  type RedisNonces,
} from './nonces.ts';
