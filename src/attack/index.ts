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
} from '../double/adversary.ts';
export type { OAuth1Signing } from '../double/oauth1-header.ts';
