/** Formats a time (ms since 1970-01-01T00:00:00Z) in the basic format of ISO 8601: `20150830T123600Z`. */
export function formatStamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}|[:-]/g, '');
}

/** Parses `20150830T123600Z`. Returns ms since 1970-01-01T00:00:00Z; undefined if it is malformed or does not exist. */
export function parseStamp(text: string): number | undefined {
  if (!/^\d{8}T\d{6}Z$/.test(text)) return undefined;
  const number = (from: number, to: number): number => Number(text.slice(from, to));
  const [year, month, day] = [number(0, 4), number(4, 6), number(6, 8)];
  const [hour, minute, second] = [number(9, 11), number(11, 13), number(13, 15)];
  if (year < 100 || hour > 23 || minute > 59 || second > 59) return undefined;
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(time);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? time : undefined;
}
