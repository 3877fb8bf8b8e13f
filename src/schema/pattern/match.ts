/**
 * Matches text against patterns by following every state that a pattern can be in at once (Thompson's
 * construction), so that the time is at most the length of the text multiplied by the number of states,
 * whatever the text. Nothing is ever tried twice.
 */
import { type CharacterClass, includes } from './classes.ts';
import { type Expression, PatternError, parsePattern } from './syntax.ts';

/** A pattern made ready for matching. */
export interface Pattern {
  readonly source: string;
  /** How many states it has. */
  readonly size: number;
  /** The most steps that one character takes: as many as there are states, or ranges in its classes, whichever is more. */
  readonly cost: number;
  /** Whether the whole text matches. */
  matches(text: string): boolean;
}

/** The most states that a pattern may have. */
export const mostStates = 10_000;

/** What is taken for the length of a text without `maxLength`: the content of a request, 1 MiB unless set otherwise. */
export const longestText = 1_048_576;
/** How many steps the content of a request may take: about a second in the worst case. */
export const mostSteps = 50_000_000;

/** Compiles a pattern. Throws PatternError when it is none, or would have more than 10,000 states. */
export function compilePattern(source: string): Pattern {
  const automaton = tableOf(new Construction().construct(parsePattern(source)));
  const size = automaton.next.length;
  // Each class is asked once for a character, range by range.
  const asked = automaton.classes.map(({ ranges, categories }) => ranges.length + categories.length);
  const cost = Math.max(
    size,
    asked.reduce((sum, count) => sum + count, 0),
  );
  return { source, size, cost, matches: (text) => new Simulation(automaton).run(text) };
}

/** Reads one character of a class, or goes on to one or two states without reading; the last one accepts. */
interface State {
  readonly reads: CharacterClass | undefined;
  /** Numbers of states; -1 for none. */
  next: number;
  other: number;
}

class Construction {
  readonly #states: State[] = [];

  construct(expression: Expression): readonly State[] {
    this.#append(expression);
    this.#add(undefined);
    return this.#states;
  }

  /** Appends the states of an expression. They begin at the first one appended and lead to the one after them. */
  #append(expression: Expression): void {
    if (expression.kind === 'class') this.#add(expression.class);
    else if (expression.kind === 'sequence') this.#appendSequence(expression.parts);
    else if (expression.kind === 'choice') this.#appendChoice(expression.branches);
    else this.#appendRepeat(expression.part, expression.least, expression.most);
  }

  #appendSequence(parts: readonly Expression[]): void {
    // A state even for nothing, so that repeating nothing is counted too.
    if (parts.length === 0) this.#add(undefined);
    for (const part of parts) this.#append(part);
  }

  #appendChoice(branches: readonly Expression[]): void {
    const ends: State[] = [];
    branches.forEach((branch, index) => {
      const fork = this.#add(undefined);
      this.#append(branch);
      if (index === branches.length - 1) return;
      ends.push(this.#add(undefined));
      fork.other = this.#states.length;
    });
    for (const end of ends) end.next = this.#states.length;
  }

  #appendRepeat(part: Expression, least: number, most: number): void {
    for (let count = 0; count < least; count++) this.#append(part);
    if (most === Infinity) {
      const start = this.#states.length;
      const fork = this.#add(undefined);
      this.#append(part);
      this.#add(undefined).next = start;
      fork.other = this.#states.length;
      return;
    }
    const forks: State[] = [];
    for (let count = least; count < most; count++) {
      forks.push(this.#add(undefined));
      this.#append(part);
    }
    // {0} and {0,0} leave no states behind.
    if (most === 0) this.#add(undefined);
    for (const fork of forks) fork.other = this.#states.length;
  }

  #add(reads: CharacterClass | undefined): State {
    if (this.#states.length >= mostStates) {
      throw new PatternError(`it has more than ${mostStates} states; make its repetitions smaller`);
    }
    const state = { reads, next: this.#states.length + 1, other: -1 };
    this.#states.push(state);
    return state;
  }
}

/** The states as tables, by their numbers. */
interface Automaton {
  /** The distinct classes, and for each state the one that it reads; -1 for none. */
  readonly classes: readonly CharacterClass[];
  readonly reads: Int32Array;
  readonly next: Int32Array;
  readonly other: Int32Array;
}

function tableOf(states: readonly State[]): Automaton {
  const classes = [...new Set(states.map(({ reads }) => reads))].filter((reads) => reads !== undefined);
  const numbers = new Map(classes.map((reads, number) => [reads, number]));
  return {
    classes,
    reads: Int32Array.from(states, ({ reads }) => (reads === undefined ? -1 : (numbers.get(reads) ?? -1))),
    next: Int32Array.from(states, ({ next }) => next),
    other: Int32Array.from(states, ({ other }) => other),
  };
}

/** A set of states that are entered in one step. */
interface StateSet {
  readonly states: Int32Array;
  size: number;
}

/** One run over one text. */
class Simulation {
  readonly #automaton: Automaton;
  readonly #accepting: number;
  /** For each state, the number of the step that reached it last. */
  readonly #reached: Uint32Array;
  readonly #pending: number[] = [];
  #step = 1;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#accepting = automaton.next.length - 1;
    this.#reached = new Uint32Array(automaton.next.length);
  }

  run(text: string): boolean {
    let here = this.#newSet();
    let ahead = this.#newSet();
    this.#enter(0, here);
    for (let at = 0; at < text.length && here.size > 0; at++) {
      const code = text.codePointAt(at) ?? 0;
      if (code > 0xffff) at++;
      this.#step++;
      this.#read(code, here, ahead);
      [here, ahead] = [ahead, here];
      ahead.size = 0;
    }
    return here.states.subarray(0, here.size).includes(this.#accepting);
  }

  #newSet(): StateSet {
    return { states: new Int32Array(this.#reached.length), size: 0 };
  }

  /** Enters every state that one of these goes on to with the character. */
  #read(code: number, here: StateSet, ahead: StateSet): void {
    const { classes, reads, next } = this.#automaton;
    // Many states read the same class, above all in repetitions: each class is asked once.
    const verdicts = classes.map((each) => includes(each, code));
    for (let index = 0; index < here.size; index++) {
      const state = here.states[index] ?? 0;
      if (verdicts[reads[state] ?? -1] === true) this.#enter(next[state] ?? 0, ahead);
    }
  }

  /** Adds the state, and those that it leads to without reading, to the set; each once a step. */
  #enter(first: number, set: StateSet): void {
    const { reads, next, other } = this.#automaton;
    const [reached, step, pending] = [this.#reached, this.#step, this.#pending];
    for (let state: number | undefined = first; state !== undefined; ) {
      const known = reached[state] === step;
      reached[state] = step;
      if (known || reads[state] !== -1 || state === this.#accepting) {
        if (!known) set.states[set.size++] = state;
        state = pending.pop();
        continue;
      }
      const fork = other[state] ?? -1;
      if (fork !== -1 && reached[fork] !== step) pending.push(fork);
      state = next[state];
    }
  }
}
