import { readFileSync } from 'node:fs'
import { isObject } from '../../contract/json.ts'
import { parse } from './line.ts'

let known: string | undefined

/** The version of this package, as its package.json says; code and bundle lie at different depths below it. */
export function ownVersion(): string {
  return (known ??= findVersion())
}

function findVersion(): string {
  for (const above of ['../../', '../../../', '../']) {
    const text = readText(new URL(`${above}package.json`, import.meta.url))
    const data = text === undefined ? undefined : parse(text)
    if (isObject(data) && data['name'] === 'toolable') return String(data['version'])
  }
  return 'unknown'
}

function readText(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
