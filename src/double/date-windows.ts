import { type ConfiguredScheme, readSchemes } from '../auth/configured-schemes.ts';
import { readDuration } from '../duration.ts';
import { readLifetimes } from '../oauth/lifetimes.ts';
import type { ServiceOptions } from '../service/options.ts';

/** The default window of HMAC, in seconds. */
const defaultWindow = 600;

/** Returns the seconds by which the date of a signature may differ from the clock, by scheme. */
export function dateWindows({
  window = defaultWindow,
  lifetimes,
  schemes = {},
}: Pick<ServiceOptions, 'window' | 'lifetimes' | 'schemes'>): Readonly<Record<string, number>> {
  const configured = readSchemes(schemes);
  const { oauth1Window } = readLifetimes(lifetimes);
  return {
    hmac: (readDuration(window, 1000) ?? 0) / 1000,
    oauth: oauth1Window / 1000,
    ...Object.fromEntries(configured.map((scheme) => [scheme.name, readWindow(scheme)])),
  };
}

/** Returns the window of a scheme in seconds; 0 if it has none. */
function readWindow(scheme: ConfiguredScheme): number {
  if (scheme.kind === 'message-signatures') return scheme.options.window;
  if (scheme.kind === 'aws4') return scheme.options.window / 1000;
  if (scheme.kind === 'defined') return scheme.options.isDated ? scheme.options.window / 1000 : 0;
  return scheme.kind === 'declared' ? (scheme.options.timestamp?.window ?? 0) / 1000 : 0;
}

/** A scheme of the configuration, and what its signatures contain. */
export interface ConfiguredSigner {
  readonly name: string;
  readonly kind: ConfiguredScheme['kind'];
  /** Whether its signatures have a date. */
  readonly date: boolean;
  /** Whether its signatures have a nonce. */
  readonly nonce: boolean;
}

/** Returns the schemes of the configuration, in its order. */
export function listSigners(schemes: ServiceOptions['schemes'] = {}): readonly ConfiguredSigner[] {
  return readSchemes(schemes).map((scheme) => ({
    name: scheme.name,
    kind: scheme.kind,
    date: readWindow(scheme) > 0,
    nonce: hasNonce(scheme),
  }));
}

/** Returns whether a signer can choose the nonce. A scheme that is defined in code may ignore it. */
function hasNonce(scheme: ConfiguredScheme): boolean {
  if (scheme.kind === 'declared') return scheme.options.nonce !== undefined;
  return scheme.kind === 'message-signatures' || scheme.kind === 'defined';
}
