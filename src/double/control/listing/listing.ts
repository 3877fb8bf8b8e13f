import type { ComposedService } from '../../compose.ts';
import { type AccountListing, createAccountListing } from './accounts.ts';
import { createDataListing, type DataListing } from './data.ts';

/** Lists what the controlled service knows, without secrets and without the values of tokens. */
export interface Listing extends AccountListing, DataListing {
  /** Returns whether the clock is frozen, and the skew of `Date` in ms. */
  time(): { readonly frozen: boolean; readonly skew: number };
}

/** Creates the listing of a service. */
export function createListing(context: ComposedService): Listing {
  return {
    ...createAccountListing(context),
    ...createDataListing(context.data),
    time() {
      const { setting, skew } = context.time.snapshot();
      return { frozen: 'stands' in setting, skew };
    },
  };
}
