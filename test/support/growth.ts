/** How often a measurement that looks bad is repeated: a machine that is busy with something else looks bad too. */
const passes = 8;

/** Between 4 for linear growth and 16 for quadratic growth, when the input becomes four times as long. */
const mostGrowth = 8;

/** Milliseconds that a repeated measurement lasts at least, so that the clock is fine enough for it. */
const leastDuration = 1;

/** Milliseconds of CPU after which a measurement is not repeated any more: one that takes so long is hardly disturbed. */
const enough = 2000;

/** Milliseconds of CPU that this process has used: unlike the time that passes, it excludes waiting for a busy processor. */
function computed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The least duration (ms) of some runs, each of which calls `act` so many times. */
function measureDuration(act: () => unknown, calls: number, runs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const begun = computed();
    for (let call = 0; call < calls; call += 1) act();
    least = Math.min(least, computed() - begun);
  }
  return least;
}

/**
 * Returns how much longer `use` takes for an input four times as long. If that looks faster than linear, it measures longer inputs
 * too, and returns the lesser growth: a step at one size, such as that from pooled to allocated buffers, is no growth. Longer inputs
 * that take hardly longer were refused for their length, and show nothing. Anything that `use` throws counts as its result.
 */
export function measureGrowth<Input>(
  use: (input: Input) => unknown,
  inputOf: (size: number) => Input,
  size: number,
): number {
  const growth = measureGrowthAt(use, inputOf, size);
  if (!isSuperlinear(growth)) return growth;
  const further = measureGrowthAt(use, inputOf, 4 * size);
  return further < 1.5 ? growth : Math.min(growth, further);
}

/** Repeats the measurement while the growth looks faster than linear, and returns the least growth found. */
function measureGrowthAt<Input>(
  use: (input: Input) => unknown,
  inputOf: (size: number) => Input,
  size: number,
): number {
  const act = (input: Input) => (): void => {
    try {
      use(input);
    } catch {
      // Most hostile inputs are refused.
    }
  };
  const little = act(inputOf(size));
  const much = act(inputOf(4 * size));
  let calls = 1;
  let growth = Number.POSITIVE_INFINITY;
  little();
  const begun = computed();
  for (let pass = 0; pass < passes && growth > mostGrowth; pass += 1) {
    if (pass > 1 && computed() - begun > enough) break;
    const before = Math.max(0.001, measureDuration(little, calls, 3));
    growth = Math.min(growth, measureDuration(much, calls, Math.min(pass + 1, 2)) / before);
    if (before < leastDuration) calls *= Math.min(1000, Math.ceil(leastDuration / before));
  }
  return growth;
}

/** Returns whether something grows faster than linearly. */
export function isSuperlinear(growth: number): boolean {
  return growth > mostGrowth;
}
