import type { Seed } from '../../collections/seed.ts';
import { Problem } from '../../http/problem.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { DoubleApi } from '../api.ts';
import type { ConfiguredSigner } from '../date-windows.ts';
import type { Events } from '../events.ts';
import type { PlannedFault } from '../faults/faults.ts';
import type { PartnerPart } from '../partner/partner.ts';
import type { RuleHandle } from '../rules.ts';
import type { DoubleSnapshot } from '../state/state.ts';
import type { StubHandler, StubMatch, StubOptions } from '../stubs/declaration.ts';
import type { StubsPart } from '../stubs/stubs.ts';
import type { Listing } from './listing.ts';

/** What a control interface controls. */
export interface ControlTarget extends Omit<DoubleApi, 'fetch'> {
  /** The functions that require a server in memory. Undefined for a server with a data directory. */
  readonly memory: MemoryControl | undefined;
  readonly stubs: Pick<StubsPart, 'add' | 'all'>;
  /** Controls the responses of the partner's document. Undefined if there is none. */
  readonly partner?: Pick<PartnerPart, 'control' | 'clearResponses'> | undefined;
  /** Returns all planned faults that can still be applied. */
  planned(): readonly PlannedFault[];
  readonly addresses: ControlledAddresses;
  readonly listing: Listing;
  readonly events: Pick<Events, 'on'>;
  /** Seconds by which the date of a signature may differ from the clock, by scheme. */
  readonly windows?: Readonly<Record<string, number>>;
  /** The schemes of the configuration. */
  readonly signers?: readonly ConfiguredSigner[];
  /** Returns the state of the store. Undefined if the store cannot fail. */
  readonly health?: () => MaybePromise<ControlledHealth | undefined>;
  /** The metrics of the server. Undefined for a double. */
  readonly metrics?: ControlledMetrics;
}

/** The metrics of a server: their media type, and a function that returns them. */
interface ControlledMetrics {
  readonly type: string;
  text(): string;
}

/** Controls the whole state of a double, and its routes. */
export interface MemoryControl {
  /**
   * Adds items to collections: all, or none if one is invalid.
   * @throws DeclarationError that names the invalid item and field
   * @example double.seed({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] });
   */
  seed(seed: Seed): void;
  /**
   * Returns the current state: items, ids, revisions, nonces, tokens, users, routes, random numbers, faults, journal and
   * clock settings.
   */
  snapshot(): DoubleSnapshot;
  /**
   * Restores a snapshot of this double. A snapshot can be restored any number of times. Afterwards the double generates the
   * same ids and nonces again. The same changes get the same entity tags, and other changes get new ones.
   */
  restore(snapshot: DoubleSnapshot): void;
  /** Restores the state in which the double started. */
  reset(): void;
  /**
   * Adds a resource under a path template. It replaces a resource or collection with the same template.
   * @throws RangeError if the template is invalid
   * @example double.resource('/weather/{city}', { GET: action('anyone', async (call) => xml('<weather/>')) });
   */
  resource(template: string, resource: Resource): void;
  /**
   * Adds a route for requests with this method and path, which precedes resources and collections; of several stubs, the last one that
   * matches answers. Framing, Host, credentials and access are checked as for any request, and its content is decoded.
   * @param response the response, or a function that returns it; what the function throws is a 500, and is passed to `onError`
   * @returns a handle with the number of requests that it answered
   * @throws RangeError if the match, the response or an option is invalid
   * @example
   * double.stub({ method: 'PATCH', path: '/v1/orders/{id}' }, { body: { id: '1', status: 'shipped' } }, { schemes: ['stripe'] });
   * @example
   * double.stub({ method: 'POST', path: '/v1/orders' }, ({ body }) => ({ status: 201, body: { ...body, id: 2 } }));
   */
  stub<Path extends string, Body = Readonly<Record<string, unknown>>>(
    match: StubMatch<Path>,
    response: StubHandler<Body>,
    options?: StubOptions,
  ): RuleHandle;
  /** Declares a collection by an unvalidated declaration. Throws DeclarationError or RangeError if it is invalid. */
  collection(path: string, declaration: unknown): void;
}

/** The addresses on which the controlled service listens. */
export interface ControlledAddresses {
  readonly url: string | undefined;
  readonly secureUrl: string | undefined;
  /** The certificate in PEM that clients must trust for `secureUrl`, if known. */
  readonly certificate: string | undefined;
}

/** The health of a store. */
export interface ControlledHealth {
  readonly state: 'well' | 'full' | 'failed' | 'unreachable';
  readonly reason: string | undefined;
}

/** Returns the functions that require a server in memory. Throws a Problem `memory-only` if there is a data directory. */
export function requireMemory({ memory }: ControlTarget): MemoryControl {
  if (memory !== undefined) return memory;
  throw new Problem('memory-only', 'This server has a data directory. Start it with --memory.');
}
