import nodeModule from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ToolError } from '../../contract/tool-error.ts'
import { findSource } from './find-source.ts'
import type { LoadSettings } from './settings.ts'
import { transformFile } from './transform.ts'

type CommonJs = { readonly filename: string | null; _compile(code: string, file: string): unknown }
type Internals = {
  _resolveFilename(request: string, parent: CommonJs | undefined, ...rest: unknown[]): string
  readonly _extensions: {
    [extension: string]: ((module: CommonJs, file: string) => void) | undefined
  }
}

/** Lets `require` find and run TypeScript, in the way that node leaves open for it. */
export function registerForRequire(settings: LoadSettings): void {
  const internals = nodeModule as unknown as Internals
  const resolve = internals._resolveFilename
  internals._resolveFilename = function (this: unknown, request, parent, ...rest) {
    try {
      return resolve.call(this, request, parent, ...rest)
    } catch (error) {
      const from = parent?.filename
      const url = from
        ? findSource(request, pathToFileURL(from).href, (error as NodeJS.ErrnoException).code)
        : undefined
      if (url === undefined) throw error
      return resolve.call(this, fileURLToPath(url), parent, ...rest)
    }
  }
  for (const extension of ['.ts', '.cts', '.mts']) {
    const known = internals._extensions[extension]
    internals._extensions[extension] = (module, file) => {
      const made = attempt(file, settings, known !== undefined)
      if (made === undefined) known!(module, file)
      else module._compile(made, file)
    }
  }
}

// A node that takes types out by itself is left alone where nobody else can do it.
function attempt(file: string, settings: LoadSettings, nodeCan: boolean): string | undefined {
  try {
    return transformFile(file, settings, 'commonjs').source
  } catch (error) {
    if (nodeCan && ToolError.is(error) && error.code === 'CONFIG') return undefined
    throw error
  }
}
