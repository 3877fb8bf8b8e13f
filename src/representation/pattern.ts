/**
 * Matches text against patterns by following every state that a pattern can be in at once (Thompson's
 * construction), so that the time is at most the length of the text multiplied by the number of states,
 * whatever the text. Nothing is ever tried twice.
 */
import { type CharacterClass, includes } from './character-class.ts';
import { type Expression, PatternError, parsePattern } from './pattern-syntax.ts';

/** A pattern made ready for matching. */
export interface Pattern {
  readonly source: string;
  /** How many states it has. */
  readonly size: number;
  /** Whether the whole text matches. */
  matches(text: string): boolean;
}

/** The most states that a pattern may have. */
export const mostStates = 10_000;

/** Compiles a pattern. Throws PatternError when it is none, or would have more than 10,000 states. */
export function compilePattern(source: string): Pattern {
  const states = new Construction().construct(parsePattern(source));
  return { source, size: states.length, matches: (text) => new Simulation(states).run(text) };
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

/** One run over one text. */
class Simulation {
  readonly #states: readonly State[];
  /** For each state, the number of the step that reached it last. */
  readonly #reached: Uint32Array;
  readonly #pending: number[] = [];
  #step = 1;

  constructor(states: readonly State[]) {
    this.#states = states;
    this.#reached = new Uint32Array(states.length);
  }

  run(text: string): boolean {
    let here: State[] = [];
    let ahead: State[] = [];
    this.#enter(0, here);
    for (let at = 0; at < text.length && here.length > 0; at++) {
      const code = text.codePointAt(at) ?? 0;
      if (code > 0xffff) at++;
      this.#step++;
      for (const state of here) {
        if (state.reads !== undefined && includes(state.reads, code)) this.#enter(state.next, ahead);
      }
      [here, ahead] = [ahead, here];
      ahead.length = 0;
    }
    const accepting = this.#states[this.#states.length - 1];
    return here.some((state) => state === accepting);
  }

  /** Adds the state, and those that it leads to without reading, to the list; each once a step. */
  #enter(first: number, list: State[]): void {
    const pending = this.#pending;
    pending.push(first);
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      const state = this.#states[index];
      if (state === undefined || this.#reached[index] === this.#step) continue;
      this.#reached[index] = this.#step;
      if (state.reads !== undefined || index === this.#states.length - 1) list.push(state);
      else pending.push(state.next, state.other);
    }
  }
}
