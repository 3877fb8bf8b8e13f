/**
 * Masks secrets in messages, since secrets and names are easily swapped; not a secret that looks like a word, which messages contain
 * themselves. The search is loaded only if there is a message.
 *
 * @param secrets returns the known secrets
 */
export async function maskSecrets(
  messages: readonly string[],
  secrets: () => readonly string[],
): Promise<readonly string[]> {
  if (messages.length === 0) return messages;
  const { createMask, isWord } = await import('../auth/secret-search/secret-search.ts');
  const known = secrets().filter((secret) => !isWord(secret));
  return messages.map(createMask(() => known));
}
