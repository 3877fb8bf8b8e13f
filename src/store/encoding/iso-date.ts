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
