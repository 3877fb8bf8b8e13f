/** One request, and what became of it. */
export interface JournalEntry {
  readonly number: number;
}
