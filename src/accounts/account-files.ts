/** Loads the file of a kind of accounts. What reads a kind is loaded only when it is needed. */
export const accountFiles = {
  users: async () => (await import('./users.ts')).userFile,
  clients: async () => (await import('./clients.ts')).clientFile,
  consumers: async () => (await import('./clients.ts')).consumerFile,
  keys: async () => (await import('./signing-keys.ts')).signingKeyFile,
  revocations: async () => (await import('./revocations.ts')).revocationFile,
} as const;
