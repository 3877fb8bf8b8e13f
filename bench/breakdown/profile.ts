import { Session } from 'node:inspector/promises';
import { sharesOf } from './steps.ts';

/** How often a sample is taken, in microseconds. */
const interval = 200;

/** Takes samples of where this process is from now on; what it gives ends that, and gives each step's part of the time. */
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
