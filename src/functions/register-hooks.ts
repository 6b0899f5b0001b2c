/**
 * Hooks that let this thread load TypeScript: for `require`, and for Node versions with
 * synchronous module hooks. Older versions load hooks.ts in a thread of its own.
 */

import nodeModule from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ToolError } from '../protocol/tool-error.ts'
import type { LoadSettings } from './transform.ts'
import { transformFile } from './transform.ts'
import { isTypeScriptUrl, requireTypeScriptSource } from './typescript-source.ts'

type CommonJsModule = {
  readonly filename: string | null
  _compile(code: string, file: string): unknown
}
type ModuleInternals = {
  _resolveFilename(request: string, parent: CommonJsModule | undefined, ...rest: unknown[]): string
  readonly _extensions: {
    [extension: string]: ((module: CommonJsModule, file: string) => void) | undefined
  }
}

/** Lets `require` find and run TypeScript, in the way that node leaves open for it. */
export function registerRequireHooks(settings: LoadSettings): void {
  const internals = nodeModule as unknown as ModuleInternals
  const resolve = internals._resolveFilename
  internals._resolveFilename = function (this: unknown, request, parent, ...rest) {
    try {
      return resolve.call(this, request, parent, ...rest)
    } catch (error) {
      const from = parent?.filename ? pathToFileURL(parent.filename).href : undefined
      const url = requireTypeScriptSource(request, from, error)
      return resolve.call(this, fileURLToPath(url), parent, ...rest)
    }
  }
  for (const extension of ['.ts', '.cts', '.mts']) {
    const known = internals._extensions[extension]
    internals._extensions[extension] = (module, file) => {
      const made = tryTransform(file, settings, known !== undefined)
      if (made === undefined) known!(module, file)
      else module._compile(made, file)
    }
  }
}

// A node that takes types out by itself is left alone where nobody else can do it.
function tryTransform(file: string, settings: LoadSettings, nodeCan: boolean): string | undefined {
  try {
    return transformFile(file, settings, 'commonjs').source
  } catch (error) {
    if (nodeCan && ToolError.is(error) && error.code === 'CONFIG') return undefined
    throw error
  }
}

type NextHook<Answer> = (address: string, context?: unknown) => Answer
type RegisterHooksFunction = (hooks: { readonly resolve: unknown; readonly load: unknown }) => void

/**
 * The same hooks for a node that runs TypeScript by itself. It only takes types out: enums,
 * parameter properties and imports that turn out to be types are too much for it, and what the
 * cache has needs no work at all.
 * So it is left alone where nobody else can do it.
 */
export function registerSyncHooks(register: RegisterHooksFunction, settings: LoadSettings): void {
  register({
    resolve(
      specifier: string,
      context: { readonly parentURL?: string },
      next: NextHook<unknown>,
    ): unknown {
      try {
        return next(specifier, context)
      } catch (error) {
        return next(requireTypeScriptSource(specifier, context.parentURL, error), context)
      }
    },
    load(url: string, context: unknown, next: NextHook<unknown>): unknown {
      if (!isTypeScriptUrl(url)) return next(url, context)
      try {
        return { ...transformFile(fileURLToPath(url), settings), shortCircuit: true }
      } catch (error) {
        if (ToolError.is(error) && error.code === 'CONFIG') return next(url, context)
        throw error
      }
    },
  })
}
