import type { ConfigurationFile } from './file.ts';

/** An empty configuration, used without a configuration file. A separate module, so that the parser is not loaded. */
export const emptyFile: ConfigurationFile = {
  settings: [],
  users: new Map(),
  schemes: {},
  clients: new Map(),
  consumers: new Map(),
  collections: undefined,
  seed: undefined,
};
