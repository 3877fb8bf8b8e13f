export type { Credentials } from './credentials.ts';
export type { SigningScheme } from './declarations.ts';
export { type SignedRequest, type SignRequestOptions, signRequest, signUrl } from './sign.ts';
export { type SignedFetchInit, signedFetch } from './signed-fetch.ts';
