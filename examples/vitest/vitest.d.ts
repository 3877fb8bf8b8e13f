import type { CountersignMatchers } from 'countersign/matchers';

declare module 'vitest' {
  // Vitest 4. Vitest 5: interface Matchers<R extends void | Promise<void>, T> extends CountersignMatchers<R> {}
  interface Matchers<T> extends CountersignMatchers<void> {}
}
