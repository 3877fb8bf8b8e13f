import type { JournalEntry } from '../../journal/entry.ts';
import type { DoubleJournal } from '../../journal/journal.ts';

/** The date and the nonce with which a request was signed, as sent, without secrets. */
interface ShownTimes {
  readonly date?: {
    readonly text: string;
    /** In ms since 1970-01-01T00:00:00Z. */
    readonly time: number;
  };
  readonly nonce?: string;
  /** The first other request with the same nonce, before this one. */
  readonly earlier?: { readonly number: number; readonly time: number } | undefined;
}

/** Returns the date and nonce of a request, and an earlier use of the nonce. */
export function showPresented(journal: Pick<DoubleJournal, 'all'>, entry: JournalEntry): ShownTimes {
  const { time, nonce, sentTime } = entry.presented ?? {};
  const text = sentTime ?? String(Math.floor((time ?? 0) / 1000));
  return {
    ...(time !== undefined && { date: { text: entry.redact(text), time } }),
    ...(nonce !== undefined && {
      nonce: entry.redact(nonce),
      earlier: findEarlierUse(journal, entry, nonce),
    }),
  };
}

function findEarlierUse(
  journal: Pick<DoubleJournal, 'all'>,
  { number, user }: JournalEntry,
  nonce: string,
): ShownTimes['earlier'] {
  const first = journal.all().find((other) => other.user === user && other.presented?.nonce === nonce);
  return first === undefined || first.number >= number
    ? undefined
    : { number: first.number, time: first.time };
}
