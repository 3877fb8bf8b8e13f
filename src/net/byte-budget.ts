/** A number of bytes that several requests share. */
export class ByteBudget {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Takes bytes. Returns false, and takes none, if fewer are free. */
  take(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  /** Returns bytes that were taken. */
  giveBack(bytes: number): void {
    this.#free += bytes;
  }
}
