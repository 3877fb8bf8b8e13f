/**
 * The known word that a misspelt one was probably meant to be: the one that the fewest changed, added, left-out
 * or swapped neighbouring characters lead to, case aside. At most a third of the word may differ; where nothing is that
 * near, it is the shortest one that begins with the word. Words over 64 characters are taken for no misspelling.
 */
export function closestMatch(word: string, known: readonly string[]): string | undefined {
  if (word.length > longest) return undefined;
  const sought = word.toLowerCase();
  let best: string | undefined;
  let bound = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bound) continue;
    const steps = distance(sought, candidate.toLowerCase());
    if (steps >= bound) continue;
    bound = steps;
    best = candidate;
  }
  return best ?? begunBy(sought, known);
}

/** The shortest known word that begins so. One or two characters are the beginning of nothing. */
function begunBy(beginning: string, known: readonly string[]): string | undefined {
  if (beginning.length < 3) return undefined;
  const [shortest] = known
    .filter((candidate) => candidate.toLowerCase().startsWith(beginning))
    .sort((one, other) => one.length - other.length);
  return shortest;
}

/** The end of a sentence that names the nearest known word, or else all of them. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = closestMatch(word, known);
  if (meant !== undefined) return `; did you mean "${meant}"?`;
  return known.length === 0 ? '' : `; known are ${known.join(', ')}`;
}

/** Bounds the work: the distance of two words takes their lengths multiplied. */
const longest = 64;

/** Optimal string alignment: the edits of Levenshtein and the swap of two neighbours. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const here = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const edited = Math.min(at(above, column) + 1, at(here, column - 1) + 1);
      const kept = at(above, column - 1) + (same ? 0 : 1);
      const swapped = isSwap(from, row, to, column) ? at(before, column - 2) + 1 : Infinity;
      here.push(Math.min(edited, kept, swapped));
    }
    before = above;
    above = here;
  }
  return at(above, to.length);
}

function isSwap(from: string, row: number, to: string, column: number): boolean {
  return row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
