import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isObject } from '../contract/json.ts'

/** What the nearest package.json says. */
export type PackageFacts = {
  readonly name?: string
  readonly version?: string
  readonly type?: string
}

/** Reads the nearest package.json of a folder and those above it; empty where there is none. */
export function nearestPackage(folder: string): PackageFacts {
  for (let current = folder; ; current = dirname(current)) {
    const file = join(current, 'package.json')
    if (existsSync(file)) return readFacts(file)
    if (dirname(current) === current) return {}
  }
}

/** A name that a program can have, from a package or a file. */
export function nameOf(entry: string, { name }: PackageFacts): string {
  const given = name?.replace(/^@[^/]*\//, '') ?? basename(entry).replace(/\.[^.]*$/, '')
  return (
    given
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || 'program'
  )
}

function readFacts(file: string): PackageFacts {
  try {
    const data: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isObject(data)) return {}
    return Object.fromEntries(
      ['name', 'version', 'type'].flatMap((key) =>
        typeof data[key] === 'string' ? [[key, data[key]]] : [],
      ),
    )
  } catch {
    return {}
  }
}
