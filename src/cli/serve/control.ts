import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { createDoubleApi } from '../../double/api.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../double/certificate-authority.ts';
import { type ComposedService, composeDouble } from '../../double/compose.ts';
import { composeDurableDouble } from '../../double/compose-durable.ts';
import { type ControlServer, checkToken, openControl } from '../../double/control/control.ts';
import { createListing } from '../../double/control/listing.ts';
import { createMemoryControl } from '../../double/control/memory-target.ts';
import type { ControlledAddresses, ControlTarget } from '../../double/control/target.ts';
import { dateWindows, listSigners } from '../../double/date-windows.ts';
import type { DoubleOptions } from '../../double/options.ts';
import type { PreparedPartner } from '../../double/partner/partner.ts';
import { createSeededRandom } from '../../double/state/random.ts';
import { requireDuration } from '../../duration.ts';
import type { TlsIdentity } from '../../net/tls/identity.ts';
import { findUnreachableReason } from '../../service/health.ts';
import type { ServiceOptions } from '../../service/options.ts';
import type { Listener, Service } from '../../service/service.ts';
import { CommandError } from '../errors.ts';
import type { KnownAccounts } from './compose.ts';
import type { DataDirectory } from './data-directory.ts';
import { metricsType, ServerMetrics } from './metrics.ts';

/** A service with a control interface. */
export interface ControlledService {
  readonly service: Service;
  /** Opens the control interface. Rejects with ListenError. */
  open(place: ControlledAddresses): Promise<Pick<ControlServer, 'url' | 'token' | 'console'>>;
}

/** The options of the control interface. */
export interface ControlOptions {
  readonly port: number;
  /** The bearer token. Default: a random one. */
  readonly token: string | undefined;
  readonly dataDirectory: Pick<DataDirectory, 'health' | 'journalBytes'>;
  readonly metrics: ServerMetrics;
  /** Whether TLS is assumed where credentials require it. */
  readonly tls: 'assumed' | 'required';
  /** The document of a partner. */
  readonly partner: PreparedPartner | undefined;
}

/** Returns COUNTERSIGN_CONTROL_TOKEN; undefined if it is not set. Throws CommandError if it is not a valid token. */
export function controlToken(environment: NodeJS.ProcessEnv): string | undefined {
  const token = environment['COUNTERSIGN_CONTROL_TOKEN'];
  if (token === undefined) return undefined;
  try {
    checkToken(token);
    return token;
  } catch (error) {
    throw new CommandError([
      `COUNTERSIGN_CONTROL_TOKEN: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
}

/**
 * Creates a service with a control interface: a test double in memory, or one with a durable store.
 *
 * @throws RangeError or DeclarationError, as `createService` does
 */
export function composeControlled(
  given: ServiceOptions & KnownAccounts,
  control: ControlOptions,
): ControlledService {
  const options = { ...given, onRequest: createCountedLog(control.metrics, given.onRequest) };
  const durable = selectDurableOptions(options);
  if (durable !== undefined)
    return createTarget(
      composeDurableDouble({ ...durable, tls: control.tls }, randomBytes, control.partner),
      options,
      control,
      () => undefined,
    );
  const context = composeDouble(
    { ...selectDoubleOptions(options), tls: control.tls },
    createSeededRandom(randomBytes(32).toString('hex')),
    control.partner,
    true,
  );
  return createTarget(context, options, control, () => createMemoryControl(context));
}

/** Creates the metrics of a server. */
export function createServerMetrics(): ServerMetrics {
  return new ServerMetrics(systemClock);
}

function createCountedLog(
  metrics: ServerMetrics,
  onRequest: ServiceOptions['onRequest'],
): NonNullable<ServiceOptions['onRequest']> {
  return (entry) => {
    metrics.add(entry);
    onRequest?.(entry);
  };
}

/** Returns the options with a durable store; undefined if the service is in memory. */
function selectDurableOptions(options: ServiceOptions & KnownAccounts) {
  const { store, nonces, masterKey } = options;
  if (store === undefined || nonces === undefined || masterKey === undefined) return undefined;
  return { ...options, store, nonces, masterKey };
}

/** Omits the options that a test double has itself. Its clock can be set back, so `notBefore` must not apply. */
function selectDoubleOptions(options: ServiceOptions & KnownAccounts): DoubleOptions {
  const { store: _, nonces: __, masterKey: ___, notBefore: ____, ...others } = options;
  return others;
}

function createTarget(
  context: ComposedService,
  options: ServiceOptions,
  { port, token, dataDirectory, metrics }: ControlOptions,
  createMemory: () => ControlTarget['memory'],
): ControlledService {
  const { faults, journal, service, events, nonces, data } = context;
  const { onError } = options;
  let control: ControlServer | undefined;
  return {
    service: {
      ...service,
      async listen(address) {
        const { tls } = address;
        if (tls === undefined) return service.listen(address);
        const connected = () => void faults.connected();
        const listening = await service.listen({ ...address, connected });
        return addCertificateFaults(context, listening, typeof tls === 'function' ? tls : () => tls);
      },
      async close(closing = {}) {
        faults.close();
        journal.close();
        await Promise.all([
          service.close(closing),
          control?.close({ grace: requireDuration(closing.grace ?? '10s', 'grace') }),
        ]);
      },
    },
    async open(place) {
      const api = createDoubleApi(context, {
        url: place.url ?? place.secureUrl ?? '',
        secureUrl: place.secureUrl,
      });
      const target: ControlTarget = {
        ...api,
        planned: () => faults.planned(),
        addresses: place,
        events,
        windows: dateWindows(options),
        signers: listSigners(options.schemes),
        async health() {
          const known = dataDirectory.health();
          const reason = known === undefined ? await findUnreachableReason(data.store) : undefined;
          return reason === undefined ? known : { state: 'unreachable', reason };
        },
        metrics: {
          type: metricsType,
          text: () =>
            metrics.text({
              connections: service.connections(),
              nonces: nonces.size,
              journalBytes: dataDirectory.journalBytes(),
            }),
        },
        memory: createMemory(),
        stubs: context.stubs,
        partner: context.partner,
        listing: createListing(context),
      };
      const opened = { port, token, onError };
      control = await openControl(target, opened, false);
      return control;
    },
  };
}

/** Wraps a listener so that injected faults can replace its certificate. */
function addCertificateFaults(
  { faults }: ComposedService,
  listening: Listener,
  first: () => TlsIdentity,
): Listener {
  let authority: CertificateAuthority | undefined;
  const issue: CertificateAuthority['issue'] = (validity) => {
    authority ??= createCertificateAuthority(systemClock.now(), randomBytes);
    return authority.issue(validity);
  };
  faults.presentBy(listening, first, issue);
  return {
    ...listening,
    replaceCertificate(identity) {
      listening.replaceCertificate(identity);
      faults.presentBy(listening, () => identity, issue);
    },
  };
}
