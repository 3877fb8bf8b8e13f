import { action, Problem, readBytes, text } from 'countersign';

/** Creates a resource for `/notes/{user}`: anyone can read a user's note, only that user can change it. */
export function createNotes() {
  const notes = new Map();
  let changes = 0;

  return {
    // Called before the action. `tag` becomes the ETag, so If-Match and If-None-Match work.
    find: ({ parameters }) => notes.get(parameters.user),

    GET: action('anyone', ({ state }) => ({
      status: 200,
      representation: text(state.value),
      state,
    })),

    PUT: action(
      'owner:user',
      ({ parameters, state, body, now }) => {
        const note = Buffer.from(body).toString('utf8');
        if (note.includes('\0')) throw new Problem('invalid-content', 'A note has no NUL characters.');
        changes += 1;
        notes.set(parameters.user, { tag: String(changes), modified: now, value: note });
        return { status: state === undefined ? 201 : 204 };
      },
      { reads: [{ ...readBytes, type: 'text/plain' }], mayCreate: () => true },
    ),

    DELETE: action('owner:user', ({ parameters }) => {
      notes.delete(parameters.user);
      return { status: 204 };
    }),
  };
}
