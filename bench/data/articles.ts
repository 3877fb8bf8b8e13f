/** An article as the default collection stores it. */
export type Article = {
  readonly title: string;
  readonly price: { readonly value: string; readonly currency: string };
};

/** The path of the collection. */
export const articles = '/articles';

/** Creates the article with this number. A different `edition` has a different price. */
export function article(number: number, edition = 0): Article {
  const cents = (number * 7919 + edition * 104_729) % 1_000_000;
  const value = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  return { title: `The Old Man and the Sea, printing ${number}`, price: { value, currency: 'EUR' } };
}
