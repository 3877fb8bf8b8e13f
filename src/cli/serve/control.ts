import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { createDoubleApi } from '../../double/api.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../double/certificate-authority.ts';
import { type ComposedService, composeDouble } from '../../double/compose.ts';
import { composeDurableDouble } from '../../double/compose-durable.ts';
import { type Control, checkToken, openControl } from '../../double/control/control.ts';
import { createMemoryControl } from '../../double/control/memory-target.ts';
import type { ControlledAddresses, ControlTarget, MemoryControl } from '../../double/control/target.ts';
import type { DoubleOptions } from '../../double/options.ts';
import { createSeededRandom } from '../../double/state/random.ts';
import type { ServerIdentity } from '../../net/tls/identity.ts';
import type { ServiceOptions } from '../../service/options.ts';
import type { Listening, Service } from '../../service/service.ts';
import { CommandError } from '../errors.ts';
import type { KnownAccounts } from './compose.ts';
import type { DataDirectory } from './data-directory.ts';

/** A server that can be steered, before it is. */
export interface ControlledService {
  readonly service: Service;
  /** Opens the control interface. Rejects with ListenError. */
  open(place: ControlledAddresses): Promise<Pick<Control, 'url' | 'token'>>;
}

/** How it is steered. */
export interface ControlParts {
  readonly port: number;
  /** Drawn when left out. */
  readonly token: string | undefined;
  readonly keeping: Pick<DataDirectory, 'health'>;
}

/** The token that the environment has; undefined where it has none. Throws Refusal on one that cannot be. */
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
 * Composes the service so that it can be steered: as a test double where it is in memory, and as one on a store of its own
 * where it has one. Throws RangeError or DeclarationError, as `createService` does.
 */
export function composeControlled(
  options: ServiceOptions & KnownAccounts,
  parts: ControlParts,
): ControlledService {
  const kept = keptOf(options);
  if (kept !== undefined)
    return steered(composeDurableDouble(kept, randomBytes), options, parts, () => undefined);
  const context = composeDouble(
    doubleOptionsOf(options),
    createSeededRandom(randomBytes(32).toString('hex')),
  );
  return steered(context, options, parts, (face) => createMemoryControl(context, face));
}

function keptOf(options: ServiceOptions & KnownAccounts) {
  const { store, nonces, masterKey } = options;
  if (store === undefined || nonces === undefined || masterKey === undefined) return undefined;
  return { ...options, store, nonces, masterKey };
}

/** A double has its own of what is left out here; what began before this process must not be refused, for its clock may be set back. */
function doubleOptionsOf(options: ServiceOptions & KnownAccounts): DoubleOptions {
  const { store: _, nonces: __, masterKey: ___, notBefore: ____, ...others } = options;
  return others;
}

type Face = ReturnType<typeof createDoubleApi>;

function steered(
  context: ComposedService,
  { onError: fault }: ServiceOptions,
  { port, token, keeping }: ControlParts,
  memoryOf: (face: Face) => MemoryControl | undefined,
): ControlledService {
  const { faults, journal, service, events } = context;
  let control: Control | undefined;
  return {
    service: {
      ...service,
      async listen(address) {
        const { tls } = address;
        if (tls === undefined) return service.listen(address);
        const connected = () => void faults.connected();
        const listening = await service.listen({ ...address, connected });
        return showing(context, listening, typeof tls === 'function' ? tls : () => tls);
      },
      async close(grace) {
        faults.close();
        journal.close();
        await Promise.all([service.close(grace), control?.close(grace)]);
      },
    },
    async open(place) {
      const face = createDoubleApi(context, {
        url: place.url ?? place.secureUrl ?? '',
        secureUrl: place.secureUrl,
      });
      const target: ControlTarget = {
        ...face,
        addresses: place,
        events,
        health: keeping.health,
        memory: memoryOf(face),
      };
      control = await openControl(target, {
        port,
        ...(token !== undefined && { token }),
        ...(fault && { fault }),
      });
      return control;
    },
  };
}

/** A listener whose certificate faults can put another in the place of. */
function showing({ faults }: ComposedService, listening: Listening, first: () => ServerIdentity): Listening {
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
