import type { Options } from '../../options/options.ts';
import type { Listener } from '../../service/service.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { composeService } from './compose.ts';
import type { ControlledService, ControlOptions } from './control.ts';
import type { DataDirectory } from './data-directory.ts';
import type { Notices } from './notices.ts';

/** A control interface that is not open yet. */
export interface PreparedControl {
  /** Counts a sync of the journal, which took `ms` milliseconds. */
  readonly onSync: (ms: number) => void;
  /** Returns the function that creates the controlled service. */
  composer(
    dataDirectory: DataDirectory,
    partner: ControlOptions['partner'],
  ): NonNullable<Parameters<typeof composeService>[3]>;
  /** Opens the control interface. Resolves to its URL. */
  open(
    plain: Listener | undefined,
    secure: Listener | undefined,
    certificate: Certificate | undefined,
  ): Promise<string>;
}

/** Loads the control interface if `--control-port` is set. Throws CommandError if its token is not valid. */
export async function prepareControl(
  { controlPort: port, tlsCert, tls }: Options,
  environment: NodeJS.ProcessEnv,
  notices: Notices,
): Promise<PreparedControl | undefined> {
  if (port === undefined) return undefined;
  const { composeControlled, controlToken, createServerMetrics } = await import('./control.ts');
  const token = controlToken(environment);
  const metrics = createServerMetrics();
  let controlled: ControlledService | undefined;
  return {
    onSync: (ms) => metrics.synced(ms),
    composer: (dataDirectory, partner) => (options) => {
      controlled = composeControlled(options, { port, token, dataDirectory, metrics, partner, tls });
      return controlled.service;
    },
    async open(plain, secure, certificate) {
      // A client trusts the server's own certificate, but not one of --tls-cert, whose authority is not known here.
      const own = tlsCert === undefined ? certificate?.identity.cert.toString() : undefined;
      const control = await controlled?.open({ url: plain?.url, secureUrl: secure?.url, certificate: own });
      if (control === undefined) throw new Error('the service must be composed before its control is opened');
      if (token === undefined) notices.warn(`control token, shown only once: ${control.token}`);
      // A token from the environment is known to its owner. It is not repeated, since logs may keep standard error.
      const address = token === undefined ? control.console : `${control.url}/`;
      notices.info(`Console: ${address}`, 'Console', { url: address });
      return control.url;
    },
  };
}
