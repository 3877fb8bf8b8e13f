export type { GrantSelection } from './accounts/revocations.ts';
export type { KeyDeclaration, SignatureAlgorithm } from './auth/account-key.ts';
export type { AccountRecord, KnownPassword } from './auth/accounts.ts';
export { defineScheme } from './auth/defined/define-scheme.ts';
export type {
  CompleteCredentials,
  ParsedCredentials,
  PublicKeySchemeDefinition,
  Scheme,
  SchemeCredentials,
  SchemeDefinition,
  SchemeHeaders,
  SchemeMessagePart,
  SchemePartKind,
  SchemeRequest,
  SecretSchemeDefinition,
  SignedParts,
} from './auth/defined/definition.ts';
export type { QuotaDeclaration, QuotaPolicy, QuotaPolicyDeclaration } from './auth/quota/policy.ts';
export type { QuotaUse } from './auth/quota/quota.ts';
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
} from './auth/scheme-declarations.ts';
export type { AuthenticationTrace, TraceDetails } from './auth/trace.ts';
export { type Clock, createManualClock, type ManualClock, systemClock } from './clock.ts';
export type { AccessRules, CollectionMethod } from './collections/declaration.ts';
export { type Collection, type CollectionDeclaration, defineCollection } from './collections/declaration.ts';
export type { IdempotencyMode } from './collections/idempotency-key.ts';
export { CountersignError } from './countersign-error.ts';
export { readBytes } from './formats/bytes.ts';
export { type FieldLine, HttpHeaders } from './http/fields.ts';
export type { Body, Connection } from './http/message.ts';
export {
  createRequest,
  type HttpRequest,
  type RequestParts,
  type Response,
  type Response as Reply,
} from './http/message.ts';
export type { HttpMethod } from './http/method.ts';
export type { ForeignDocument, ProblemMember, ProblemOptions } from './http/problem.ts';
export type { ProblemType } from './http/problem-types.ts';
export { Problem } from './http/thrown-problem.ts';
export type { WireBreak, WireFault } from './http/wire-fault.ts';
export type { MaybePromise } from './maybe-promise.ts';
export { ListenError } from './net/listen-error.ts';
export { TlsError, type TlsIdentity } from './net/tls/identity.ts';
export type { ClientSecret, GrantType } from './oauth/clients.ts';
export type { Lifetimes } from './oauth/lifetimes.ts';
export type { RequestTrace } from './pipeline/call.ts';
export type { CorsCondition, JournalCors } from './pipeline/cors/cors.ts';
export type { CorsDeclaration, CorsOptions } from './pipeline/cors/policy.ts';
export type { Decoder } from './pipeline/decoder.ts';
export type { Next, Observer } from './pipeline/observer.ts';
export type { ActionResult } from './pipeline/resource.ts';
export {
  type Access,
  type Action,
  type ActionResponse,
  action,
  allow,
  type Call,
  type ContentReader,
  type DocumentFormat,
  json,
  type Parameters,
  type Representation,
  type Resource,
  type ResourceState,
  retryAction,
  text,
  type Variant,
  xml,
} from './pipeline/resource.ts';
export type { LentRights, NonceClaim, Principal, Scope } from './principal.ts';
export type { DeclarationCode } from './schema/error.ts';
export { DeclarationError } from './schema/error.ts';
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
} from './schema/field.ts';
export type { Pattern } from './schema/pattern/match.ts';
export type {
  Attribute,
  Content,
  ElementContent,
  Field,
  ListContent,
  Schema,
  Shape,
} from './schema/schema.ts';
export type { Simple, SimpleTypeName } from './schema/simple-type.ts';
export type { JsonSchema, OpenApiDocument, PathItem } from './service/openapi/document.ts';
export type {
  AccessLogEntry,
  ClientDeclaration,
  ConsumerDeclaration,
  HealthOptions,
  Limits,
  RegisteredBy,
  ServiceOptions,
  UserDeclaration,
} from './service/options.ts';
export type {
  ModuleResources,
  ModuleStore,
  ServerModule,
  ServerModuleFactory,
  ServerModuleOptions,
} from './service/server-module.ts';
export { createService, type Listener, type ListenOptions, type Service } from './service/service.ts';
export type { OAuth1Method } from './signature/oauth1.ts';
export type { CorruptionError, CorruptionLocation } from './store/corruption-error.ts';
export type { DocumentStore, StoredDocument } from './store/documents.ts';
export type { StoreHealth } from './store/durable.ts';
export type { DurableStore, DurableStoreOptions } from './store/durable-store.ts';
export { NonceRefusedError, StoreError } from './store/errors.ts';
export type { DirectoryError } from './store/files/directory.ts';
export type { ExposedFile, FilePermissionsError } from './store/files/file-permissions.ts';
export type { LockedError } from './store/files/lock.ts';
export type { MemorySnapshot, MemoryStore, MemoryStoreOptions } from './store/memory.ts';
export { createMemoryStore } from './store/memory.ts';
export type { NonceResult, NonceStore, ShareUsed } from './store/nonces/nonces.ts';
export type { NoncesLost } from './store/nonces/time.ts';
export { openDurableStore } from './store/open-durable-store.ts';
export type { NumberRange } from './store/state/reserved-ids.ts';
export type { CollectionNumbers } from './store/state/state.ts';
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
} from './store/store.ts';
export type {
  Transferable,
  TransferPart,
  TransferredCollection,
  TransferredItem,
  TransferredReceipt,
  TransferredStore,
} from './store/transfer.ts';
