import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type * as Esbuild from 'esbuild'
import { ToolError } from '../../contract/tool-error.ts'

/** The bundler of the project that is built, else the one that lies beside this package. Throws DEPENDENCY, with the command that installs it, where there is none. */
export async function loadEsbuild(entry: string): Promise<typeof Esbuild> {
  for (const from of [entry, import.meta.url]) {
    try {
      const loaded = (await import(pathToFileURL(createRequire(from).resolve('esbuild')).href)) as { readonly default?: typeof Esbuild } & typeof Esbuild
      return loaded.default ?? loaded
    } catch (error) {
      if (!['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
  throw new ToolError('DEPENDENCY', "building needs the package 'esbuild', which is not installed", {
    retryable: false, recoverable: true, suggestion: { fix: 'Install it into the project', example: 'npm install --save-dev esbuild', applicability: 'machine_applicable' },
  })
}
