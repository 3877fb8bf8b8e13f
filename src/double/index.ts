export type { KeyDeclaration, SignatureAlgorithm } from '../auth/account-key.ts';
export type { AccountRecord, KnownPassword } from '../auth/accounts.ts';
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
  DraftCavageDeclaration,
  HmacDeclaration,
  MessageSignaturesDeclaration,
  PresetDeclaration,
  PresetName,
  ResponseSigningDeclaration,
  SchemeDeclaration,
  SchemeDeclarations,
} from '../auth/scheme-declarations.ts';
export type { AuthenticationTrace, TraceDetails } from '../auth/trace.ts';
export type { SignedRequest } from '../client/sign.ts';
export type { Clock } from '../clock.ts';
export type {
  AccessRules,
  Collection,
  CollectionDeclaration,
  CollectionMethod,
} from '../collections/declaration.ts';
export type { IdempotencyMode } from '../collections/idempotency-key.ts';
export type { Seed } from '../collections/seed.ts';
export type { HeadersInput } from '../http/field-lines.ts';
export type { FieldLine, HttpHeaders } from '../http/fields.ts';
export type { Body, Connection, HttpRequest, Response } from '../http/message.ts';
export type { HttpMethod } from '../http/method.ts';
export type { ForeignDocument, ProblemMember, ProblemOptions } from '../http/problem.ts';
export type { ProblemType } from '../http/problem-types.ts';
export { Problem } from '../http/thrown-problem.ts';
export type { WireBreak, WireFault } from '../http/wire-fault.ts';
export type { MaybePromise } from '../maybe-promise.ts';
export { ListenError } from '../net/listen-error.ts';
export type { RequestListener } from '../net/request-listener.ts';
export type { ClientSecret, GrantType } from '../oauth/clients.ts';
export type { Lifetimes } from '../oauth/lifetimes.ts';
export type { Mechanism, TokenEvent, TokenKind } from '../oauth/records.ts';
export type { RequestTrace } from '../pipeline/call.ts';
export type { CorsCondition, JournalCors } from '../pipeline/cors/cors.ts';
export type { CorsDeclaration, CorsOptions } from '../pipeline/cors/policy.ts';
export type { Decoder } from '../pipeline/decoder.ts';
export type { Next, Observer } from '../pipeline/observer.ts';
export type {
  ActionResult,
  ContentReader,
  Parameters,
  Representation,
  ResourceState,
  Variant,
} from '../pipeline/resource.ts';
export {
  type Access,
  type Action,
  type ActionResponse,
  action,
  allow,
  type Call,
  type DocumentFormat,
  json,
  type Resource,
  text,
  xml,
} from '../pipeline/resource.ts';
export type { LentRights, NonceClaim, Principal, Scope } from '../principal.ts';
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
  AccessLogEntry,
  ClientDeclaration,
  ConsumerDeclaration,
  HealthOptions,
  Limits,
  RegisteredBy,
  UserDeclaration,
} from '../service/options.ts';
export type { OAuth1Method } from '../signature/oauth1.ts';
export { NonceRefusedError, StoreError } from '../store/errors.ts';
export type { NoncesLost } from '../store/nonces/lost.ts';
export type { NonceResult, NonceStore, ShareUsed } from '../store/nonces/nonces.ts';
export type {
  Creation,
  Deletion,
  Receipt,
  ReceiptCount,
  Replacement,
  Store,
  StoreChange,
  StoredItem,
  StoredPage,
  StoredReceipt,
  StoredRecord,
  StoredValue,
  StoreResult,
} from '../store/store.ts';
export type { DoubleAuth, Rotation } from './auth/auth-control.ts';
export type { Approval } from './auth/consent.ts';
export type { EndpointFailure, Endpoints } from './auth/endpoints.ts';
export type { DoubleOAuth1, IssuedOAuth1Token, OAuth1Endpoint, OAuth1TokenWish } from './auth/oauth1.ts';
export type { DoubleOAuth2, IssuedToken, IssueTokenOptions, OAuth2Endpoint } from './auth/oauth2.ts';
export type { TokenChoice, TokenFilter } from './auth/tokens.ts';
export type { ControlOptions, ControlServer } from './control/control.ts';
export { type Double, startDouble } from './double.ts';
export { DoubleError, type DoubleErrorCode } from './error.ts';
export type { DoubleEvent, EventOf } from './events.ts';
export type { Fault, FaultParts } from './faults/declaration.ts';
export type { DoubleFaults, PlannedFault } from './faults/faults.ts';
export type {
  FaultMatchParts,
  MatchedRequest,
  PlannedMatch,
  RequestMatch,
  TextsByName,
} from './faults/match.ts';
export type { AsOptions, ConfiguredAsOptions, ConfiguredSchemeOptions } from './fetch/as-options.ts';
export type { Fetch } from './fetch/fetch.ts';
export type { FetchInit, FetchInput } from './fetch/fetch-request.ts';
export type { SigningClient } from './fetch/signed-client.ts';
export { assertAccepted, assertRefused } from './journal/assertions.ts';
export type {
  EntrySummary,
  FirstDifference,
  JournalAuth,
  JournalEntry,
  JournalRequest,
  JournalResponse,
  RawEntry,
} from './journal/entry.ts';
export type { DoubleJournal, JournalOptions } from './journal/journal.ts';
export type { EntryMatch, EntryParts } from './journal/match.ts';
export type { Answer, RefusalMatch } from './journal/verdict.ts';
export { JournalTimeout, type WaitOptions } from './journal/waiting.ts';
export type { BarePath, Match, MatchMethod, MatchPath } from './match.ts';
export type { DoubleOptions } from './options.ts';
export type { OperationCoverage, PartnerCoverage } from './partner/coverage.ts';
export type { CompileSchema, SchemaValidator } from './partner/json-schema.ts';
export type { DoublePartner, RespondOptions } from './partner/partner.ts';
export {
  AccessMatrix,
  type AccessMatrixOptions,
  type AccessMatrixRow,
  AllowMatrixError,
} from './permission-matrix.ts';
export type { DoubleClock } from './state/clock.ts';
export type { KeyPair } from './state/generate-key.ts';
export type { DoubleSnapshot } from './state/state.ts';
export type { DoubleUser, DoubleUsersOption, UserCredentials } from './state/users.ts';
export type {
  Stub,
  StubHandler,
  StubMatch,
  StubOptions,
  StubRequest,
} from './stubs/declaration.ts';
export type { StubResponse } from './stubs/response.ts';
export type { RuleHandle } from './stubs/stubs.ts';
