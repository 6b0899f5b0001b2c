/**
 * Plain functions as tools: `toolable ./tools.ts`.
 *
 * A module is found (`locate.ts`), its exported functions are read by their types and comments
 * into a manifest (`read/`, cached by `open-module.ts`), and this file makes tools of the
 * manifest. The module itself is imported by the first call (`import-module.ts`), and
 * `call-function.ts` converts between JSON and what the function takes and returns.
 */

import type { AnyTool } from '../core/tool.ts'
import { tool } from '../core/tool.ts'
import type { Context } from '../protocol/context.ts'
import type { JsonObject } from '../util/values.ts'
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
  return functions.map((manifest) => {
    const { input, output } = manifest
    return tool({
      ...toToolOptions(manifest),
      input: () => input,
      ...compact({ output: output && (() => output) }),
      run: async (fields: JsonObject, ctx: Context): Promise<unknown> => {
        const [{ callFunction }, exported] = await Promise.all([
          import('./call-function.ts'),
          loaded(),
        ])
        return callFunction(manifest, exported, fields, ctx)
      },
    })
  })
}

/** What a manifest says about its tool, without schemas and handler. */
export function toToolOptions(manifest: FunctionManifest) {
  const { name, summary, positional, flags, annotations, examples, errors, tags } = manifest
  return compact({
    name,
    summary,
    description: describeFunction(manifest),
    positional,
    flags,
    annotations,
    examples,
    errors,
    tags,
    timeout: manifest.timeout,
    session: manifest.session,
    streaming: !manifest.session && manifest.yields ? true : undefined,
    // The function's own parameters may be called so, and mean something of their own.
    reserved: false,
  })
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
