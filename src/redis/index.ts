export type { Clock } from '../clock.ts';
export type { NoncesLost } from '../store/nonces/lost.ts';
export { StoreError } from '../store/store.ts';
export type { CallClient, RedisClient, SendCommandClient } from './client.ts';
export {
  createRedisNonces,
  initializeRedisNonces,
  type RedisNonces,
  type RedisNoncesOptions,
} from './nonces.ts';
