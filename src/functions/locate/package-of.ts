import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject } from '../../contract/json.ts'

/** A package.json that says a name, and what stands in it. */
export type PackageData = {
  readonly file: string
  readonly folder: string
  readonly name: string
  readonly data: { readonly [key: string]: unknown }
}

const known = new Map<string, PackageData | undefined>()

/** The package that a file belongs to: the nearest package.json with a name. */
export function findPackageOf(file: string): PackageData | undefined {
  return lookIn(dirname(file))
}

function lookIn(folder: string): PackageData | undefined {
  if (known.has(folder)) return known.get(folder)
  const above = dirname(folder)
  const found = readPackage(folder) ?? (above === folder ? undefined : lookIn(above))
  known.set(folder, found)
  return found
}

/** What stands in the package.json of a folder; undefined where there is none, or none with a name. */
export function readPackage(folder: string): PackageData | undefined {
  const file = join(folder, 'package.json')
  try {
    const data: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isObject(data) && typeof data['name'] === 'string'
      ? { file, folder, name: data['name'], data }
      : undefined
  } catch {
    return undefined
  }
}
