/**
 * A store on PostgreSQL, for several processes on several hosts: `countersign/postgres`.
 *
 * @module
 */

export type { PostgresClient } from './client.ts';
export { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts';
