/** The width of a chart in pixels; a page can scale it down. */
export const chartWidth = 820;

/** A part of a chart: its height and its markup. */
export interface Drawing {
  readonly height: number;
  /** Returns the markup of the part, with its upper edge at `top`. */
  draw(top: number): string;
}
