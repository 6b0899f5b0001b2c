import { readFileSync } from 'node:fs'
import { isObject } from '../contract/json.ts'

let known: string | undefined

/** The version of this package, as its package.json says; code and bundle lie at different depths below it. */
export function ownVersion(): string {
  return (known ??= findVersion())
}

function findVersion(): string {
  for (const above of ['../', '../../', '../../../']) {
    const data = readData(new URL(`${above}package.json`, import.meta.url))
    if (isObject(data) && data['name'] === 'toolable') return String(data['version'])
  }
  return 'unknown'
}

function readData(file: URL): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
