/** The one in the middle. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}

/** A whole number as a person reads it. */
export function number(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Prints rows under heads, the first column to the left and the others to the right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  console.log();
  for (const row of [heads, ...rows]) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('  ')}`);
  }
}

/** Prints a figure beside what is required of it; gives whether it is met. */
export function judge(what: string, figure: number, bound: 'at least' | 'at most', limit: number): boolean {
  const met = bound === 'at least' ? figure >= limit : figure <= limit;
  console.log(`  ${met ? 'met   ' : 'MISSED'} ${what}: ${figure.toFixed(2)}, required ${bound} ${limit}`);
  return met;
}
