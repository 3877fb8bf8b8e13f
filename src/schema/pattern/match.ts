/**
 * Matches text against patterns by following all possible states of an automaton at once (Thompson's
 * construction). There is no backtracking, so the time is at most the length of the text times the number of
 * states.
 */
import { type CharacterClass, includes } from './classes.ts';
import { type Expression, PatternError, parsePattern } from './syntax.ts';

/** A compiled pattern. */
export interface Pattern {
  readonly source: string;
  /** The number of states. */
  readonly size: number;
  /**
   * The maximum number of steps per character: the number of states, or of ranges in the classes, whichever
   * is greater.
   */
  readonly cost: number;
  /** Returns whether the whole text matches. */
  matches(text: string): boolean;
}

/** The maximum number of states of a pattern. */
export const maxStates = 10_000;

/** The assumed length of a text without `maxLength`: 1 MiB, the default limit of a request's content. */
export const maxTextLength = 1_048_576;
/** The maximum number of steps for the content of one request, about one second. */
export const maxSteps = 50_000_000;

/**
 * Compiles a pattern.
 * @throws {PatternError} for an invalid pattern, or one with more than 10,000 states
 */
export function compilePattern(source: string): Pattern {
  const automaton = buildTable(new Construction().construct(parsePattern(source)));
  const size = automaton.next.length;
  // For each character, each class is tested once, range by range.
  const tests = automaton.classes.map(({ ranges, categories }) => ranges.length + categories.length);
  const cost = Math.max(
    size,
    tests.reduce((sum, count) => sum + count, 0),
  );
  return { source, size, cost, matches: (text) => new Simulation(automaton).run(text) };
}

/**
 * A state, which consumes a character of a class or continues with one or two states. The last state accepts.
 */
interface State {
  readonly reads: CharacterClass | undefined;
  /** State numbers; -1 for none. */
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

  /**
   * Appends the states of an expression. They begin with the first one appended and lead to the state after
   * the last.
   */
  #append(expression: Expression): void {
    if (expression.kind === 'class') this.#add(expression.class);
    else if (expression.kind === 'sequence') this.#appendSequence(expression.parts);
    else if (expression.kind === 'choice') this.#appendChoice(expression.branches);
    else this.#appendRepeat(expression.part, expression.min, expression.max);
  }

  #appendSequence(parts: readonly Expression[]): void {
    // An empty sequence also takes a state, so that repetitions of it are counted.
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

  #appendRepeat(part: Expression, min: number, max: number): void {
    for (let count = 0; count < min; count++) this.#append(part);
    if (max === Infinity) {
      const start = this.#states.length;
      const fork = this.#add(undefined);
      this.#append(part);
      this.#add(undefined).next = start;
      fork.other = this.#states.length;
      return;
    }
    const forks: State[] = [];
    for (let count = min; count < max; count++) {
      forks.push(this.#add(undefined));
      this.#append(part);
    }
    // Without this, {0} and {0,0} would add no state.
    if (max === 0) this.#add(undefined);
    for (const fork of forks) fork.other = this.#states.length;
  }

  #add(reads: CharacterClass | undefined): State {
    if (this.#states.length >= maxStates) {
      throw new PatternError(`it has more than ${maxStates} states; reduce its repetitions`);
    }
    const state = { reads, next: this.#states.length + 1, other: -1 };
    this.#states.push(state);
    return state;
  }
}

/** The states as tables indexed by state number. */
interface Automaton {
  /** The distinct classes, and the index of the class that each state consumes; -1 for none. */
  readonly classes: readonly CharacterClass[];
  readonly reads: Int32Array;
  readonly next: Int32Array;
  readonly other: Int32Array;
}

function buildTable(states: readonly State[]): Automaton {
  const classes = [...new Set(states.map(({ reads }) => reads))].filter((reads) => reads !== undefined);
  const numbers = new Map(classes.map((reads, number) => [reads, number]));
  return {
    classes,
    reads: Int32Array.from(states, ({ reads }) => (reads === undefined ? -1 : (numbers.get(reads) ?? -1))),
    next: Int32Array.from(states, ({ next }) => next),
    other: Int32Array.from(states, ({ other }) => other),
  };
}

/** The set of states after one step. */
interface StateSet {
  readonly states: Int32Array;
  size: number;
}

/** Matches one text. */
class Simulation {
  readonly #automaton: Automaton;
  readonly #accepting: number;
  /** The last step that reached each state. */
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

  /** Enters all states that follow the current ones after this character. */
  #read(code: number, here: StateSet, ahead: StateSet): void {
    const { classes, reads, next } = this.#automaton;
    // Many states, especially of repetitions, share a class, so each class is tested once.
    const included = classes.map((each) => includes(each, code));
    for (let index = 0; index < here.size; index++) {
      const state = here.states[index] ?? 0;
      if (included[reads[state] ?? -1] === true) this.#enter(next[state] ?? 0, ahead);
    }
  }

  /**
   * Adds a state, and all states that it leads to without consuming a character, to the set. Each is added
   * once per step.
   */
  #enter(first: number, set: StateSet): void {
    const { reads, next, other } = this.#automaton;
    const [reached, step, pending] = [this.#reached, this.#step, this.#pending];
    for (let state: number | undefined = first; state !== undefined; ) {
      const visited = reached[state] === step;
      reached[state] = step;
      if (visited || reads[state] !== -1 || state === this.#accepting) {
        if (!visited) set.states[set.size++] = state;
        state = pending.pop();
        continue;
      }
      const fork = other[state] ?? -1;
      if (fork !== -1 && reached[fork] !== step) pending.push(fork);
      state = next[state];
    }
  }
}
