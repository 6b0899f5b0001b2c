import type {
  LoadFnOutput,
  LoadHookContext,
  ResolveFnOutput,
  ResolveHookContext,
} from 'node:module'
import { fileURLToPath } from 'node:url'
import { findSource, isTypeScript } from './find-source.ts'
import type { LoadSettings } from './settings.ts'
import { transformFile } from './transform.ts'

let settings: LoadSettings = { folders: [], cacheFolder: undefined, version: '' }

/** Called by node in the thread of the hooks, with what `register` was given. */
export function initialize(given: LoadSettings): void {
  settings = given
}

/** Finds what node does not: TypeScript behind the names of what will be made of it. */
export async function resolve(
  specifier: string,
  context: ResolveHookContext,
  next: (
    specifier: string,
    context?: ResolveHookContext,
  ) => ResolveFnOutput | Promise<ResolveFnOutput>,
): Promise<ResolveFnOutput> {
  try {
    return await next(specifier, context)
  } catch (error) {
    const url = findSource(specifier, context.parentURL, (error as NodeJS.ErrnoException).code)
    if (url === undefined) throw error
    return next(url, context)
  }
}

/** Gives TypeScript to node as JavaScript. */
export async function load(
  url: string,
  context: LoadHookContext,
  next: (url: string, context?: LoadHookContext) => LoadFnOutput | Promise<LoadFnOutput>,
): Promise<LoadFnOutput> {
  if (!isTypeScript(url)) return next(url, context)
  const { format, source } = transformFile(fileURLToPath(url), settings)
  return {
    format,
    source: format === 'commonjs' ? withOwnRequire(source) : source,
    shortCircuit: true,
  }
}

// The `require` that node gives to CommonJS from here cannot load modules of the other kind; the one of the file can. It stands on the first line, so that no line moves.
function withOwnRequire(source: string): string {
  return `${/^\s*(['"])use strict\1/.test(source) ? '"use strict";' : ''}require = require('node:module').createRequire(__filename);${source}`
}
