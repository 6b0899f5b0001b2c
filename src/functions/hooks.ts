/**
 * Module hooks that Node runs in a thread of its own. This file is an entry: scripts/build.mjs
 * bundles it, and import-module.ts passes its path to `module.register`.
 */

import type {
  LoadFnOutput,
  LoadHookContext,
  ResolveFnOutput,
  ResolveHookContext,
} from 'node:module'
import { fileURLToPath } from 'node:url'
import type { LoadSettings } from './transform.ts'
import { transformFile } from './transform.ts'
import { isTypeScriptUrl, requireTypeScriptSource } from './typescript-source.ts'

let hookSettings: LoadSettings = { folders: [], cacheFolder: undefined, version: '' }

/** Called by node in the thread of the hooks, with what `register` was given. */
export function initialize(given: LoadSettings): void {
  hookSettings = given
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
    return next(requireTypeScriptSource(specifier, context.parentURL, error), context)
  }
}

/** Gives TypeScript to node as JavaScript. */
export async function load(
  url: string,
  context: LoadHookContext,
  next: (url: string, context?: LoadHookContext) => LoadFnOutput | Promise<LoadFnOutput>,
): Promise<LoadFnOutput> {
  if (!isTypeScriptUrl(url)) return next(url, context)
  const { format, source } = transformFile(fileURLToPath(url), hookSettings)
  return {
    format,
    source: format === 'commonjs' ? prependRequire(source) : source,
    shortCircuit: true,
  }
}

// The `require` that node gives to CommonJS from here cannot load modules of the other kind; the
// one of the file can. It stands on the first line, so that no line moves.
function prependRequire(source: string): string {
  return `${/^\s*(['"])use strict\1/.test(source) ? '"use strict";' : ''}require = require('node:module').createRequire(__filename);${source}`
}
