import { listRegistered } from '../accounts/registered.ts';
import { type Clock, systemClock } from '../clock.ts';
import { andThen } from '../maybe-promise.ts';
import { listSchemes } from '../service/authentication.ts';
import { defaultLimits, type ServiceOptions, type UserDeclaration } from '../service/options.ts';
import { readCollections } from '../service/routes.ts';
import { type ControllableService, createControllableService } from '../service/service.ts';
import { type CompleteNonces, completeNonces, type NonceStore } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import { claimedUserBy } from './claimed-user.ts';
import { type ComposedService, createMatchedRequests, listNames, skewDates } from './compose.ts';
import { createEvents } from './events.ts';
import { createFaults } from './faults/faults.ts';
import { createJournal } from './journal/journal.ts';
import { KnownCredentials } from './journal/known-credentials.ts';
import type { PreparedPartner } from './partner/partner.ts';
import { createDoubleTime } from './state/clock.ts';
import { BurntNonces } from './state/nonces.ts';
import { createDoubleUsers } from './state/users.ts';
import { createStubs } from './stubs/stubs.ts';

/** The options of a controlled service with a data directory. */
interface DurableDoubleOptions extends Omit<ServiceOptions, 'clock' | 'random' | 'observer' | 'users'> {
  readonly users: ReadonlyMap<string, UserDeclaration>;
  readonly store: Store;
  readonly nonces: NonceStore;
  readonly masterKey: Uint8Array;
  /** Whether TLS is assumed where credentials require it. Default: `required`. */
  readonly tls?: 'assumed' | 'required';
}

/**
 * Composes a controlled service on a durable store. A test controls time, faults and the journal, but not the stored data.
 * @param prepared the partner's document. Default: none
 * @throws RangeError or DeclarationError if an option is invalid
 */
export function composeDurableDouble(
  { tls, ...options }: DurableDoubleOptions,
  random: (size: number) => Uint8Array,
  prepared?: PreparedPartner,
): ComposedService {
  const collections = readCollections(options);
  const time = createDoubleTime(systemClock, undefined, () => {});
  const users = createDoubleUsers(options.users, random);
  const schemes = listSchemes(options);
  const claimedUser = claimedUserBy(users, (request) => controllable.claimedName(request));
  const requests = createMatchedRequests(options, claimedUser, () => controllable);
  const faults = createFaults({
    clock: time.clock,
    users,
    claimedUser,
    requests,
    complete: (response, request, trace) => controllable.share(response, request, trace),
    grants: () => controllable.oauth.grants,
    names: () => [...users.all.keys(), ...listNames(registered.clients)],
  });
  const events = createEvents(options.onError);
  const onReplay = (user: string): void => events.emit('nonce-replayed', { type: 'nonce-replayed', user });
  const nonces = wrapNonces(completeNonces(options.nonces), () => faults.burnsNonce(), onReplay);
  let registered: Pick<ServiceOptions, 'clients' | 'consumers'> = options;
  const known = new KnownCredentials(options.masterKey);
  known.addUsers(users.all);
  known.addRegistered(options);
  const journal = createJournal(
    {
      clock: time.clock,
      known,
      limitedExplanations: true,
      onEntry: (entry) => events.emit('request', entry),
    },
    { claimedUser, schemes },
  );
  const clock: Clock = faults.clock;
  const observer = skewDates(time, journal.observer(faults));
  const { xmlDepth: maxDepth } = { ...defaultLimits, ...options.limits };
  const partner = prepared?.create({
    seed: Buffer.from(random(16)).toString('hex'),
    now: () => time.clock.now(),
    maxDepth,
    strictQuery: options.strictQuery === true,
    isCredential: (name) => controllable.isCredentialParameter(name),
    onError: options.onError,
    requests,
  });
  const stubs = createStubs({ schemes, maxDepth, check: partner, requests });
  const controllable = createControllableService(
    {
      ...options,
      clock,
      random: known.remembering(random),
      nonces,
      observer: partner === undefined ? observer : partner.observe(observer),
      users: users.all,
    },
    {
      onGrantEvent: (event) => events.emit(event.type, event),
      onReplay,
      layer: stubs.layer,
      fallbacks: [...(partner === undefined ? [] : [partner.fallback]), stubs.fallback],
      scopes: prepared?.scopes,
      assumesTls: tls === 'assumed',
    },
  );
  users.onChange((all) => {
    controllable.replaceUsers(all);
    known.addUsers(all);
    known.addPrivateKeys(users.listPrivateKeys());
  });
  const service: ControllableService = {
    ...controllable,
    get router() {
      return controllable.router;
    },
    replaceUsers: (all) => users.restore(new Map(listRegistered(all))),
    replaceClients(clients) {
      controllable.replaceClients(clients);
      registered = { ...registered, clients };
      known.addRegistered({ clients });
    },
    replaceConsumers(consumers) {
      controllable.replaceConsumers(consumers);
      registered = { ...registered, consumers };
      known.addRegistered({ consumers });
    },
  };
  return {
    get options() {
      return { ...options, ...registered };
    },
    service,
    schemes,
    time,
    users,
    nonces,
    faults,
    journal,
    events,
    stubs,
    partner,
    random,
    masterKey: options.masterKey,
    data: { collections: () => collections, store: options.store },
  };
}

/** Wraps nonces so that fresh ones can be made to count as used. `onReplay` is called for each nonce that is rejected. */
function wrapNonces(
  nonces: CompleteNonces,
  burns: () => boolean,
  onReplay: (user: string) => void,
): CompleteNonces & { burn(times: number): void } {
  const burnt = new BurntNonces(burns);
  return {
    claim(user, nonce, until, now, deferrable) {
      const result = burnt.take() ? 'seen' : nonces.claim(user, nonce, until, now, deferrable);
      return andThen(result, (claimed) => {
        if (claimed === 'seen') onReplay(user);
        return claimed;
      });
    },
    kept: (durably) => nonces.kept(durably),
    hold: (user, nonce, until) => nonces.hold(user, nonce, until),
    release: (claim, durably) => nonces.release(claim, durably),
    get size() {
      return nonces.size;
    },
    burn(times) {
      burnt.remaining += times;
    },
  };
}
