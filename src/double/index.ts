export type { CollectionDeclaration } from '../declaration.ts';
export { Problem } from '../http/problem.ts';
export type { RequestListener } from '../net/request-listener.ts';
export {
  type Access,
  type Action,
  action,
  allow,
  type Call,
  json,
  type Outcome,
  type Resource,
  text,
  xml,
} from '../resource.ts';
export type { Seed } from '../seed.ts';
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
export {
  AllowMatrix,
  AllowMatrixError,
  type AllowMatrixOptions,
  type AllowMatrixRow,
} from './allow-matrix.ts';
export type { Approval } from './approval.ts';
export type { AsOptions, Signer } from './as.ts';
export type { AuthControl, Rotation } from './auth.ts';
export type { DoubleClock, Duration, Moment } from './clock.ts';
export type { Control, ControlOptions } from './control.ts';
export { type Double, startDouble } from './double.ts';
export type { EndpointFailure, Endpoints } from './endpoints.ts';
export type { DoubleEvent, EventOf } from './events.ts';
export type { Faults, PlannedFault } from './faults.ts';
export type { Fault } from './faults-declaration.ts';
export type { Fetch } from './fetch.ts';
export type { Journal } from './journal.ts';
export type {
  FirstDifference,
  JournalEntry,
  RawEntry,
  ShownReply,
  ShownRequest,
  ShownStory,
} from './journal-entry.ts';
export type { EntryMatch, EntryParts } from './journal-match.ts';
export { JournalTimeout, type WaitOptions } from './journal-waiting.ts';
export type { Match } from './match.ts';
export type { OAuth1Control, OAuth1Endpoint, OAuth1IssuedToken, OAuth1TokenWish } from './oauth1.ts';
export type { IssuedToken, OAuth2Control, OAuth2Endpoint, TokenWish } from './oauth2.ts';
export type { DoubleOptions } from './options.ts';
export type { FetchInit, FetchInput } from './outgoing.ts';
export type { DoubleSnapshot } from './state.ts';
export type { TokenChoice, TokenFilter } from './tokens.ts';
export type { Credentials, DoubleUser, DoubleUsersOption } from './users.ts';
