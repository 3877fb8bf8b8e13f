export type { Scheme } from '../auth/defined/definition.ts';
export type {
  ApiKeyDeclaration,
  CredentialField,
  CredentialMember,
  CredentialParameter,
  DraftCavageDeclaration,
  HmacDeclaration,
  PresetDeclaration,
  PresetName,
} from '../auth/scheme-declarations.ts';
export type { Clock } from '../clock.ts';
export type { PublicKeyAlgorithm } from '../signature/message-signatures/algorithms.ts';
export type {
  StructuredFieldType,
  StructuredFieldTypes,
} from '../signature/message-signatures/structured-field-types.ts';
export {
  type ApiKeySignerOptions,
  type AttackOptions,
  type AttackReport,
  type AttackRequest,
  type AttackResult,
  type AttackTarget,
  type AttackVerdict,
  type Attempt,
  type AttemptOptions,
  type Aws4SignerOptions,
  apiKeySigner,
  aws4Signer,
  type CredentialPlace,
  type DeclaredSignerOptions,
  type DefinedSignerOptions,
  declaredSigner,
  definedSigner,
  draftCavageSigner,
  type HeaderLine,
  type HmacSignerOptions,
  type MessageAlgorithm,
  type MessageKey,
  type MessageSignaturesSignerOptions,
  messageSignaturesSigner,
  type SignedFields,
  type SignedQuery,
  type Signer,
  type SignerTraits,
  type SigningChanges,
  type Transport,
} from './adversary.ts';
export { attack, basicSigner, bearerSigner, createAttempts, hmacSigner, oauth1Signer } from './deferred.ts';
export { type AttackOAuth2Options, attackOAuth2 } from './oauth/adversary.ts';
export type { AuthorizationServerMetadata, OAuthClient } from './oauth/flow.ts';
export { type AttackOAuth1Options, attackOAuth1 } from './oauth/oauth1-adversary.ts';
export type { OAuth1Consumer, OAuth1Endpoints } from './oauth/oauth1-flow.ts';
export type { OAuthReport, OAuthResult } from './oauth/report.ts';
export type { ConnectionOptions } from './oauth/sender.ts';
export type { Outcome, Report } from './report.ts';
