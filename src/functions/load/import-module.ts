import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../contract/tool-error.ts'
import { host } from '../../call/host.ts'
import { reachesTypeScript } from './reaches-typescript.ts'
import type { LoadSettings } from './settings.ts'

// Who comes while the hooks are being made ready waits for them too.
let ready: Promise<void> | undefined

/** Imports a module; TypeScript through hooks that make JavaScript of it, or by node itself where neither esbuild nor the compiler is there and it can. */
export async function importModule(url: string, settings: LoadSettings): Promise<object> {
  if (ready || reachesTypeScript(url)) await (ready ??= readyForTypeScript(settings))
  try {
    return await import(url)
  } catch (error) {
    throw fromOtherThread(error)
  }
}

// An error of the hooks comes over from their thread as a plain one.
function fromOtherThread(error: unknown): unknown {
  const { name, code, message, suggestion, details } = error as Partial<ToolError>
  return name === 'ToolError' &&
    typeof code === 'string' &&
    typeof message === 'string' &&
    !ToolError.is(error)
    ? new ToolError(code, message, {
        ...(suggestion && { suggestion }),
        ...(details && { details }),
        cause: error,
      })
    : error
}

async function readyForTypeScript(settings: LoadSettings): Promise<void> {
  host.mapStackTraces()
  const sync = (nodeModule as { readonly registerHooks?: RegisterHooks }).registerHooks
  const { registerForRequire } = await import('./require-hooks.ts')
  registerForRequire(settings)
  if (host.stripsTypes && sync)
    return (await import('./sync-hooks.ts')).registerSync(sync, settings)
  nodeModule.register(hooksFile(), { data: settings })
}

type RegisterHooks = (hooks: { readonly resolve: unknown; readonly load: unknown }) => void

// A file of its own, because it is loaded by another thread.
function hooksFile(): URL {
  const candidates = ['../load-hooks.js', './load-hooks.js', './hooks.ts'].map(
    (path) => new URL(path, import.meta.url),
  )
  return candidates.find((url) => existsSync(fileURLToPath(url))) ?? candidates[0]!
}
