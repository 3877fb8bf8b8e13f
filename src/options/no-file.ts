import type { ConfigurationFile } from './file.ts';

/** What stands for a configuration file where there is none; by itself, so that what reads one is not loaded. */
export const emptyFile: ConfigurationFile = {
  settings: [],
  users: new Map(),
  clients: new Map(),
  consumers: new Map(),
  collections: undefined,
  seed: undefined,
};
