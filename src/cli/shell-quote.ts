/** One word of a shell command: whatever is in it, a POSIX shell takes it as it is. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9@%+=:,./_-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
