/**
 * Imports a module, TypeScript included.
 */

import { existsSync, readFileSync, statSync } from 'node:fs'
import nodeModule, { createRequire } from 'node:module'
import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { host } from '../core/host.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { LoadSettings } from './transform.ts'
import { findTypeScriptSource, isTypeScriptUrl } from './typescript-source.ts'

// Who comes while the hooks are being made ready waits for them too.
let hooksReady: Promise<void> | undefined

/**
 * Imports a module; TypeScript through hooks that make JavaScript of it, or by node itself where
 * neither esbuild nor the compiler is there and it can.
 */
export async function importModule(url: string, settings: LoadSettings): Promise<object> {
  if (hooksReady || reachesTypeScript(url)) await (hooksReady ??= registerTypeScriptHooks(settings))
  try {
    return await import(url)
  } catch (error) {
    throw restoreToolError(error)
  }
}

// An error of the hooks comes over from their thread as a plain one.
function restoreToolError(error: unknown): unknown {
  const { name, code, message, suggestion, details } = error as Partial<ToolError>
  return name === 'ToolError' &&
    typeof code === 'string' &&
    typeof message === 'string' &&
    !ToolError.is(error)
    ? new ToolError(code, message, { ...compact({ suggestion, details }), cause: error })
    : error
}

async function registerTypeScriptHooks(settings: LoadSettings): Promise<void> {
  host.mapStackTraces()
  const sync = (nodeModule as { readonly registerHooks?: RegisterModuleHooks }).registerHooks
  const { registerRequireHooks, registerSyncHooks } = await import('./register-hooks.ts')
  registerRequireHooks(settings)
  if (host.stripsTypes && sync) return registerSyncHooks(sync, settings)
  nodeModule.register(findHooksFile(), { data: settings })
}

type RegisterModuleHooks = (hooks: { readonly resolve: unknown; readonly load: unknown }) => void

// A file of its own, because it is loaded by another thread.
function findHooksFile(): URL {
  const candidates = ['../load-hooks.js', './load-hooks.js', './hooks.ts'].map(
    (path) => new URL(path, import.meta.url),
  )
  return candidates.find((url) => existsSync(fileURLToPath(url))) ?? candidates[0]!
}

const IMPORT_PATTERN = /\b(?:from|import|require)\s*\(?\s*(['"])([^'"\n]+)\1/g
const MAX_FOLLOWED_FILES = 200

/**
 * True for a module that is TypeScript, or JavaScript of a project that comes to some by the
 * imports that are written in it.
 */
function reachesTypeScript(url: string): boolean {
  const seen = new Set<string>()
  const visit = (address: string): boolean => {
    if (isTypeScriptUrl(address)) return true
    if (
      !address.startsWith('file:') ||
      /\/node_modules\/|\.(json|node|wasm)$/.test(address) ||
      seen.has(address) ||
      seen.size >= MAX_FOLLOWED_FILES
    )
      return false
    seen.add(address)
    return listImports(address).some((specifier) => visit(resolveImport(specifier, address) ?? ''))
  }
  return visit(url.replace(/[?#].*$/, ''))
}

function listImports(address: string): readonly string[] {
  try {
    return [...readFileSync(fileURLToPath(address), 'utf8').matchAll(IMPORT_PATTERN)].map(
      ([, , specifier]) => specifier!,
    )
  } catch {
    return []
  }
}

// What node finds by itself comes first.
function resolveImport(specifier: string, parent: string): string | undefined {
  try {
    const found = createRequire(parent).resolve(specifier)
    return isAbsolute(found) ? pathToFileURL(found).href : undefined
  } catch (error) {
    return findTypeScriptSource(specifier, parent, (error as NodeJS.ErrnoException).code)
  }
}

/**
 * The address by which a file is imported. A module is kept for ever under its address, so a
 * changed file gets another one. Throws ENOENT.
 */
export function getModuleUrl(file: string): string {
  const { mtimeMs, size } = statSync(file)
  return `${pathToFileURL(file).href}?v=${mtimeMs}-${size}`
}
