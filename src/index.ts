export { type Clock, type ManualClock, manualClock, systemClock } from './clock.ts';
export { type Collection, type CollectionDeclaration, defineCollection } from './declaration.ts';
export { type FieldLine, Fields } from './http/fields.ts';
export { createRequest, type Reply, type Request, type RequestParts } from './http/message.ts';
export { Problem, type ProblemMember, type ProblemParts } from './http/problem.ts';
export type { ProblemType } from './http/problem-types.ts';
export { IdentityError, type ServerIdentity } from './net/server-identity.ts';
export type { Principal } from './principal.ts';
export { bytes } from './representation/bytes.ts';
export type { Decoder } from './representation/decoder.ts';
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
export type { AccessEntry, Limits, ServiceOptions, UserOption } from './service-options.ts';
export { createMemoryStore } from './store/memory.ts';
export {
  type Applied,
  type Change,
  type Entry,
  type Page,
  type RecordValue,
  type Store,
  StoreError,
} from './store/store.ts';
