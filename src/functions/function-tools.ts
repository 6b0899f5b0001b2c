/**
 * Plain functions as tools: `toolable ./tools.ts`.
 *
 * A module is found (`locate.ts`), its exported functions are read by their types and comments
 * into a manifest (`read/`, cached by `manifest-cache.ts`), and this file makes tools of the
 * manifest. The module itself is imported by the first call (`import-module.ts`), and
 * `call-function.ts` converts between JSON and what the function takes and returns.
 */

import { tool } from '../core/tool.ts'
import type { AnyTool } from '../core/tool.ts'
import type { Context } from '../protocol/context.ts'
import { compact } from '../util/values.ts'
import type { FunctionManifest, ModuleManifest } from './manifest.ts'

/** Gives what a module exports; asked at the first call. */
export type LoadModule = () => Promise<object>

/**
 * Ordinary tools of what was read of a module. Nothing is imported before a call needs it, and the
 * schemas are not looked at before somebody asks: they were checked when they were read.
 */
export function functionTools(
  { functions }: Pick<ModuleManifest, 'functions'>,
  load: LoadModule,
): AnyTool[] {
  const loaded = retryableOnce(load)
  return functions.map((manifest) => tool(toToolOptions(manifest, loaded)))
}

function toToolOptions(manifest: FunctionManifest, load: LoadModule) {
  const {
    name,
    summary,
    input,
    output,
    positional,
    flags,
    annotations,
    examples,
    errors,
    tags,
    timeout,
  } = manifest
  const description = describeFunction(manifest)
  return {
    name,
    summary,
    positional,
    flags,
    annotations,
    examples,
    errors,
    tags,
    ...compact({ description }),
    input: () => input,
    ...compact({ output: output ? () => output : undefined, timeout }),
    ...(manifest.session ? { session: true } : manifest.yields && { streaming: true }),
    // The function's own parameters may be called so, and mean something of their own.
    reserved: false,
    run: async (fields: { readonly [field: string]: unknown }, ctx: Context): Promise<unknown> => {
      const [{ callFunction }, exported] = await Promise.all([import('./call-function.ts'), load()])
      return callFunction(manifest, exported, fields, ctx)
    },
  }
}

function describeFunction({ description, deprecated }: FunctionManifest): string | undefined {
  if (deprecated === undefined) return description
  const notice = deprecated === true ? 'Deprecated.' : `Deprecated: ${deprecated}`
  return description === undefined ? notice : `${notice}\n\n${description}`
}

// A module that could not be imported is tried again by the next call.
function retryableOnce(load: LoadModule): LoadModule {
  let loading: Promise<object> | undefined
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
}
