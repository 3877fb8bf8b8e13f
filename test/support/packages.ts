import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/** Returns the reason for skipping a test if a package of test/package.json is not installed; false if it is. */
export function missingPackage(name: string): string | false {
  try {
    resolve(name);
    return false;
  } catch {
    return `${name} is missing: npm ci --prefix test`;
  }
}

/** Returns the path of a module of such a package. */
export function resolvePackage(specifier: string): string {
  return resolve(specifier);
}

/** Imports a module of such a package. TypeScript does not resolve it, so that the types do not require the package. */
export function importPackage(specifier: string) {
  return import(resolve(specifier));
}
