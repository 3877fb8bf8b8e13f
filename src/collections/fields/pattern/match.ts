/**
 * Matches text against patterns by following all possible states of an automaton at once (Thompson's
 * construction). There is no backtracking, so the time is at most the length of the text times the number of
 * states. Two things need no more states than one:
 *
 * - `[a-z]{2,500}`, a bounded repetition of a class, is one state with the positions at which it was entered.
 * - Lookaround is searched first, for all positions at once: lookbehind forwards, and lookahead, written from
 *   right to left, backwards from the end of the text.
 */
import { type CharacterClass, includes, wordCharacters } from './classes.ts';
import { parseEcmaPattern } from './ecma-syntax.ts';
import { type Assertion, type Expression, PatternError, parsePattern } from './syntax.ts';

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

/** A compiled regular expression of ECMA-262. */
export interface EcmaPattern {
  readonly source: string;
  readonly expression: Expression;
  /** Returns whether some part of the text matches; undefined if the budget does not suffice to find out. */
  isIn(text: string, budget: StepBudget): boolean | undefined;
}

/** The steps that are left for some texts together. One million takes about 20 ms. */
export interface StepBudget {
  steps: number;
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
  const program = buildProgram(parsePattern(source));
  const { classes, size } = program.main;
  // For each character, each class is tested once, range by range.
  const tests = classes.map(({ ranges, categories }) => ranges.length + categories.length);
  const cost = Math.max(
    size,
    tests.reduce((sum, count) => sum + count, 0),
  );
  const search = createSearch(program, true);
  return {
    source,
    size,
    cost,
    matches: (text) => search(text, { steps: Number.POSITIVE_INFINITY }) === true,
  };
}

/**
 * Compiles a regular expression of ECMA-262.
 * @throws {PatternError} for what is none, is not supported, or has more than 10,000 states
 */
export function compileEcmaPattern(source: string): EcmaPattern {
  const expression = parseEcmaPattern(source);
  return { source, expression, isIn: createSearch(buildProgram(expression), false) };
}

/** What a state does besides leading to others. */
type Action =
  | { readonly kind: 'fork' }
  | { readonly kind: 'accept' }
  /** Consumes as many characters of the class as the bounds permit. */
  | { readonly kind: 'read'; readonly class: CharacterClass; readonly min: number; readonly max: number }
  | { readonly kind: 'test'; readonly holds: PositionTest };

/** A state. The numbers of the following ones are -1 for none. */
interface State {
  readonly action: Action;
  next: number;
  other: number;
}

/** An automaton with those of its lookaround, of which each uses only earlier ones. */
interface Program {
  readonly main: Automaton;
  readonly lookaround: readonly Lookaround[];
}

interface Lookaround {
  readonly automaton: Automaton;
  readonly backwards: boolean;
}

/** A text, and what has been found out about its positions. */
interface Input {
  readonly codes: Int32Array;
  /** For each lookaround, 1 at the positions where its body matches. */
  readonly found: readonly Uint8Array[];
}

/** Returns whether an assertion holds at a position. */
type PositionTest = (input: Input, position: number) => boolean;

function buildProgram(expression: Expression): Program {
  const lookaround: Lookaround[] = [];
  const main = new Construction(lookaround, false).construct(expression);
  return { main, lookaround };
}

class Construction {
  readonly #states: State[] = [];
  readonly #lookaround: Lookaround[];
  readonly #backwards: boolean;

  constructor(lookaround: Lookaround[], backwards: boolean) {
    this.#lookaround = lookaround;
    this.#backwards = backwards;
  }

  construct(expression: Expression): Automaton {
    this.#append(expression);
    this.#add({ kind: 'accept' });
    return buildTable(this.#states);
  }

  /**
   * Appends the states of an expression. They begin with the first one appended and lead to the state after
   * the last.
   */
  #append(expression: Expression): void {
    switch (expression.kind) {
      case 'class':
        this.#add({ kind: 'read', class: expression.class, min: 1, max: 1 });
        break;
      case 'assertion':
        this.#add({ kind: 'test', holds: this.#positionTest(expression.test) });
        break;
      case 'sequence':
        this.#appendSequence(expression.parts);
        break;
      case 'choice':
        this.#appendChoice(expression.branches);
        break;
      case 'repeat':
        this.#appendRepeat(expression.part, expression.min, expression.max);
    }
  }

  #positionTest(test: Assertion): PositionTest {
    switch (test.at) {
      case 'start':
        return (_, position) => position === 0;
      case 'end':
        return ({ codes }, position) => position === codes.length;
      case 'boundary':
        return ({ codes }, position) =>
          (isWordCharacter(codes[position - 1]) !== isWordCharacter(codes[position])) !== test.negated;
      default: {
        const backwards = test.at === 'ahead';
        const automaton = new Construction(this.#lookaround, backwards).construct(test.body);
        const number = this.#lookaround.push({ automaton, backwards }) - 1;
        return ({ found }, position) => (found[number]?.[position] === 1) !== test.negated;
      }
    }
  }

  #appendSequence(parts: readonly Expression[]): void {
    // An empty sequence also takes a state, so that repetitions of it are counted.
    if (parts.length === 0) this.#add({ kind: 'fork' });
    for (const part of this.#backwards ? parts.toReversed() : parts) this.#append(part);
  }

  #appendChoice(branches: readonly Expression[]): void {
    const ends: State[] = [];
    branches.forEach((branch, index) => {
      const fork = this.#add({ kind: 'fork' });
      this.#append(branch);
      if (index === branches.length - 1) return;
      ends.push(this.#add({ kind: 'fork' }));
      fork.other = this.#states.length;
    });
    for (const end of ends) end.next = this.#states.length;
  }

  #appendRepeat(part: Expression, min: number, max: number): void {
    if (part.kind === 'class' && max > 1 && (min > 1 || max < Infinity))
      this.#appendCounted(part.class, min, max);
    else this.#appendRepeated(part, min, max);
  }

  #appendCounted(of: CharacterClass, min: number, max: number): void {
    const fork = min === 0 ? this.#add({ kind: 'fork' }) : undefined;
    this.#add({ kind: 'read', class: of, min: Math.max(min, 1), max });
    if (fork !== undefined) fork.other = this.#states.length;
  }

  #appendRepeated(part: Expression, min: number, max: number): void {
    for (let count = 0; count < min; count++) this.#append(part);
    if (max === Infinity) {
      const start = this.#states.length;
      const fork = this.#add({ kind: 'fork' });
      this.#append(part);
      this.#add({ kind: 'fork' }).next = start;
      fork.other = this.#states.length;
      return;
    }
    const forks: State[] = [];
    for (let count = min; count < max; count++) {
      forks.push(this.#add({ kind: 'fork' }));
      this.#append(part);
    }
    // Without this, {0} and {0,0} would add no state.
    if (max === 0) this.#add({ kind: 'fork' });
    for (const fork of forks) fork.other = this.#states.length;
  }

  #add(action: Action): State {
    const others = this.#lookaround.reduce((sum, { automaton }) => sum + automaton.size, 0);
    if (this.#states.length + others >= maxStates) {
      throw new PatternError(`it has more than ${maxStates} states; reduce its repetitions`);
    }
    const state = { action, next: this.#states.length + 1, other: -1 };
    this.#states.push(state);
    return state;
  }
}

/** The states as tables indexed by state number. The last state accepts. */
interface Automaton {
  readonly size: number;
  /** The distinct classes, and the index of the class that each state consumes; -1 for none. */
  readonly classes: readonly CharacterClass[];
  readonly reads: Int32Array;
  /** How many characters each state consumes. */
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly tests: readonly (PositionTest | undefined)[];
  readonly next: Int32Array;
  readonly other: Int32Array;
}

function buildTable(states: readonly State[]): Automaton {
  const classes: CharacterClass[] = [];
  const numbers = new Map<CharacterClass, number>();
  const numberOf = (of: CharacterClass): number => {
    const number = numbers.get(of) ?? classes.push(of) - 1;
    numbers.set(of, number);
    return number;
  };
  return {
    size: states.length,
    reads: Int32Array.from(states, ({ action }) => (action.kind === 'read' ? numberOf(action.class) : -1)),
    classes,
    min: Float64Array.from(states, ({ action }) => (action.kind === 'read' ? action.min : 0)),
    max: Float64Array.from(states, ({ action }) => (action.kind === 'read' ? action.max : 0)),
    tests: states.map(({ action }) => (action.kind === 'test' ? action.holds : undefined)),
    next: Int32Array.from(states, ({ next }) => next),
    other: Int32Array.from(states, ({ other }) => other),
  };
}

/** Returns the function that searches texts. `whole`: only the whole text matches. */
function createSearch({ main, lookaround }: Program, whole: boolean): EcmaPattern['isIn'] {
  // Matching is synchronous, so that one simulation serves all texts.
  const runs = lookaround.map(({ automaton, backwards }) => ({
    simulation: new Simulation(automaton),
    backwards,
  }));
  const simulation = new Simulation(main);
  return (text, budget) => {
    const found: Uint8Array[] = [];
    const input = { codes: listCodes(text), found };
    for (const { simulation: each, backwards } of runs) {
      const positions = new Uint8Array(input.codes.length + 1);
      each.run({ input, backwards, everywhere: true, budget }, (position) => {
        positions[position] = 1;
        return false;
      });
      found.push(positions);
    }
    const { length } = input.codes;
    const matched = simulation.run(
      { input, backwards: false, everywhere: !whole, budget },
      (position) => !whole || position === length,
    );
    return matched || budget.steps >= 0 ? matched : undefined;
  };
}

function listCodes(text: string): Int32Array {
  const codes = new Int32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    codes[count++] = code;
    if (code > 0xffff) at++;
  }
  return codes.subarray(0, count);
}

const word: CharacterClass = { negated: false, ranges: wordCharacters, categories: [] };

function isWordCharacter(code: number | undefined): boolean {
  return code !== undefined && includes(word, code);
}

/** How an automaton runs over a text. */
interface Course {
  readonly input: Input;
  /** Whether it begins at the end of the text. */
  readonly backwards: boolean;
  /** Whether a match may begin at any position. */
  readonly everywhere: boolean;
  readonly budget: StepBudget;
}

/** Follows the states of one automaton. */
class Simulation {
  readonly #automaton: Automaton;
  readonly #accepting: number;
  /** The last step in which each state was entered, and in which it was added to the states of the step. */
  readonly #reached: Uint32Array;
  readonly #added: Uint32Array;
  /** The last step in which each class was tested, and the result. */
  readonly #tested: Uint32Array;
  readonly #included: Uint8Array;
  /** For states that count, how many characters had been read when they were entered, ascending. */
  readonly #entries: readonly (Entries | undefined)[];
  readonly #pending: number[] = [];
  #here: StateSet;
  #ahead: StateSet;
  #step = 0;
  #input: Input = { codes: new Int32Array(0), found: [] };
  /** The position in the text, and the number of characters read. */
  #position = 0;
  #read = 0;

  constructor(automaton: Automaton) {
    const { size, classes, max } = automaton;
    this.#automaton = automaton;
    this.#accepting = size - 1;
    this.#reached = new Uint32Array(size);
    this.#added = new Uint32Array(size);
    this.#tested = new Uint32Array(classes.length);
    this.#included = new Uint8Array(classes.length);
    this.#entries = Array.from(max, (most) => (most > 1 ? new Entries() : undefined));
    this.#here = { states: new Int32Array(size), size: 0 };
    this.#ahead = { states: new Int32Array(size), size: 0 };
  }

  /** Returns whether `accept` returns true for the end of some match. Stops when it does, or when the budget is spent. */
  run({ input, backwards, everywhere, budget }: Course, accept: (position: number) => boolean): boolean {
    const { codes } = input;
    this.#start(input, backwards ? codes.length : 0);
    this.#enter(0);
    for (;;) {
      if (this.#reached[this.#accepting] === this.#step && accept(this.#position)) return true;
      budget.steps -= 1 + this.#here.size;
      if (this.#read === codes.length || budget.steps < 0) return false;
      if (this.#here.size === 0 && !everywhere) return false;
      const code = codes[backwards ? this.#position - 1 : this.#position] ?? 0;
      this.#position += backwards ? -1 : 1;
      this.#advance(code);
      if (everywhere) this.#enter(0);
    }
  }

  #start(input: Input, position: number): void {
    // The numbers of steps must not reach 2^32.
    if (this.#step + input.codes.length > 0xf000_0000) {
      for (const steps of [this.#reached, this.#added, this.#tested]) steps.fill(0);
      this.#step = 0;
    }
    this.#step++;
    this.#input = input;
    this.#position = position;
    this.#read = 0;
    this.#here.size = 0;
    for (const entries of this.#entries) entries?.clear();
  }

  /** Consumes a character: enters all states that follow the current ones. */
  #advance(code: number): void {
    const { states, size } = this.#here;
    [this.#here, this.#ahead] = [this.#ahead, this.#here];
    this.#here.size = 0;
    this.#step++;
    this.#read++;
    // A state that counts must have consumed the character before it is entered again.
    let left = 0;
    for (let index = 0; index < size; index++) {
      const state = states[index] ?? 0;
      if (this.#consumes(state, code)) states[left++] = state;
    }
    for (let index = 0; index < left; index++) this.#enter(this.#automaton.next[states[index] ?? 0] ?? 0);
  }

  /** Returns whether a state is left with this character. One that counts may stay, too. */
  #consumes(state: number, code: number): boolean {
    const isIncluded = this.#includes(this.#automaton.reads[state] ?? 0, code);
    const entries = this.#entries[state];
    if (entries === undefined) return isIncluded;
    if (!isIncluded) {
      entries.clear();
      return false;
    }
    const { min, max } = this.#automaton;
    entries.dropBefore(this.#read - (max[state] ?? 1));
    if (this.#read - entries.last < (max[state] ?? 1)) this.#add(state);
    return this.#read - entries.first >= (min[state] ?? 1);
  }

  /** Tests each class once for each character. */
  #includes(number: number, code: number): boolean {
    if (this.#tested[number] !== this.#step) {
      this.#tested[number] = this.#step;
      const of = this.#automaton.classes[number];
      this.#included[number] = of !== undefined && includes(of, code) ? 1 : 0;
    }
    return this.#included[number] === 1;
  }

  /**
   * Adds a state, and all states that it leads to without consuming a character, to the current ones. Each is
   * entered once per step.
   */
  #enter(first: number): void {
    const { reads, next, other, tests } = this.#automaton;
    const [reached, step, pending] = [this.#reached, this.#step, this.#pending];
    for (let state: number | undefined = first; state !== undefined; ) {
      const visited = reached[state] === step;
      reached[state] = step;
      const isEnd = visited || reads[state] !== -1 || state === this.#accepting;
      if (isEnd || tests[state]?.(this.#input, this.#position) === false) {
        if (!visited && reads[state] !== -1) this.#await(state);
        state = pending.pop();
        continue;
      }
      const fork = other[state] ?? -1;
      if (fork !== -1 && reached[fork] !== step) pending.push(fork);
      state = next[state];
    }
  }

  /** Adds a state that consumes characters from here on. */
  #await(state: number): void {
    this.#entries[state]?.push(this.#read, this.#automaton.max[state] === Infinity);
    this.#add(state);
  }

  #add(state: number): void {
    if (this.#added[state] === this.#step) return;
    this.#added[state] = this.#step;
    this.#here.states[this.#here.size++] = state;
  }
}

/** The set of states after one step. */
interface StateSet {
  readonly states: Int32Array;
  size: number;
}

/** The ascending numbers at which a state that counts was entered, from the oldest that counts. */
class Entries {
  readonly #numbers: number[] = [];
  #head = 0;

  /** The least and the greatest number; without one, what no count reaches. */
  get first(): number {
    return this.#numbers[this.#head] ?? Number.POSITIVE_INFINITY;
  }

  get last(): number {
    return this.#numbers.at(-1) ?? Number.NEGATIVE_INFINITY;
  }

  /** Adds a number. If there is no upper bound, the oldest one serves for all. */
  push(number: number, isUnbounded: boolean): void {
    if (this.#numbers.length === 0 || !isUnbounded) this.#numbers.push(number);
  }

  dropBefore(least: number): void {
    while ((this.#numbers[this.#head] ?? Number.POSITIVE_INFINITY) < least) this.#head++;
    if (this.#head === this.#numbers.length) this.clear();
  }

  clear(): void {
    this.#numbers.length = 0;
    this.#head = 0;
  }
}
