export type { Clock } from '../clock.ts';
export type { SignOptions } from './sign.ts';
export { signRequest } from './sign.ts';
export type { SignedFetchInit } from './signed-fetch.ts';
export { signedFetch } from './signed-fetch.ts';
