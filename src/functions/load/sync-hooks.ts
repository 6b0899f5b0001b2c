import { fileURLToPath } from 'node:url'
import { ToolError } from '../../contract/tool-error.ts'
import { findSource, isTypeScript } from './find-source.ts'
import type { LoadSettings } from './settings.ts'
import { transformFile } from './transform.ts'

type Next<Answer> = (address: string, context?: unknown) => Answer
type Register = (hooks: { readonly resolve: unknown; readonly load: unknown }) => void

/**
 * The same hooks for a node that runs TypeScript by itself. It only takes types out: enums, parameter properties and imports that turn out to be types are too much for it, and what the cache has needs no work at all.
 * So it is left alone where nobody else can do it.
 */
export function registerSync(register: Register, settings: LoadSettings): void {
  register({
    resolve(
      specifier: string,
      context: { readonly parentURL?: string },
      next: Next<unknown>,
    ): unknown {
      try {
        return next(specifier, context)
      } catch (error) {
        const url = findSource(specifier, context.parentURL, (error as NodeJS.ErrnoException).code)
        if (url === undefined) throw error
        return next(url, context)
      }
    },
    load(url: string, context: unknown, next: Next<unknown>): unknown {
      if (!isTypeScript(url)) return next(url, context)
      try {
        return { ...transformFile(fileURLToPath(url), settings), shortCircuit: true }
      } catch (error) {
        if (ToolError.is(error) && error.code === 'CONFIG') return next(url, context)
        throw error
      }
    },
  })
}
