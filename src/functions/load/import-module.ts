import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { importAddress } from '../../contract/built.ts'
import { host } from '../../call/host.ts'
import { isTypeScript } from './find-source.ts'
import type { LoadSettings } from './settings.ts'

let registered = false

/** Imports a module; TypeScript through hooks that make JavaScript of it, or by node itself where neither esbuild nor the compiler is there and it can. */
export async function importModule(url: string, settings: LoadSettings): Promise<object> {
  if (isTypeScript(url)) await readyForTypeScript(settings)
  return importAddress(url)
}

async function readyForTypeScript(settings: LoadSettings): Promise<void> {
  if (registered) return
  registered = true
  host.mapStackTraces()
  const sync = (nodeModule as { readonly registerHooks?: RegisterHooks }).registerHooks
  if (host.stripsTypes && sync) return (await import('./sync-hooks.ts')).registerSync(sync, settings)
  nodeModule.register(hooksFile(), { data: settings })
}

type RegisterHooks = (hooks: { readonly resolve: unknown; readonly load: unknown }) => void

// A file of its own, because it is loaded by another thread.
function hooksFile(): URL {
  const candidates = ['../load-hooks.js', './load-hooks.js', './hooks.ts'].map((path) => new URL(path, import.meta.url))
  return candidates.find((url) => existsSync(fileURLToPath(url))) ?? candidates[0]!
}
