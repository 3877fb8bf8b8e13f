/** A time (ms since 1970-01-01T00:00:00Z) as ISO 8601 with milliseconds, in UTC. */
export function formatIsoDate(time: number): string {
  return new Date(time).toISOString();
}

/** The time (ms) that such a date stands for; undefined when it is not exactly in that form. */
export function parseIsoDate(text: string): number | undefined {
  const time = Date.parse(text);
  // Date.parse takes other forms and shifts days that do not exist; only what writes back the same is right.
  return Number.isNaN(time) || formatIsoDate(time) !== text ? undefined : time;
}

/** What the dates of most years look like. */
const form = '0000-00-00T00:00:00.000Z';
const [zero, nine] = [0x30, 0x39];

/** The time (ms) of a date whose bytes are here; undefined when it is not in that form, or of a year before 100. */
export function isoDateAt(bytes: Uint8Array, at: number): number | undefined {
  for (let next = 0; next < form.length; next += 1) {
    const [code = 0, expected] = [bytes[at + next], form.charCodeAt(next)];
    if (expected === zero ? code < zero || code > nine : code !== expected) return undefined;
  }
  const two = (from: number): number =>
    10 * ((bytes[at + from] ?? 0) - zero) + (bytes[at + from + 1] ?? 0) - zero;
  const year = 100 * two(0) + two(2);
  // Date.UTC takes them for years of the twentieth century.
  if (year < 100) return undefined;
  const milliseconds = 10 * two(20) + (bytes[at + 22] ?? 0) - zero;
  return Date.UTC(year, two(5) - 1, two(8), two(11), two(14), two(17), milliseconds);
}

/** Formats times, most of which are in the same second as the one before. */
export class IsoDates {
  #second = Number.NaN;
  /** That second's date up to the point. */
  #text = '';

  /** As formatIsoDate. */
  format(time: number): string {
    const second = Math.floor(time / 1000);
    if (second !== this.#second) {
      this.#text = formatIsoDate(second * 1000).slice(0, -'000Z'.length);
      this.#second = second;
    }
    return `${this.#text}${String(time - second * 1000).padStart(3, '0')}Z`;
  }
}
