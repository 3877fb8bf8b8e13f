import { either, listOf, optional, text } from './shape.ts';

/** The members of an object that selects requests. A request matches if it matches every member that is present. */
export const matchMembers = {
  method: optional(either(text(), listOf(text()), 'a method such as GET, or a list of methods')),
  path: optional(text('the path without its query: exactly, or as a template such as /articles/{id}')),
  user: optional(text('the user that the credentials name, valid or not')),
};
