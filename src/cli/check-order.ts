import { Refusal } from './refusal.ts';

/** What `countersign check` is asked to do, and the arguments that say where. */
export interface CheckOrder {
  readonly action: 'look' | 'repair' | 'accept edits';
  /** Where --repair writes to; else empty. */
  readonly to: string;
  /** The options, as serve has them. */
  readonly rest: readonly string[];
}

/** Reads the flags that `check` has of its own. Throws Refusal. */
export function readCheckOrder(argv: readonly string[]): CheckOrder {
  const rest: string[] = [];
  let to: string | undefined;
  let accept = false;
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? '';
    if (argument === '--accept-edits') accept = true;
    else if (argument === '--repair' || argument.startsWith('--repair=')) {
      if (to !== undefined) throw new Refusal(['--repair is given twice']);
      to = argument === '--repair' ? argv[++at] : argument.slice('--repair='.length);
      if (to === undefined || to === '' || to.startsWith('--'))
        throw new Refusal(['--repair needs a value: the new directory']);
    } else rest.push(argument);
  }
  if (accept && to !== undefined) throw new Refusal(['--repair and --accept-edits do not go together']);
  if (to !== undefined) return { action: 'repair', to, rest };
  return { action: accept ? 'accept edits' : 'look', to: '', rest };
}
