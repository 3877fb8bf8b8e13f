export type { Clock } from '../clock.ts';
export type { SignedFetchInit, SignOptions } from './sign.ts';
export { signedFetch, signRequest } from './sign.ts';
