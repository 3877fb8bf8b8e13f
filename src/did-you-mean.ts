/**
 * Returns the known word that a misspelt one probably means, ignoring case: the one at the smallest edit distance. At most a
 * third of the characters may differ. If no word is that close, returns the shortest one that begins with `word`. Words of
 * more than 64 characters are not matched.
 */
export function findClosestMatch(word: string, known: readonly string[]): string | undefined {
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
  return best ?? findShortestWithPrefix(sought, known);
}

/** Returns the shortest known word that begins with `prefix`, which must have at least three characters. */
function findShortestWithPrefix(prefix: string, known: readonly string[]): string | undefined {
  if (prefix.length < 3) return undefined;
  const [shortest] = known
    .filter((candidate) => candidate.toLowerCase().startsWith(prefix))
    .sort((one, other) => one.length - other.length);
  return shortest;
}

/** Returns the end of an error message: the known word that was probably meant, or else all of them. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = findClosestMatch(word, known);
  if (meant !== undefined) return `; did you mean "${meant}"?`;
  return known.length === 0 ? '' : `; known are ${known.join(', ')}`;
}

/** Bounds the work: computing a distance takes time in proportion to the product of both lengths. */
const longest = 64;

/** Returns the distance in optimal string alignment: Levenshtein's edits, and swaps of neighbouring characters. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const here = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const edited = Math.min(readCell(above, column) + 1, readCell(here, column - 1) + 1);
      const substituted = readCell(above, column - 1) + (same ? 0 : 1);
      const swapped = isSwap(from, row, to, column) ? readCell(before, column - 2) + 1 : Infinity;
      here.push(Math.min(edited, substituted, swapped));
    }
    before = above;
    above = here;
  }
  return readCell(above, to.length);
}

function isSwap(from: string, row: number, to: string, column: number): boolean {
  return row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
}

function readCell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
