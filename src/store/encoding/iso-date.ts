/** Formats a time (ms since 1970-01-01T00:00:00Z) as ISO 8601 with milliseconds, in UTC. */
export function formatIsoDate(time: number): string {
  return new Date(time).toISOString();
}

/** The dates of this format that exist in every month. */
const plainDate =
  /^[0-9]{4}-[0-9]{2}-(?:[01][0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;

/** Parses a date of exactly this format. Returns its time (ms), or undefined for any other text. */
export function parseIsoDate(text: string): number | undefined {
  const time = Date.parse(text);
  if (plainDate.test(text)) return Number.isNaN(time) ? undefined : time;
  // Date.parse accepts other formats, and dates that do not exist. So the result is formatted and compared.
  return Number.isNaN(time) || formatIsoDate(time) !== text ? undefined : time;
}

/** Formats times. It is faster than `formatIsoDate` if most times are in the same second as the previous one. */
export class IsoDates {
  #second = Number.NaN;
  /** The date of that second, up to the decimal point. */
  #text = '';

  /** Formats a time as `formatIsoDate` does. */
  format(time: number): string {
    const second = Math.floor(time / 1000);
    if (second !== this.#second) {
      this.#text = formatIsoDate(second * 1000).slice(0, -'000Z'.length);
      this.#second = second;
    }
    return `${this.#text}${String(time - second * 1000).padStart(3, '0')}Z`;
  }
}
