import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findSource, isTypeScript } from './find-source.ts'

const IMPORTS = /\b(?:from|import|require)\s*\(?\s*(['"])([^'"\n]+)\1/g
const MOST_FILES = 200

/** True for a module that is TypeScript, or JavaScript of a project that comes to some by the imports that are written in it. */
export function reachesTypeScript(url: string): boolean {
  const seen = new Set<string>()
  const visit = (address: string): boolean => {
    if (isTypeScript(address)) return true
    if (
      !address.startsWith('file:') ||
      /\/node_modules\/|\.(json|node|wasm)$/.test(address) ||
      seen.has(address) ||
      seen.size >= MOST_FILES
    )
      return false
    seen.add(address)
    return importsOf(address).some((specifier) => visit(resolveAddress(specifier, address) ?? ''))
  }
  return visit(url.replace(/[?#].*$/, ''))
}

function importsOf(address: string): readonly string[] {
  try {
    return [...readFileSync(fileURLToPath(address), 'utf8').matchAll(IMPORTS)].map(
      ([, , specifier]) => specifier!,
    )
  } catch {
    return []
  }
}

// What node finds by itself comes first.
function resolveAddress(specifier: string, parent: string): string | undefined {
  try {
    const found = createRequire(parent).resolve(specifier)
    return isAbsolute(found) ? pathToFileURL(found).href : undefined
  } catch (error) {
    return findSource(specifier, parent, (error as NodeJS.ErrnoException).code)
  }
}
