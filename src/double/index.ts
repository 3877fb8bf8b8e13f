/** Attacks on a server are exported by `countersign/attack`. Their exports here are deprecated. */
export {
  /** @deprecated Import it from `countersign/attack`. */
  type AdversaryOptions,
  /** @deprecated Import it from `countersign/attack`. */
  type AttackOptions,
  /** @deprecated Import it from `countersign/attack`. */
  type AttackReport,
  /** @deprecated Import it from `countersign/attack`. */
  type AttackResult,
  /** @deprecated Import it from `countersign/attack`. */
  type AttackTarget,
  /** @deprecated Import it from `countersign/attack`. */
  type AttackVerdict,
  /** @deprecated Import it from `countersign/attack`. */
  type Attempt,
  /** @deprecated Import it from `countersign/attack`. */
  adversary,
  /** @deprecated Import it from `countersign/attack`. */
  attack,
  /** @deprecated Import it from `countersign/attack`. */
  basicSigner,
  /** @deprecated Import it from `countersign/attack`. */
  bearerSigner,
  /** @deprecated Import it from `countersign/attack`. */
  type GoodRequest,
  /** @deprecated Import it from `countersign/attack`. */
  type HeaderLine,
  /** @deprecated Import it from `countersign/attack`. */
  type HmacSignerOptions,
  /** @deprecated Import it from `countersign/attack`. */
  hmacSigner,
  /** @deprecated Import it from `countersign/attack`. */
  type OutgoingRequest,
  /** @deprecated Import it from `countersign/attack`. */
  oauth1Signer,
  /** @deprecated Import it from `countersign/attack`. */
  type RequestSigner,
  /** @deprecated Import it from `countersign/attack`. */
  type SigningChanges,
  /** @deprecated Import it from `countersign/attack`. */
  type Transport,
} from '../attack/index.ts';
export type { AsymmetricAlgorithm, KeyDeclaration } from '../auth/account-key.ts';
export type { KnownPassword, UserDeclaration } from '../auth/accounts.ts';
export type { Scheme } from '../auth/defined/definition.ts';
export type { MessagePart } from '../auth/explanation.ts';
export type { QuotaDeclaration, QuotaPolicy, QuotaPolicyDeclaration } from '../auth/quota/policy.ts';
export type { QuotaUse } from '../auth/quota/quota.ts';
export type {
  ApiKeyDeclaration,
  Aws4Declaration,
  CredentialField,
  CredentialMember,
  CredentialParameter,
  DeclaredHmacDeclaration,
  DraftCavageDeclaration,
  MessageSignaturesDeclaration,
  PresetDeclaration,
  PresetName,
  ResponseSigningDeclaration,
  SchemeDeclaration,
  SchemeDeclarations,
} from '../auth/scheme-declarations.ts';
export type { AuthenticationTrace, TraceDetails } from '../auth/trace.ts';
export type { HeaderFields, SignedUrl } from '../client/sign.ts';
export type { Clock } from '../clock.ts';
export type {
  AccessDeclaration,
  Collection,
  CollectionDeclaration,
  CollectionMethod,
} from '../collections/declaration.ts';
export type { IdempotencyMode } from '../collections/idempotency-key.ts';
export type { Seed } from '../collections/seed.ts';
export type { FieldLine, Fields } from '../http/fields.ts';
export type { Body, Connection, Request, Response } from '../http/message.ts';
export type { Method } from '../http/method.ts';
export type { ForeignDocument, ProblemMember, ProblemParts } from '../http/problem.ts';
export type { ProblemType } from '../http/problem-types.ts';
export { Problem } from '../http/thrown-problem.ts';
export type { WireBreak, WireFault } from '../http/wire-fault.ts';
export type { MaybePromise } from '../maybe-promise.ts';
export { ListenError } from '../net/listen-error.ts';
export type { RequestListener } from '../net/request-listener.ts';
export type { ClientSecret, GrantType } from '../oauth/clients.ts';
export type { Lifetimes } from '../oauth/lifetimes.ts';
export type { GrantEvent, Mechanism, TokenKind } from '../oauth/records.ts';
export type { RequestTrace } from '../pipeline/call.ts';
export type { CorsCheck, CorsCondition } from '../pipeline/cors/cors.ts';
export type { CorsDeclaration, CorsOptions } from '../pipeline/cors/policy.ts';
export type { Decoder } from '../pipeline/decoder.ts';
export type { Next, Observer } from '../pipeline/observer.ts';
export type { Done, Found, Parameters, Reading, Representation, Variant } from '../pipeline/resource.ts';
export {
  type Access,
  type Action,
  action,
  allow,
  type Call,
  type DocumentFormat,
  json,
  type Outcome,
  type Resource,
  text,
  xml,
} from '../pipeline/resource.ts';
export type { HeldNonce, LentRights, Principal, Scope } from '../principal.ts';
export type { DeclarationCode } from '../schema/error.ts';
export { DeclarationError } from '../schema/error.ts';
export type {
  AttributeDeclaration,
  BooleanDeclaration,
  CurrencyDeclaration,
  DecimalDeclaration,
  Declarations,
  ElementDeclaration,
  FieldDeclaration,
  IntegerDeclaration,
  JsonDeclaration,
  ListDeclaration,
  SimpleDeclaration,
  TextDeclaration,
  TimeDeclaration,
} from '../schema/field.ts';
export type { Pattern } from '../schema/pattern/match.ts';
export type {
  Attribute,
  Content,
  ElementContent,
  Field,
  ListContent,
  Schema,
  Shape,
} from '../schema/schema.ts';
export type { Simple, SimpleTypeName } from '../schema/simple-type.ts';
export type { JsonSchema, OpenApiDocument, PathItem } from '../service/openapi/document.ts';
export type {
  AccessEntry,
  ClientOption,
  ConsumerOption,
  HealthOptions,
  Limits,
  RegisteredBy,
  UserOption,
} from '../service/options.ts';
export type { OAuth1Method } from '../signature/oauth1.ts';
export type { NoncesLost } from '../store/nonces/lost.ts';
export type { Claimed, Nonces, ShareUsed } from '../store/nonces/nonces.ts';
export type {
  Applied,
  Change,
  Creation,
  Deletion,
  Entry,
  Page,
  Receipt,
  ReceiptCount,
  ReceiptedChange,
  RecordValue,
  Replacement,
  Store,
  StoredNonce,
  Value,
} from '../store/store.ts';
export { NonceRefusedError, StoreError } from '../store/store.ts';
export type { AuthControl, Rotation } from './auth/auth-control.ts';
export type { Approval } from './auth/consent.ts';
export type { EndpointFailure, Endpoints } from './auth/endpoints.ts';
export type { OAuth1Control, OAuth1Endpoint, OAuth1IssuedToken, OAuth1TokenWish } from './auth/oauth1.ts';
export type { IssuedToken, OAuth2Control, OAuth2Endpoint, TokenWish } from './auth/oauth2.ts';
export type { TokenChoice, TokenFilter } from './auth/tokens.ts';
export type { Control, ControlOptions } from './control/control.ts';
export { type Double, startDouble } from './double.ts';
export { DoubleError, type DoubleErrorCode } from './error.ts';
export type { DoubleEvent, EventOf } from './events.ts';
export type { Fault, FaultParts } from './faults/declaration.ts';
export type { Faults, PlannedFault } from './faults/faults.ts';
export type {
  FaultMatch,
  FaultMatchParts,
  MatchedRequest,
  PlannedMatch,
  TextsByName,
} from './faults/match.ts';
export type { AsOptions, ConfiguredAsOptions, ConfiguredSchemeOptions } from './fetch/as-options.ts';
export type { Fetch } from './fetch/fetch.ts';
export type { FetchInit, FetchInput } from './fetch/fetch-request.ts';
export type { Signer } from './fetch/signed-client.ts';
export { assertAccepted, assertRefused } from './journal/assertions.ts';
export type {
  EntrySummary,
  FirstDifference,
  JournalEntry,
  RawEntry,
  ShownReply,
  ShownRequest,
  ShownStory,
} from './journal/entry.ts';
export type { Journal, JournalOptions } from './journal/journal.ts';
export type { EntryMatch, EntryParts } from './journal/match.ts';
export type { Answer, RefusalMatch } from './journal/verdict.ts';
export { JournalTimeout, type WaitOptions } from './journal/waiting.ts';
export type { BarePath, Match, MatchMethod, MatchPath } from './match.ts';
export type { DoubleOptions } from './options.ts';
export type { OperationCoverage, PartnerCoverage } from './partner/coverage.ts';
export type { CompileSchema, SchemaValidator } from './partner/json-schema.ts';
export type { DoublePartner, RespondOptions } from './partner/partner.ts';
export {
  AllowMatrix,
  AllowMatrixError,
  type AllowMatrixOptions,
  type AllowMatrixRow,
} from './permission-matrix.ts';
export type { DoubleClock, Duration, Moment } from './state/clock.ts';
export type { GeneratedKey } from './state/generate-key.ts';
export type { DoubleSnapshot } from './state/state.ts';
export type { Credentials, DoubleUser, DoubleUsersOption } from './state/users.ts';
export type {
  Stub,
  StubHandler,
  StubMatch,
  StubOptions,
  StubRequest,
} from './stubs/declaration.ts';
export type { StubResponse } from './stubs/response.ts';
export type { RuleHandle } from './stubs/stubs.ts';
