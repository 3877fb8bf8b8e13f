import { either, listOf, optional, text } from './shape.ts';

/** Which requests are meant: all that fit everything that is given. */
export const matchMembers = {
  method: optional(either(text(), listOf(text()), 'GET; several by a list')),
  path: optional(text('without its query: as it is, or as a template such as /articles/{id}')),
  user: optional(text('whom the credentials speak of, be they good or not')),
};
