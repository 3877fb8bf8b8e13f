/** The member of entries and responses that has the entry. Registered, so that it is the same in all copies of this module. */
export const entryOfAnswer = Symbol.for('countersign.journal-entry');
