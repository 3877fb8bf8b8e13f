export type { AttackRequest, Attempt } from './attempt.ts';
export { type AttemptOptions, createAttempts } from './create-attempts.ts';
export { type AttackOAuth1Options, attackOAuth1 } from './oauth/attack-oauth1.ts';
export { type AttackOAuth2Options, attackOAuth2 } from './oauth/attack-oauth2.ts';
export type { AttackReport, AttackResult } from './report.ts';
export { type AttackOptions, type AttackTarget, attack } from './run.ts';
export type { Signer, SigningChanges } from './signer.ts';
export { createSigner } from './signers.ts';
