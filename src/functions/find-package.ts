import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isObject } from '../util/values.ts'

/** An installed package that can be loaded at once. */
type InstalledPackage = {
  readonly name: string
  readonly version: string
  /** Its package.json. */ readonly manifest: string
  load(): unknown
}

/**
 * Looks for a package beside the module that needs it, where the program was started, and beside
 * this one.
 */
export function findPackage(
  name: string,
  folders: readonly string[],
): InstalledPackage | undefined {
  for (const base of [...folders.map((folder) => join(folder, 'noop.js')), import.meta.url]) {
    const found = findPackageBeside(name, base)
    if (found) return found
  }
  return undefined
}

function findPackageBeside(name: string, base: string): InstalledPackage | undefined {
  try {
    const require = createRequire(base)
    const manifest = require.resolve(`${name}/package.json`)
    const data: unknown = require(manifest)
    return isObject(data) && typeof data['version'] === 'string'
      ? { name, version: data['version'], manifest, load: () => require(name) as unknown }
      : undefined
  } catch {
    return undefined
  }
}
