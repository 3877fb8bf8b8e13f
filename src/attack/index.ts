export type { OAuth1Signing } from '../client/oauth1.ts';
export type { Clock } from '../clock.ts';
export {
  type AdversaryOptions,
  type AttackOptions,
  type AttackReport,
  type AttackResult,
  type AttackTarget,
  type AttackVerdict,
  type Attempt,
  adversary,
  attack,
  basicSigner,
  bearerSigner,
  type GoodRequest,
  type HeaderLine,
  type HmacSignerOptions,
  hmacSigner,
  type OutgoingRequest,
  oauth1Signer,
  type RequestSigner,
  type SigningChanges,
  type Transport,
} from './adversary.ts';
export { type OAuthAdversaryOptions, oauthAdversary } from './oauth/adversary.ts';
export type { AuthorizationServerMetadata, OAuthClient } from './oauth/flow.ts';
export { type OAuth1AdversaryOptions, oauth1Adversary } from './oauth/oauth1-adversary.ts';
export type { OAuth1Consumer, OAuth1Endpoints } from './oauth/oauth1-flow.ts';
export type { OAuthReport, OAuthResult } from './oauth/report.ts';
export type { ConnectionOptions } from './oauth/sender.ts';
export type { Outcome, Report } from './report.ts';
