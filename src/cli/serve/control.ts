import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { createDoubleApi } from '../../double/api.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../double/certificate-authority.ts';
import { type Core, compose } from '../../double/compose.ts';
import { type ControlServer, checkToken, openControl } from '../../double/control/control.ts';
import type { Controlled } from '../../double/control/operation.ts';
import type { PreparedPartner } from '../../double/partner/partner.ts';
import { createSeededRandom } from '../../double/state/random.ts';
import { requireDuration } from '../../duration.ts';
import type { TlsIdentity } from '../../net/tls/identity.ts';
import type { Options } from '../../options/options.ts';
import { findUnreachableReason } from '../../service/health.ts';
import type { ServiceOptions } from '../../service/options.ts';
import type { Listener, Service } from '../../service/service.ts';
import { CommandError } from '../errors.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { Compose } from './compose.ts';
import type { ServerData } from './data-directory.ts';
import { metricsType, ServerMetrics } from './metrics.ts';
import type { Notices } from './notices.ts';

/** A control interface that is not open yet. */
export interface PreparedControl {
  /** Counts a sync of the journal, which took `ms` milliseconds. */
  readonly onSync: (ms: number) => void;
  /**
   * Returns the function that creates the service: a test double in memory, or one with a durable store. It throws RangeError or
   * DeclarationError, as `createService` does.
   */
  composer(data: ServerData, partner: PreparedPartner | undefined): Compose;
  /** Opens the control interface. Resolves to its URL, and rejects with ListenError. */
  open(
    plain: Listener | undefined,
    secure: Listener | undefined,
    certificate: Certificate | undefined,
  ): Promise<string>;
}

/** Prepares the control interface. Throws CommandError if its token is not valid. */
export function prepareControl(
  { controlPort: port = 0, tlsCert, tls }: Options,
  environment: NodeJS.ProcessEnv,
  notices: Notices,
): PreparedControl {
  const token = readToken(environment);
  const metrics = new ServerMetrics(systemClock);
  let composed: { core: Core; data: ServerData; onError: ServiceOptions['onError'] } | undefined;
  let control: ControlServer | undefined;
  return {
    onSync: (ms) => metrics.synced(ms),
    composer:
      (data, partner) =>
      ({ onRequest, ...given }) => {
        const core = composeCore(
          {
            ...given,
            tls,
            onRequest(entry) {
              metrics.add(entry);
              onRequest?.(entry);
            },
          },
          data,
          partner,
        );
        composed = { core, data, onError: given.onError };
        return withFaults(core, () => control);
      },
    async open(plain, secure, certificate) {
      if (composed === undefined)
        throw new Error('the service must be composed before its control is opened');
      const { core, data, onError } = composed;
      // A client trusts the server's own certificate, but not one of --tls-cert, whose authority is not known here.
      const own = tlsCert === undefined ? certificate?.identity.cert.toString() : undefined;
      const addresses = { url: plain?.url, secureUrl: secure?.url, certificate: own };
      const controlled = describeControlled(core, addresses, data, metrics);
      control = await openControl(controlled, { port, token, onError }, false);
      if (token === undefined) notices.warn(`control token, shown only once: ${control.token}`);
      // A token from the environment is known to its owner. It is not repeated, since logs may keep standard error.
      const address = token === undefined ? control.console : `${control.url}/`;
      notices.info(`Console: ${address}`, 'Console', { url: address });
      return control.url;
    },
  };
}

/** Returns COUNTERSIGN_CONTROL_TOKEN; undefined if it is not set. Throws CommandError if it is not a valid token. */
function readToken(environment: NodeJS.ProcessEnv): string | undefined {
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

/** Composes a test double in memory, or one with a durable store. */
function composeCore(
  given: Parameters<typeof compose>[0],
  { memory: store }: ServerData,
  partner: PreparedPartner | undefined,
): Core {
  const shared = { partner, limitedExplanations: true };
  if (store === undefined) {
    const random = { seed: randomBytes(16).toString('hex'), bytes: randomBytes };
    return compose(given, { ...shared, random });
  }
  const random = createSeededRandom(randomBytes(32).toString('hex'));
  // The clock of a double can be set back, so signed dates from before the start are accepted.
  return compose({ ...given, notBefore: undefined }, { ...shared, random, memory: { store, random } });
}

/** Returns the service of a double, whose listeners inject faults and which closes the control interface. */
function withFaults(core: Core, control: () => ControlServer | undefined): Service {
  const { faults, journal, service } = core;
  return {
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
        control()?.close({ grace: requireDuration(closing.grace ?? '10s', 'grace') }),
      ]);
    },
  };
}

/** Returns what the control interface reads and changes. */
function describeControlled(
  core: Core,
  addresses: Controlled['addresses'],
  data: ServerData,
  metrics: ServerMetrics,
): Controlled {
  const { service, nonces, store } = core;
  const { url, secureUrl } = addresses;
  return {
    ...createDoubleApi(core, { url: url ?? secureUrl ?? '', secureUrl }),
    core,
    addresses,
    async health() {
      const known = data.health?.();
      const reason = known === undefined ? await findUnreachableReason(store) : undefined;
      return reason === undefined ? known : { state: 'unreachable', reason };
    },
    metrics: {
      type: metricsType,
      text: () =>
        metrics.text({
          connections: service.connections(),
          nonces: nonces.size,
          journalBytes: data.journalBytes?.(),
        }),
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
