// The document of a partner as a part of a double: routes that are asked after all others, the check of what stubs receive and send,
// and what a test controls.

import type { SchemeDeclarations } from '../../auth/scheme-declarations.ts';
import { findClosestMatch } from '../../did-you-mean.ts';
import { toLines } from '../../http/field-lines.ts';
import { formType, parseMediaType } from '../../http/headers/media-type.ts';
import { preferences } from '../../http/headers/prefer.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { parseTarget } from '../../http/target.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Observer } from '../../pipeline/observer.ts';
import {
  type Action,
  type ActionResponse,
  action,
  type Call,
  type ContentReader,
  listFurtherMethods,
  type Resource,
} from '../../pipeline/resource.ts';
import type { Match, RouteFallback, Router } from '../../pipeline/router.ts';
import type { Scope } from '../../principal.ts';
import { checkText } from '../../service/argument-checks.ts';
import type { MatchedRequests } from '../matched-requests.ts';
import type { DoubleOptions } from '../options.ts';
import { type Rule, type RuleHandle, Rules, type RulesSnapshot } from '../rules.ts';
import type { Snapshottable } from '../state/snapshot.ts';
import { createAnyReader } from '../stubs/content.ts';
import type { StubResponse } from '../stubs/response.ts';
import type { StubCheck } from '../stubs/stubs.ts';
import { listCandidates } from './candidates.ts';
import { createCoverage, type PartnerCoverage } from './coverage.ts';
import {
  type FaultyOperation,
  named,
  type Operation,
  type PartnerDocument,
  type Route,
  readDocument,
} from './document.ts';
import { createPaths, type FoundPath } from './paths.ts';
import { ReceivedParameters } from './received.ts';
import { createRequestCheck } from './request-check.ts';
import { type ChosenResponse, type RespondOptions, readChoice } from './respond.ts';
import { createResponses, examineResponses } from './responses.ts';
import { createChecker } from './schema-check.ts';
import { type PartnerSecurity, readSecurity } from './security.ts';
import { mergeValidation, readPartnerOptions, type Validations } from './validation.ts';

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
  readonly rules: RulesSnapshot<ChosenResponse>;
  readonly drawn: number;
}

/** The document as a part of a double. */
export interface PartnerPart extends Snapshottable<PartnerRecord>, StubCheck {
  /** The routes of the document, which are asked after all others. */
  readonly fallback: RouteFallback;
  readonly control: DoublePartner;
  /** Removes the responses that a test chose. */
  clearResponses(): void;
  /** Wraps an observer so that requests are counted. */
  observe(observer: Observer): Observer;
}

/** An operation with the values of its path. */
interface FoundOperation {
  readonly operation: Operation;
  readonly received: ReceivedParameters;
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
  create(context: PartnerContext): PartnerPart;
}

/** The options of a double that the document completes. */
type CompletedOptions = Pick<DoubleOptions, 'schemes' | 'collections' | 'clients'>;

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
  const { schemes, collections = {}, clients } = options;
  const { source: place, validation, strict, dynamic, errors } = readPartnerOptions(partner);
  const read = await readDocument(place);
  const security = readSecurity(read, { schemes, hasClients: clients !== undefined });
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
      examine: () => [...security.warnings, ...document.examinePatterns(), ...examineResponses(document)],
      create(context) {
        for (const fault of document.faults) context.onError?.(fault);
        for (const reason of security.unreachable) context.onError?.(new Error(reason));
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
  const paths = createPaths<Operation | FaultyOperation>(
    [...document.operations, ...document.faulty],
    document.basePaths,
  );
  const coverage = createCoverage(document.operations);
  const chosen = new Map<Operation, Set<Rule<ChosenResponse>>>();
  const chosenFor = (operation: Operation): Set<Rule<ChosenResponse>> => {
    const known = chosen.get(operation) ?? new Set();
    chosen.set(operation, known);
    return known;
  };
  const rules = new Rules<ChosenResponse>(context.requests, {
    place: ({ operation }) => chosenFor(operation),
  });
  let drawn = 0;
  const responses = createResponses({
    document,
    checker,
    seed: context.seed,
    dynamic,
    now: context.now,
    next() {
      drawn += 1;
      return drawn;
    },
  });

  const requests = createRequestCheck({ document, checker, context });

  const readingsOf = (operation: Operation): readonly ContentReader[] | undefined => {
    if (operation.body === undefined || operation.body.content.length === 0) return undefined;
    const essences = operation.body.content.map(({ essence }) => essence);
    const types = essences.some((essence) => essence.includes('*')) ? ['*/*'] : [...new Set(essences)];
    const { decoder, ...reader } = createAnyReader(context.maxDepth);
    return types.map((type) => ({
      ...reader,
      type,
      async decoder(call) {
        const inner = await decoder(call);
        return {
          write: (chunk) => inner.write(chunk),
          end: () =>
            andThen<unknown, unknown>(inner.end(), (content) =>
              andThen(requests.checkContent(operation, content, call.incoming.headers), () => content),
            ),
        };
      },
    }));
  };

  const findChosen = (operation: Operation, request: IncomingRequest): Rule<ChosenResponse> | undefined =>
    rules.find(request, chosenFor(operation));
  const validationOf = (operation: Operation, request: IncomingRequest): Validations =>
    mergeValidation(findChosen(operation, request)?.validation, validation);

  const respond = (operation: Operation, { incoming: request }: Call): ActionResponse => {
    const rule = findChosen(operation, request);
    if (rule !== undefined) rules.take(rule);
    if (rule?.outcome !== undefined)
      return report(operation, rule.outcome, mergeValidation(rule.validation, validation));
    const preferred = responses.readPreferences(operation, request);
    const { choice, applied } = rule === undefined ? preferred : { choice: rule.choice, applied: [] };
    const outcome = responses.create(operation, choice, request.headers.get('accept'));
    if (applied.length === 0) return outcome;
    return {
      ...outcome,
      headers: [...toLines(outcome.headers ?? []), ['Preference-Applied', applied.join(', ')]],
    };
  };

  /** Returns the response of a test, with warnings if the document does not allow it. */
  const report = (
    operation: Operation,
    outcome: ActionResponse,
    { response }: Validations,
  ): ActionResponse => {
    const warnings = response === 'off' ? [] : responses.check(operation, outcome);
    if (response === 'on' && warnings.length > 0)
      context.onError?.(
        new Error(`the response of ${operation.id} is not as documented: ${warnings.join(' ')}`),
      );
    return addWarnings(outcome, warnings);
  };

  /** Compares a request as far as its validation wants it. Returns what is wrong with it, unless that refuses it. */
  const examine = (
    operation: Operation,
    { body, incoming: { target, method, headers } }: Call,
    { request }: Validations,
  ): MaybePromise<readonly string[]> => {
    if (request === 'off') return [];
    const received = new ReceivedParameters(operation, parseTarget(target, method), headers);
    if (request === 'warn')
      return andThen(requests.listFaults(operation, received, body), (faults) =>
        faults.map((fault) => `request: ${fault}`),
      );
    requests.checkParameters(operation, received);
    return andThen(requests.checkContent(operation, body, headers), () => []);
  };

  /** Reports the response that a test chose and a stub precedes. Returns a warning. */
  const reportUnused = (operation: Operation, request: IncomingRequest, stub: string): readonly string[] => {
    if (findChosen(operation, request) === undefined) return [];
    const unused = `the response that respond chose for ${operation.id} was not sent, because the stub ${stub} answered`;
    context.onError?.(new Error(unused));
    return [`${unused}.`];
  };

  const checkedAction = (operation: Operation): Action => {
    const { access, scopes } = security.accessOf(operation);
    const reads = readingsOf(operation);
    return action(access, (call) => respond(operation, call), {
      ...(reads !== undefined && { reads, bodyOptional: operation.body?.required !== true }),
      scopes,
      checkHeaders: ({ incoming: { target, method, headers } }) =>
        requests.checkParameters(
          operation,
          new ReceivedParameters(operation, parseTarget(target, method), headers),
        ),
    });
  };

  /** An action that accepts any content, whose request is compared when it is answered. */
  const lenientAction = (operation: Operation): Action => {
    const { access, scopes } = security.accessOf(operation);
    const answer = (call: Call) =>
      andThen(examine(operation, call, validationOf(operation, call.incoming)), (warnings) =>
        addWarnings(respond(operation, call), warnings),
      );
    return action(access, answer, {
      reads: [createAnyReader(context.maxDepth)],
      bodyOptional: true,
      scopes,
    });
  };

  /** Returns a problem in the form of the document; undefined if it has none, or the client prefers a problem document. */
  const writeError = (
    operation: Operation,
    problem: Problem,
    request: IncomingRequest | undefined,
  ): ActionResponse | undefined => {
    const fields = request?.headers;
    if (fields !== undefined && preferences(fields.getAll('prefer')).has('problem')) return undefined;
    try {
      return responses.createError(operation, problem, fields?.get('accept'));
    } catch (error) {
      context.onError?.(error);
      return undefined;
    }
  };

  const resourceOf = (operation: Operation, implemented: Action): Resource => {
    const { schemes } = security.accessOf(operation);
    const isNamed = isNamedMethod(operation.method);
    const requestFields = operation.parameters
      .filter(({ place }) => place === 'header')
      .map(({ name }) => name);
    return {
      ...(isNamed ? { [operation.method]: implemented } : { methods: { [operation.method]: implemented } }),
      schemes,
      requestHeaders: [...requestFields, 'Prefer'],
      defaultFormat: 'json',
      verbatim: true,
      ...(errors === 'partner' && {
        writeProblem: (problem: Problem, request: IncomingRequest | undefined) =>
          writeError(operation, problem, request),
      }),
    };
  };

  // OPTIONS is derived.
  const served = document.operations.filter(({ method }) => method !== 'OPTIONS');
  const resources = new Map<Operation | FaultyOperation, Resource>(
    served.map((operation) => [operation, resourceOf(operation, checkedAction(operation))]),
  );
  for (const operation of document.faulty) resources.set(operation, createFaultyResource(operation));
  const lenient = new Map<Operation, Resource>();
  const lenientResource = (operation: Operation): Resource => {
    const known = lenient.get(operation) ?? resourceOf(operation, lenientAction(operation));
    lenient.set(operation, known);
    return known;
  };
  const further = new Set([...resources.values()].flatMap(listFurtherMethods));

  /** Returns the operations for a request, the nearest one first. Without a request, all at the address. */
  const selectOperations = (
    segments: readonly string[],
    request: IncomingRequest | undefined,
  ): readonly FoundPath<Operation | FaultyOperation>[] => {
    // The operation GET answers HEAD too, unless there is one of its own.
    const found = [...paths.find(segments)].sort(headFirst);
    const target = request && parsedTarget(request.target, request.method);
    if (request === undefined || target === undefined) return found;
    const query = new URLSearchParams(target.search);
    const asked = found
      .filter(({ operation }) => operation.query.every(([name, value]) => hasQuery(query, name, value)))
      .sort((one, other) => other.operation.query.length - one.operation.query.length);
    const answering = asked.filter(({ operation: { method } }) => method === request.method);
    if (answering.length < 2) return asked;
    const fits = ({ operation }: FoundPath<Operation | FaultyOperation>): boolean =>
      'fault' in operation ||
      requests.fits(operation, new ReceivedParameters(operation, target, request.headers));
    const fitting = answering.find(fits);
    return fitting === undefined ? asked : [fitting, ...asked.filter((each) => each !== fitting)];
  };

  const findMatches = (segments: readonly string[], request: IncomingRequest | undefined): Match[] =>
    selectOperations(segments, request).flatMap(({ operation, parameters: values }) => {
      const checked = resources.get(operation);
      if (checked === undefined) return [];
      const isLenient =
        !('fault' in operation) && request !== undefined && validationOf(operation, request).request !== 'on';
      const resource = isLenient ? lenientResource(operation) : checked;
      return [{ template: operation.path, resource, parameters: values }];
    });

  const findOperation = (request: IncomingRequest): FoundOperation | undefined => {
    const { method, target, headers } = request;
    const parsed = parsedTarget(target, method);
    if (parsed === undefined) return undefined;
    const found = selectOperations(parsed.segments, request);
    const { operation } =
      found.find((each) => each.operation.method === method) ??
      found.find((each) => method === 'HEAD' && each.operation.method === 'GET') ??
      {};
    if (operation === undefined || 'fault' in operation) return undefined;
    return { operation, received: new ReceivedParameters(operation, parsed, headers) };
  };

  /** Returns whether the document describes the content of a request to an endpoint of OAuth 2.0, which is a form otherwise. */
  const isDescribed = (request: IncomingRequest): boolean => {
    const content = findOperation(request)?.operation.body?.content ?? [];
    const types = content.map(({ essence }) => essence);
    if (!types.includes(formType)) return types.length > 0;
    const sent = parseMediaType(request.headers.get('content-type') ?? '')?.type ?? formType;
    return sent !== formType && types.includes(sent);
  };

  const findEndpoint = (segments: readonly string[], router: Router): Match | undefined => {
    const endpoint = security.endpoints.get(`/${segments.join('/')}`);
    return endpoint === undefined ? undefined : router.find(endpoint.slice(1).split('/'));
  };

  const operationNamed = (id: string): Operation => {
    checkText(id, 'the operationId');
    const found = document.operations.find((operation) => operation.id === id);
    if (found !== undefined) return found;
    const ids = document.operations.map((operation) => operation.id);
    const meant = findClosestMatch(String(id), ids);
    const known = meant === undefined ? `; the document has ${listed(ids)}` : `; did you mean "${meant}"?`;
    throw new RangeError(`the document has no operation ${JSON.stringify(id)}${known}`);
  };

  const restore = ({ rules: kept, drawn: count }: PartnerRecord): void => {
    rules.restore(kept);
    drawn = count;
  };

  return {
    fallback: {
      find(segments, router, request) {
        const own = findEndpoint(segments, router);
        if (own === undefined || (request !== undefined && isDescribed(request)))
          return findMatches(segments, request);
        return [own];
      },
      precedes: (segments, request) =>
        security.endpoints.has(`/${segments.join('/')}`) && isDescribed(request),
      routes: [...resources].map(([{ path: template }, resource]) => ({ template, resource })),
      furtherMethods: () => further,
    },
    control: {
      respond(operationId, response, options = {}) {
        const choice = readChoice(operationNamed(operationId), response, options);
        return rules.add(options.match ?? {}, choice, options.times);
      },
      coverage: () => coverage.read(),
      faults: document.faults.map(({ message }) => message),
    },
    clearResponses: () => rules.reset(),
    validate(call, stub) {
      const operation = findOperation(call.incoming)?.operation;
      if (operation === undefined) return (outcome) => outcome;
      return andThen(examine(operation, call, validation), (warnings) => (outcome) => {
        const unused = reportUnused(operation, call.incoming, stub);
        return addWarnings(report(operation, outcome, validation), [...unused, ...warnings]);
      });
    },
    candidates: (request) => listCandidates(document, context.requests.view(request)),
    observe: (observer) => ({
      async observe(request, answer) {
        const response = await observer.observe(request, answer);
        const found = findOperation(request);
        if (found !== undefined)
          coverage.add(found.operation, response.status, requests.present(found.operation, found.received));
        return response;
      },
      observeRefused: (...refused) => observer.observeRefused(...refused),
    }),
    snapshot: () => ({
      rules: rules.snapshot(),
      drawn,
    }),
    restore,
    reset() {
      rules.reset();
      drawn = 0;
    },
  };
}

/** Returns the response with what is wrong, which the journal shows. */
function addWarnings(outcome: ActionResponse, warnings: readonly string[]): ActionResponse {
  if (warnings.length === 0) return outcome;
  return { ...outcome, warnings: [...warnings, ...(outcome.warnings ?? [])] };
}

function headFirst({ operation: one }: FoundPath<Route>, { operation: other }: FoundPath<Route>): number {
  return Number(other.method === 'HEAD') - Number(one.method === 'HEAD');
}

function hasQuery(query: URLSearchParams, name: string, value: string): boolean {
  return value === '' ? query.has(name) : query.getAll(name).includes(value);
}

/** Returns the resource of an operation with a mistake, which anyone may see. */
function createFaultyResource({ method, key, fault }: FaultyOperation): Resource {
  const refused = action('anyone', () => {
    throw new Problem('operation-not-served', `${method} ${key} is not served: ${fault.message}.`);
  });
  return {
    ...(isNamedMethod(method) ? { [method]: refused } : { methods: { [method]: refused } }),
    defaultFormat: 'json',
    verbatim: true,
  };
}

function isNamedMethod(method: string): boolean {
  return ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'].includes(method);
}

function parsedTarget(target: string, method: string): ReturnType<typeof parseTarget> | undefined {
  try {
    return parseTarget(target, method);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** The names in a message, at most. */
const maxListed = 20;

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, maxListed).join(', ');
  return names.length > maxListed ? `${shown} and ${names.length - maxListed} more` : shown;
}
