import { Session } from 'node:inspector/promises';
import { sharesOf } from './steps.ts';

/** The sampling interval, in microseconds. */
const interval = 200;

/** Starts to sample this process. The returned function stops it and returns the share of each step. */
export async function profile(): Promise<() => Promise<Readonly<Record<string, number>>>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval });
  await session.post('Profiler.start');
  return async () => {
    const { profile: taken } = await session.post('Profiler.stop');
    session.disconnect();
    return sharesOf(taken);
  };
}
