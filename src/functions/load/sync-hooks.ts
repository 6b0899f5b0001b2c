import { fileURLToPath } from 'node:url'
import { findSource, isTypeScript } from './find-source.ts'
import type { LoadSettings } from './settings.ts'
import { transformFile } from './transform.ts'

type Next<Answer> = (address: string, context?: unknown) => Answer
type Register = (hooks: { readonly resolve: unknown; readonly load: unknown }) => void

// What node does not take out by itself: enums, parameter properties, namespaces, and files of packages.
const TOO_MUCH = new Set(['ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING', 'ERR_UNKNOWN_FILE_EXTENSION'])

/** The same hooks for a node that runs TypeScript by itself: they help out where it cannot. */
export function registerSync(register: Register, settings: LoadSettings): void {
  register({
    resolve(specifier: string, context: { readonly parentURL?: string }, next: Next<unknown>): unknown {
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
        return next(url, context)
      } catch (error) {
        if (!TOO_MUCH.has(String((error as NodeJS.ErrnoException).code))) throw error
        return { ...transformFile(fileURLToPath(url), settings), shortCircuit: true }
      }
    },
  })
}
