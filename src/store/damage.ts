/** A file of the data directory is not what was written there. Nothing is repaired and nothing thrown away. */
export class DamagedStoreError extends Error {
  override readonly name = 'DamagedStoreError';
  readonly code = 'damaged';
  /** The path of the file. */
  readonly file: string;

  constructor(file: string, what: string) {
    super(`${file} cannot be used: ${what}. Nothing was changed.`);
    this.file = file;
  }
}
