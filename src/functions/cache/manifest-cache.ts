import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isObject } from '../../contract/json.ts'
import { shortHash } from '../../contract/short-hash.ts'
import { readOwn, writeWhole } from '../../call/own-cache-file.ts'
import type { ModuleManifest } from '../manifest.ts'

const FORM = 'toolable functions 2'

/** What a manifest is remembered by. */
export type CacheKey = {
  readonly folder: string
  readonly file: string
  readonly strict: boolean
  /** Of this package: another one reads again. */ readonly version: string
}

/** What is remembered of a module. */
export type Remembered = { readonly manifest: ModuleManifest; readonly hasTools: boolean }

/** What was read of a module, where none of the files behind it has changed; undefined where anything is in doubt. */
export function recall(key: CacheKey): Remembered | undefined {
  const record = parse(readOwn(fileOf(key)) ?? '')
  if (
    !isObject(record) ||
    record['form'] !== FORM ||
    record['version'] !== key.version ||
    record['file'] !== key.file ||
    record['strict'] !== key.strict
  )
    return undefined
  const { files, manifest, hasTools } = record
  if (
    !Array.isArray(files) ||
    !isObject(manifest) ||
    !Array.isArray(manifest['functions']) ||
    !Array.isArray(manifest['problems'])
  )
    return undefined
  return files.every((entry) => Array.isArray(entry) && stampOf(String(entry[0])) === entry[1])
    ? { manifest: manifest as ModuleManifest, hasTools: hasTools === true }
    : undefined
}

/** Remembers what was read, whole or not at all. What cannot be written is not remembered, and that is all. */
export function remember(
  key: CacheKey,
  { manifest, hasTools }: Remembered,
  files: readonly string[],
): void {
  const stamps = files.map((file) => [file, stampOf(file)])
  const file = fileOf(key)
  writeWhole(
    key.folder,
    file,
    `${JSON.stringify({ form: FORM, version: key.version, file: key.file, strict: key.strict, files: stamps, hasTools, manifest })}\n`,
  )
}

// Files of the project by what stands in them; those of packages, which are many and change as a whole, by size and time.
function stampOf(file: string): string | null {
  try {
    if (!/[/\\]node_modules[/\\]/.test(file)) return hashText(readFileSync(file, 'utf8'))
    const { size, mtimeMs } = statSync(file)
    return `${size}-${mtimeMs}`
  } catch {
    // It is not there; when it is, that is a change.
    return null
  }
}

/** What stands for a text: it tells a change, and hides nothing. */
export function hashText(text: string): string {
  return `${text.length.toString(36)}-${shortHash(text)}`
}

function fileOf({ folder, file, strict }: CacheKey): string {
  return join(
    folder,
    `functions-${basename(file)
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, 60)}-${shortHash(`${file}\n${strict}`)}.json`,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
