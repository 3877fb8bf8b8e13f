export type { KeyDeclaration } from './accounts/account-key.ts';
export type { OAuth1Method } from './accounts/oauth1-methods.ts';
export type { QuotaDeclaration } from './accounts/quota-policy.ts';
export type { SignatureAlgorithm } from './algorithms.ts';
export { type Clock, createManualClock, type DateLike, type ManualClock } from './clock.ts';
export {
  type AccessRules,
  type Collection,
  type CollectionDeclaration,
  defineCollection,
} from './collections/declaration.ts';
export { DeclarationError } from './collections/fields/error.ts';
export type { FieldDeclaration } from './collections/fields/field.ts';
export { readBytes } from './collections/formats/bytes.ts';
export { readJson } from './collections/formats/json/content-reader.ts';
export { CountersignError } from './countersign-error.ts';
export type { Duration } from './duration.ts';
export type { HeadersInput, RequestInput } from './http/field-lines.ts';
export type { HttpHeaders } from './http/fields.ts';
export type { HttpRequest } from './http/message.ts';
export type { HttpMethod } from './http/method.ts';
export type { ProblemOptions } from './http/problem.ts';
export type { ProblemType } from './http/problem-types.ts';
export type { MaybePromise } from './maybe-promise.ts';
export { ListenError } from './net/listen-error.ts';
export { TlsError, type TlsIdentity } from './net/tls/identity.ts';
export type { CorsDeclaration } from './pipeline/cors-policy.ts';
export {
  type Access,
  type Action,
  type ActionResponse,
  type ActionResult,
  action,
  type Call,
  type ContentReader,
  json,
  type Representation,
  type Resource,
  type ResourceState,
  retryAction,
  text,
  type Variant,
  xml,
} from './pipeline/resource.ts';
export { Problem } from './pipeline/thrown-problem.ts';
export type { Principal, Scope } from './principal.ts';
export { defineScheme } from './schemes/defined/define-scheme.ts';
export type {
  Scheme,
  SchemeCredentials,
  SchemeDefinition,
  SignedParts,
} from './schemes/defined/definition.ts';
export type {
  ApiKeyDeclaration,
  Aws4Declaration,
  HmacDeclaration,
  MessageSignaturesDeclaration,
  PresetDeclaration,
  SchemeDeclaration,
  SchemeDeclarations,
} from './schemes/scheme-declarations.ts';
export type { Fetch } from './service/fetch/fetch.ts';
export type { FetchInit } from './service/fetch/fetch-request.ts';
export type { OpenApiDocument } from './service/openapi/document.ts';
export type {
  AccessLogEntry,
  ClientDeclaration,
  ConsumerDeclaration,
  ServiceOptions,
  UserDeclaration,
} from './service/options.ts';
export type { ServerModule, ServerModuleFactory, ServerModuleOptions } from './service/server-module.ts';
export { createService, type Listener, type ListenOptions, type Service } from './service/service.ts';
export type { DocumentStore, StoredDocument } from './store/documents.ts';
export type { DurableStore, DurableStoreOptions } from './store/durable-store.ts';
export { StoreError } from './store/errors.ts';
export { createMemoryStore } from './store/memory.ts';
export type { NonceResult, NonceStore } from './store/nonces/nonces.ts';
export { openDurableStore } from './store/open-durable-store.ts';
export type {
  Store,
  StoreChange,
  StoredItem,
  StoredPage,
  StoredReceipt,
  StoredRecord,
  StoredValue,
  StoreResult,
  TransferPart,
} from './store/store.ts';
