// The document of a partner as a part of a double: routes that are asked after all others, the check of what stubs receive and send,
// and what a test controls.

import { findClosestMatch } from '../../did-you-mean.ts';
import { formType, parseMediaType } from '../../http/headers/media-type.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { parseTarget } from '../../http/target.ts';
import { andThen } from '../../maybe-promise.ts';
import type { Observer } from '../../pipeline/observer.ts';
import {
  type Action,
  action,
  type Call,
  type ContentReader,
  listFurtherMethods,
  type Resource,
} from '../../pipeline/resource.ts';
import type { Match, RouteLayer, Router } from '../../pipeline/router.ts';
import type { Scope } from '../../principal.ts';
import type { SchemeDeclarations } from '../../schemes/scheme-declarations.ts';
import { read, text } from '../../shape/shape.ts';
import type { DoubleOptions } from '../options.ts';
import type { MatchedRequests, RuleHandle } from '../rules.ts';
import type { Snapshottable } from '../state/state.ts';
import { createAnyReader } from '../stubs/content.ts';
import type { StubResponse } from '../stubs/response.ts';
import type { StubCheck } from '../stubs/stubs.ts';
import { Answers, type ChosenSnapshot, type RespondOptions } from './answers.ts';
import { createCoverage, type PartnerCoverage } from './coverage.ts';
import {
  type FaultyOperation,
  named,
  type Operation,
  type PartnerDocument,
  readDocument,
} from './document.ts';
import { listCandidates, OperationSearch } from './operation-search.ts';
import { ReceivedParameters } from './received.ts';
import { createRequestCheck, type RequestCheck } from './request-check.ts';
import { createResponses, examineResponses } from './responses.ts';
import { createChecker } from './schema-check.ts';
import { type NeededClient, type PartnerSecurity, readSecurity } from './security.ts';
import { readPartnerOptions, type Validations } from './validation.ts';

/** Controls the responses of the partner's document. */
export interface DoublePartner {
  /**
   * Chooses the response of an operation to further requests, or to those that `match` selects. The last choice wins.
   * @param operationId the operationId or, without one, method and path: `GET /orders`
   * @param response a status of the document, or a response; what the document does not allow is reported when it is sent
   * @throws RangeError if there is no such operation, or the document has no response of this status
   * @example double.partner.respond('createOrder', 409, { times: 1 });
   * @example double.partner.respond('createOrder', 409, { match: { body: { sku: 'tea' } } });
   */
  respond(operationId: string, response: number | StubResponse, options?: RespondOptions): RuleHandle;
  /**
   * Returns which operations, statuses and parameters were used since the double started. `reset` and `restore` keep the counts,
   * because they are about a whole test suite.
   * @example console.log(String(double.partner.coverage()));
   */
  coverage(): PartnerCoverage;
  /** The mistakes of the document, each with its place. The operations that they concern answer 501. */
  readonly faults: readonly string[];
}

/** A document that has been read, before there is a double. */
interface ReadPartner {
  readonly document: PartnerDocument;
  readonly security: PartnerSecurity;
  readonly validation: Validations;
  readonly dynamic: boolean;
  readonly errors: 'partner' | 'problem';
}

/** What the document needs of its double. */
export interface PartnerContext {
  readonly seed: string;
  /** Returns the time in ms. */
  readonly now: () => number;
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
  /** Whether unknown parameters of a query are refused. */
  readonly strictQuery: boolean;
  /** Returns whether a parameter of a query belongs to credentials. */
  readonly isCredential: (name: string) => boolean;
  readonly onError: ((error: unknown) => void) | undefined;
  /** Compares requests with the matches of responses that a test chose. */
  readonly requests: MatchedRequests;
}

interface PartnerRecord {
  readonly rules: ChosenSnapshot;
  readonly drawn: number;
}

/** The document as a part of a double. */
export interface PartnerPart extends Snapshottable<PartnerRecord>, StubCheck {
  /** The routes of the document, which are asked after all others. */
  readonly fallback: RouteLayer;
  readonly control: DoublePartner;
  /** The schemes that verify what the document declares, by its names. */
  readonly schemeNames: ReadonlyMap<string, string>;
  /** Removes the responses that a test chose. */
  clearResponses(): void;
  /** Wraps an observer so that requests are counted. */
  observe(observer: Observer): Observer;
}

/** The document of a partner that has been read. */
export interface PreparedPartner {
  /** The scopes that the document names. */
  readonly scopes: readonly Scope[];
  /** The number of operations. */
  readonly operations: number;
  /** What is not verified or cannot be sent as the document says, one sentence each. Creates every response once. */
  examine(): readonly string[];
  /** The mistakes of the document, with their places. */
  readonly faults: readonly string[];
  /** Why no request can be accepted by some operations, one sentence each. */
  readonly unreachable: readonly string[];
  /** The client whose registration lets requests be accepted; undefined if none is missing. */
  readonly neededClient: NeededClient | undefined;
  create(context: PartnerContext): PartnerPart;
}

/** The options of a double that the document completes. */
type CompletedOptions = Pick<DoubleOptions, 'schemes' | 'collections' | 'clients' | 'oauth2'>;

/**
 * Reads the document of a partner. Returns the options with the schemes that it declares, and what creates its part of a double.
 * @throws DeclarationError that names the place in the document
 */
export async function withPartner<Options extends CompletedOptions>(
  options: Options,
  partner: string | object,
): Promise<{
  readonly options: Options & { readonly schemes: SchemeDeclarations };
  readonly prepared: PreparedPartner;
}> {
  const { schemes, collections = {}, clients, oauth2 } = options;
  const { source: place, validation, strict, dynamic, errors } = readPartnerOptions(partner);
  const read = await readDocument(place);
  const security = readSecurity(read, {
    schemes,
    hasClients: clients !== undefined,
    paths: oauth2?.paths,
  });
  const document = withoutFaulty(read, security.faults);
  const [fault] = document.faults;
  if (strict && fault !== undefined)
    named(place, () => {
      throw fault;
    });
  return {
    options: { ...options, schemes: security.schemes, collections },
    prepared: {
      scopes: security.scopes,
      operations: document.operations.length,
      faults: document.faults.map(({ message }) => message),
      unreachable: security.unreachable,
      neededClient: security.neededClient,
      examine: () => [...security.warnings, ...document.examinePatterns(), ...examineResponses(document)],
      create(context) {
        for (const fault of document.faults) context.onError?.(fault);
        return createPartner({ document, security, validation, dynamic, errors }, context);
      },
    },
  };
}

/** Moves operations whose credentials cannot be verified to the faulty ones. */
function withoutFaulty(document: PartnerDocument, faults: PartnerSecurity['faults']): PartnerDocument {
  const unverified = [...faults].map(([{ method, key, path, query }, fault]) => ({
    method,
    key,
    path,
    query,
    fault,
  }));
  const further = new Map(unverified.map(({ fault }) => [fault.message, fault]));
  return {
    ...document,
    operations: document.operations.filter((operation) => !faults.has(operation)),
    faulty: [...document.faulty, ...unverified],
    faults: [...document.faults, ...further.values()],
  };
}

/** Creates the part of a double that answers as the document describes. */
function createPartner(
  { document, security, validation, dynamic, errors }: ReadPartner,
  context: PartnerContext,
): PartnerPart {
  const checker = createChecker(document);
  const draws = { count: 0 };
  const next = (): number => ++draws.count;
  const { seed, now, maxDepth } = context;
  const responses = createResponses({ document, checker, seed, dynamic, now, next });
  const requests = createRequestCheck({ document, checker, context });
  const search = new OperationSearch(document, requests);
  const answers = new Answers({ requests, responses, validation, context });
  const resources = createResources({ document, security, answers, requests, errors, maxDepth });
  const coverage = createCoverage(document.operations);
  return {
    fallback: createFallback(search, resources, security),
    control: {
      respond: (operationId, response, options = {}) =>
        answers.choose(findNamed(document, operationId), response, options),
      coverage: () => coverage.read(),
      faults: document.faults.map(({ message }) => message),
    },
    schemeNames: security.schemeNames,
    clearResponses: () => answers.reset(),
    validate(call, stub) {
      const operation = search.find(call.incoming)?.operation;
      return operation === undefined ? (outcome) => outcome : answers.examineStub(operation, call, stub);
    },
    candidates: (request) => listCandidates(document, context.requests.view(request)),
    observe: (observer) => ({
      async observe(request, answer) {
        const response = await observer.observe(request, answer);
        const found = search.find(request);
        if (found !== undefined)
          coverage.add(found.operation, response.status, requests.present(found.operation, found.received));
        return response;
      },
      observeRefused: (...refused) => observer.observeRefused(...refused),
    }),
    snapshot: () => ({ rules: answers.snapshot(), drawn: draws.count }),
    restore({ rules, drawn }) {
      answers.restore(rules);
      draws.count = drawn;
    },
    reset() {
      answers.reset();
      draws.count = 0;
    },
  };
}

/** Creates the routes: those of operations, and of the endpoints of OAuth 2.0 at the paths of the document. */
function createFallback(
  search: OperationSearch,
  resources: OperationResources,
  { endpoints }: PartnerSecurity,
): RouteLayer {
  const findMatches = (segments: readonly string[], request: IncomingRequest | undefined): Match[] =>
    search.list(segments, request).flatMap(({ operation, parameters }) => {
      const resource = resources.find(operation, request);
      return resource === undefined ? [] : [{ template: operation.path, resource, parameters }];
    });
  const findEndpoint = (segments: readonly string[], router: Router): Match | undefined => {
    const endpoint = endpoints.get(`/${segments.join('/')}`);
    return endpoint === undefined ? undefined : router.find(endpoint.slice(1).split('/'));
  };
  return {
    find(segments, request, router) {
      const own = findEndpoint(segments, router);
      if (own === undefined || (request !== undefined && isDescribed(search, request)))
        return findMatches(segments, request);
      return [own];
    },
    precedes: (segments, request) => endpoints.has(`/${segments.join('/')}`) && isDescribed(search, request),
    routes: resources.routes,
    furtherMethods: () => resources.furtherMethods,
  };
}

/** Returns whether the document describes the content of a request to an endpoint of OAuth 2.0, which is a form otherwise. */
function isDescribed(search: OperationSearch, request: IncomingRequest): boolean {
  const content = search.find(request)?.operation.body?.content ?? [];
  const types = content.map(({ essence }) => essence);
  if (!types.includes(formType)) return types.length > 0;
  const sent = parseMediaType(request.headers.get('content-type') ?? '')?.type ?? formType;
  return sent !== formType && types.includes(sent);
}

/** Returns the operation of an id. Throws RangeError with a suggestion. */
function findNamed({ operations }: PartnerDocument, id: string): Operation {
  read(text(), id, 'the operationId');
  const found = operations.find((operation) => operation.id === id);
  if (found !== undefined) return found;
  const ids = operations.map((operation) => operation.id);
  const meant = findClosestMatch(String(id), ids);
  const known = meant === undefined ? `; the document has ${listed(ids)}` : `; did you mean "${meant}"?`;
  throw new RangeError(`the document has no operation ${JSON.stringify(id)}${known}`);
}

/** The names in a message, at most. */
const maxListed = 20;

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, maxListed).join(', ');
  return names.length > maxListed ? `${shown} and ${names.length - maxListed} more` : shown;
}

// Makes resources of the operations of a document.

/** What resources are made of. */
interface ResourceParts {
  readonly document: PartnerDocument;
  readonly security: PartnerSecurity;
  readonly answers: Answers;
  readonly requests: RequestCheck;
  /** The form of errors. */
  readonly errors: 'partner' | 'problem';
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
}

/** The resources of operations. */
type OperationResources = ReturnType<typeof createResources>;

/** Creates the resources of operations. */
function createResources({ document, security, answers, requests, errors, maxDepth }: ResourceParts) {
  const reader = createAnyReader(maxDepth);

  const create = (operation: Operation, implemented: Action): Resource => {
    const requestFields = operation.parameters
      .filter(({ place }) => place === 'header')
      .map(({ name }) => name);
    return {
      ...methodOf(operation, implemented),
      schemes: security.accessOf(operation).schemes,
      requestHeaders: [...requestFields, 'Prefer'],
      ...form,
      ...(errors === 'partner' && {
        writeProblem: (problem: Problem, request: IncomingRequest | undefined) =>
          answers.writeProblem(operation, problem, request),
      }),
    };
  };
  /** Returns the readers of the content of an operation, which check it; undefined if it has none. */
  const readingsOf = (operation: Operation): readonly ContentReader[] | undefined => {
    if (operation.body === undefined || operation.body.content.length === 0) return undefined;
    const essences = operation.body.content.map(({ essence }) => essence);
    const types = essences.some((essence) => essence.includes('*')) ? ['*/*'] : [...new Set(essences)];
    const check = (content: unknown, { incoming: { headers } }: Call): unknown =>
      andThen(requests.checkContent(operation, content, headers), () => content);
    return types.map((type) => ({
      ...reader,
      type,
      async decoder(call) {
        const inner = await reader.decoder(call);
        return {
          write: (chunk) => inner.write(chunk),
          end: () => andThen<unknown, unknown>(inner.end(), (content) => check(content, call)),
        };
      },
    }));
  };
  const checkedAction = (operation: Operation): Action => {
    const { access, scopes } = security.accessOf(operation);
    const reads = readingsOf(operation);
    return action(access, (call) => answers.respond(operation, call), {
      ...(reads !== undefined && { reads, bodyOptional: operation.body?.required !== true }),
      scopes,
      checkHeaders: ({ incoming: { target, method, headers } }) =>
        requests.checkParameters(
          operation,
          new ReceivedParameters(operation, parseTarget(target, method), headers),
        ),
    });
  };
  /** Returns an action that accepts any content, whose request is compared when it is answered. */
  const lenientAction = (operation: Operation): Action => {
    const { access, scopes } = security.accessOf(operation);
    return action(access, (call) => answers.respondLeniently(operation, call), {
      reads: [reader],
      bodyOptional: true,
      scopes,
    });
  };
  // OPTIONS is derived.
  const served = document.operations.filter(({ method }) => method !== 'OPTIONS');
  const resources = new Map<Operation | FaultyOperation, Resource>([
    ...served.map((each) => [each, create(each, checkedAction(each))] as const),
    ...document.faulty.map((each) => [each, createFaultyResource(each)] as const),
  ]);
  /** The resources that accept any content, of operations that were requested without a check. */
  const lenient = new Map<Operation, Resource>();
  return {
    /** The methods of operations that have no name in a resource. */
    furtherMethods: new Set([...resources.values()].flatMap(listFurtherMethods)),
    /** All routes of the document. */
    routes: Array.from(resources, ([{ path: template }, resource]) => ({ template, resource })),
    /** Returns the resource that answers a request for an operation; undefined if it is derived. */
    find(operation: Operation | FaultyOperation, request: IncomingRequest | undefined): Resource | undefined {
      if ('fault' in operation || request === undefined || operation.method === 'OPTIONS')
        return resources.get(operation);
      if (answers.validationOf(operation, request).request === 'on') return resources.get(operation);
      const known = lenient.get(operation) ?? create(operation, lenientAction(operation));
      lenient.set(operation, known);
      return known;
    },
  };
}

/** The form of what a resource sends. */
const form = { defaultFormat: 'json', verbatim: true } as const;

/** Returns the resource of an operation with a mistake, which anyone may see. */
function createFaultyResource(operation: FaultyOperation): Resource {
  const { method, key, fault } = operation;
  const refused = action('anyone', () => {
    throw new Problem('operation-not-served', `${method} ${key} is not served: ${fault.message}.`);
  });
  return { ...methodOf(operation, refused), ...form };
}

function methodOf({ method }: Pick<Operation, 'method'>, implemented: Action): Resource {
  const isNamed = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'].includes(method);
  return isNamed ? { [method]: implemented } : { methods: { [method]: implemented } };
}
