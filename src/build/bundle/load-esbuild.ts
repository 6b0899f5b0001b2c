import { pathToFileURL } from 'node:url'
import type * as Esbuild from 'esbuild'
import { findPackage } from '../find-package.ts'

/** The bundler of the project that is built, else the one that lies beside this package. Throws DEPENDENCY, with the command that installs it, where there is none. */
export async function loadEsbuild(entry: string): Promise<typeof Esbuild> {
  const loaded = (await import(
    pathToFileURL(findPackage('esbuild', 'esbuild', entry, 'building')).href
  )) as { readonly default?: typeof Esbuild } & typeof Esbuild
  return loaded.default ?? loaded
}
