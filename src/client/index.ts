export type { SignatureAlgorithm } from '../auth/account-key.ts';
export type { Scheme } from '../auth/defined/definition.ts';
export type {
  ApiKeyDeclaration,
  CredentialField,
  CredentialMember,
  CredentialParameter,
  PresetName,
  ResponseSigningDeclaration,
} from '../auth/scheme-declarations.ts';
export type { Clock } from '../clock.ts';
export type {
  Aws4Signing,
  HmacSigning,
  MessageSignatureKey,
  MessageSignaturesSigning,
  PresetSigning,
  SigningScheme,
} from './schemes/declarations.ts';
export type {
  SchemeSignCredentials,
  SchemeSignOptions,
  SignedRequest,
  SignOptions,
} from './sign.ts';
export { signRequest, signUrl } from './sign.ts';
export type { SchemeFetchInit, SignedFetchInit } from './signed-fetch.ts';
export { signedFetch } from './signed-fetch.ts';
