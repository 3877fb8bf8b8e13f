/** Returns a number and a noun in the right form: `1 item`, `2 items`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
