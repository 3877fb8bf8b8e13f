import { StoreError } from './errors.ts';

/** A position in a file. */
export interface CorruptionLocation {
  /** The line, from 1. */
  readonly line: number;
  /** The offset in bytes, from 0. */
  readonly byte: number;
}

/** A StoreError `damaged`: a file of the data directory is corrupt. The file is not changed. */
export class CorruptionError extends StoreError {
  /** The path of the file. */
  readonly file: string;
  /** Where the corruption begins; undefined if it is not known. */
  readonly location: CorruptionLocation | undefined;

  /** @param advice one or more sentences about what the user can do, without the last full stop */
  constructor(file: string, reason: string, location?: CorruptionLocation, advice?: string) {
    const where = location === undefined ? '' : `line ${location.line}, at byte ${location.byte}: `;
    const end = advice === undefined ? '' : ` ${advice}`;
    super('damaged', `${file} cannot be used: ${where}${reason}. Nothing was changed.${end}`);
    this.file = file;
    this.location = location;
  }
}
