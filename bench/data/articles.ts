/** An article as the default collection keeps it. */
export type Article = {
  readonly title: string;
  readonly price: { readonly value: string; readonly currency: string };
};

/** Where the articles are. */
export const articles = '/articles';

/** The article of a number, made anew; another `edition` has another price. */
export function article(number: number, edition = 0): Article {
  const cents = (number * 7919 + edition * 104_729) % 1_000_000;
  const value = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  return { title: `The Old Man and the Sea, printing ${number}`, price: { value, currency: 'EUR' } };
}
