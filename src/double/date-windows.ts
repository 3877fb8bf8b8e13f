import { readSchemes } from '../auth/configured-schemes.ts';
import { readDuration } from '../duration.ts';
import { readLifetimes } from '../oauth/lifetimes.ts';
import type { ServiceOptions } from '../service/options.ts';
import type { SchemeKind } from '../signature/signing.ts';

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
    ...Object.fromEntries(configured.map(({ name, dateWindow }) => [name, dateWindow / 1000])),
  };
}

/** A scheme of the configuration, and what its signatures contain. */
export interface ConfiguredSigner {
  readonly name: string;
  readonly kind: SchemeKind;
  /** Whether its signatures have a date. */
  readonly date: boolean;
  /** Whether a client can choose the nonce of its signatures. A scheme in code may ignore it. */
  readonly nonce: boolean;
}

/** Returns the schemes of the configuration, in its order. */
export function listSigners(schemes: ServiceOptions['schemes'] = {}): readonly ConfiguredSigner[] {
  return readSchemes(schemes).map(({ name, kind, dateWindow, choices }) => ({
    name,
    kind,
    date: dateWindow > 0,
    nonce: choices.includes('nonce'),
  }));
}
