import type { Clock } from '../clock.ts';

/** The minimum time (ms) between two reports of one kind. */
const interval = 60_000;

/** Reports a line of a kind, at most once a minute. */
export type Report = (kind: string, line: string) => void;

/** Creates a function that reports lines. */
export function createReporter(onReport: (line: string) => void, clock: Clock): Report {
  const last = new Map<string, number>();
  return (kind, line) => {
    const now = clock.steady();
    const before = last.get(kind);
    if (before !== undefined && now - before < interval) return;
    last.set(kind, now);
    onReport(line);
  };
}
