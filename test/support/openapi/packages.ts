import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/** The reason to skip a test that needs a package of test/node_modules; false if it is installed. */
export function missing(name: string): string | false {
  try {
    resolve(name);
    return false;
  } catch {
    return `${name} is missing: npm ci --prefix test`;
  }
}

/** Returns the path of a file of a package. */
export function resolved(name: string): string {
  return resolve(name);
}
