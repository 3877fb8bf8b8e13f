import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { createDoubleApi } from '../../double/api.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../double/certificate-authority.ts';
import { type Core, compose } from '../../double/compose.ts';
import { type ControlServer, checkToken, openControl } from '../../double/control/control.ts';
import type { Controlled, ControlledAddresses } from '../../double/control/operation.ts';
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
  readonly dataDirectory: Pick<DataDirectory, 'health' | 'journalBytes' | 'memory'>;
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
  const completed = { ...options, tls: control.tls };
  const shared = { partner: control.partner, limitedExplanations: true };
  const { memory: store } = control.dataDirectory;
  if (store === undefined) {
    const random = { seed: randomBytes(16).toString('hex'), bytes: randomBytes };
    return createControlled(compose(completed, { ...shared, random }), control, given.onError);
  }
  const random = createSeededRandom(randomBytes(32).toString('hex'));
  // The clock of a double can be set back, so signed dates from before the start are accepted.
  const doubled = { ...completed, notBefore: undefined };
  const core = compose(doubled, { ...shared, random, memory: { store, random } });
  return createControlled(core, control, given.onError);
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

function createControlled(
  core: Core,
  { port, token, dataDirectory, metrics }: ControlOptions,
  onError: ServiceOptions['onError'],
): ControlledService {
  const { faults, journal, service, nonces, store } = core;
  let control: ControlServer | undefined;
  return {
    service: {
      ...service,
      async listen(address) {
        const { tls } = address;
        if (tls === undefined) return service.listen(address);
        const connected = () => void faults.connected();
        const listening = await service.listen({ ...address, connected });
        return addCertificateFaults(core, listening, typeof tls === 'function' ? tls : () => tls);
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
      const api = createDoubleApi(core, {
        url: place.url ?? place.secureUrl ?? '',
        secureUrl: place.secureUrl,
      });
      const target: Controlled = {
        ...api,
        core,
        addresses: place,
        async health() {
          const known = dataDirectory.health();
          const reason = known === undefined ? await findUnreachableReason(store) : undefined;
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
      };
      const opened = { port, token, onError };
      control = await openControl(target, opened, false);
      return control;
    },
  };
}

/** Wraps a listener so that injected faults can replace its certificate. */
function addCertificateFaults({ faults }: Core, listening: Listener, first: () => TlsIdentity): Listener {
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
