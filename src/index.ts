export type { KnownPassword, UserDeclaration } from './auth/accounts.ts';
export type { Story, Told } from './auth/story.ts';
export { type Clock, type ManualClock, manualClock, systemClock } from './clock.ts';
export type { AccessDeclaration, CollectionMethod } from './declaration.ts';
export { type Collection, type CollectionDeclaration, defineCollection } from './declaration.ts';
export { type FieldLine, Fields } from './http/fields.ts';
export type { Body, Connection } from './http/message.ts';
export { createRequest, type Reply, type Request, type RequestParts } from './http/message.ts';
export type { Method } from './http/method.ts';
export type { ProblemMember, ProblemParts } from './http/problem.ts';
export type { ProblemType } from './http/problem-types.ts';
export { Problem } from './http/thrown-problem.ts';
export type { WireBreak, WireFault } from './http/wire-fault.ts';
export type { Known } from './judged-call.ts';
export { ListenError } from './net/listen-error.ts';
export { IdentityError, type ServerIdentity } from './net/server-identity.ts';
export type { ClientSecret, GrantType } from './oauth/clients.ts';
export type { Lifetimes } from './oauth/lifetimes.ts';
export type { Answer, Observer } from './observer.ts';
export type { HeldNonce, LentRights, Principal, Scope } from './principal.ts';
export { bytes } from './representation/bytes.ts';
export type { DeclarationCode } from './representation/declaration-error.ts';
export { DeclarationError } from './representation/declaration-error.ts';
export type { Decoder } from './representation/decoder.ts';
export type {
  AttributeDeclaration,
  BooleanDeclaration,
  CurrencyDeclaration,
  DecimalDeclaration,
  Declarations,
  ElementDeclaration,
  FieldDeclaration,
  IntegerDeclaration,
  ListDeclaration,
  SimpleDeclaration,
  TextDeclaration,
  TimeDeclaration,
} from './representation/field-declaration.ts';
export type { Pattern } from './representation/pattern.ts';
export type {
  Attribute,
  Content,
  ElementContent,
  Field,
  ListContent,
  Schema,
  Shape,
} from './representation/schema.ts';
export type { Simple, SimpleTypeName } from './representation/simple-type.ts';
export type { Done } from './resource.ts';
export {
  type Access,
  type Action,
  action,
  allow,
  type Call,
  changedMeanwhile,
  type Found,
  json,
  type Outcome,
  type Parameters,
  type Reading,
  type Representation,
  type Resource,
  text,
  type Variant,
  xml,
} from './resource.ts';
export { type Address, createService, type Listening, type Service } from './service.ts';
export type {
  AccessEntry,
  ClientOption,
  ConsumerOption,
  Limits,
  ServiceOptions,
  UserOption,
} from './service-options.ts';
export type { OAuth1Method } from './signature/oauth1.ts';
export type { Soon } from './soon.ts';
export type { NumberRange } from './store/chosen-ids.ts';
export type { MemorySnapshot, MemoryStore, MemoryStoreOptions } from './store/memory.ts';
export { createMemoryStore } from './store/memory.ts';
export type { Claimed, Nonces } from './store/nonces.ts';
export type { CollectionNumbers } from './store/state.ts';
export type { Creation, Deletion, KeptNonce, Replacement, Value } from './store/store.ts';
export {
  type Applied,
  type Change,
  type Entry,
  type Page,
  type RecordValue,
  type Store,
  StoreError,
} from './store/store.ts';
