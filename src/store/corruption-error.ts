/** Where in a file something is wrong. */
export interface CorruptionLocation {
  /** Counted from 1. */
  readonly line: number;
  /** How many bytes stand before it in the file. */
  readonly byte: number;
}

/** A file of the data directory is not what was written there. Nothing is repaired and nothing thrown away. */
export class CorruptionError extends Error {
  override readonly name = 'CorruptionError';
  readonly code = 'damaged';
  /** The path of the file. */
  readonly file: string;
  /** Where the damage begins, if that can be told. */
  readonly place: CorruptionLocation | undefined;

  /** `choices` is a sentence that says what can be done. */
  constructor(file: string, what: string, place?: CorruptionLocation, choices?: string) {
    const where = place === undefined ? '' : `line ${place.line}, at byte ${place.byte}: `;
    const end = choices === undefined ? '' : ` ${choices}`;
    super(`${file} cannot be used: ${where}${what}. Nothing was changed.${end}`);
    this.file = file;
    this.place = place;
  }
}
