/**
 * Opens a module whose functions are tools: reads its manifest, from the cache until one of the
 * files behind it changes, and imports it for the first call.
 */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  getPackageVersion,
  getUserFolder,
  readOwnedFile,
  toCacheName,
  writeCacheFile,
} from '../core/cache.ts'
import { host } from '../core/host.ts'
import type { AnyTool } from '../core/tool.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { hashText, shortHash } from '../util/short-hash.ts'
import { isObject, parseJsonObject } from '../util/values.ts'
import { functionTools } from './function-tools.ts'
import type { LocatedModule } from './locate.ts'
import { locateModule } from './locate.ts'
import type { FunctionProblem, ModuleManifest } from './manifest.ts'

/** How a module is opened. */
export type OpenModuleOptions = {
  /**
   * What a relative path means, and where packages are looked for; default: the directory of the
   * process.
   */
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string | undefined }
  /** Refuse `any`, and every problem. */
  readonly strict?: boolean
  /** Read again even where the cache knows the answer. */
  readonly fresh?: boolean
  /** Where the cache is; null: nothing is remembered. Default: the folder of the platform. */
  readonly cacheFolder?: string | null | undefined
  /** The address that is imported, where it is another one than that of the file. */
  readonly address?: string
}

/** A module whose functions are tools. */
export type OpenedModule = CachedModule & {
  readonly located: LocatedModule
  /** Made at each call, for the first time without importing anything. */
  tools(): AnyTool[]
  /** What the module exports. */
  load(): Promise<object>
}

/**
 * Reads what the functions of a module are, from the cache where nothing has changed. The module
 * itself is not imported before a call. Throws INVALID_PATH where there is none, CONFIG in strict
 * mode for what cannot be a tool.
 */
export async function openModule(
  given: string,
  options: OpenModuleOptions = {},
): Promise<OpenedModule> {
  const cwd = options.cwd ?? host.cwd()
  const strict = options.strict ?? false
  const located = locateModule(given, cwd)
  const folder =
    options.cacheFolder === null
      ? undefined
      : (options.cacheFolder ?? (await getUserFolder('cache', options.env ?? host.env())))
  const read = await readWithCache(located, { cwd, strict, folder, fresh: options.fresh ?? false })
  if (strict) rejectProblems(located, read.manifest.problems)
  const load = async (): Promise<object> => {
    const { importModule } = await import('./import-module.ts')
    try {
      return await importModule(options.address ?? located.url, {
        folders: [located.folder, cwd],
        cacheFolder: folder,
        version: getPackageVersion(),
      })
    } catch (error) {
      throw (await import('./import-error.ts')).createImportError(located.file, error)
    }
  }
  return { ...read, located, load, tools: () => functionTools(read.manifest, load) }
}

type ReadModuleSettings = {
  readonly cwd: string
  readonly strict: boolean
  readonly folder: string | undefined
  readonly fresh: boolean
}

async function readWithCache(
  located: LocatedModule,
  { cwd, strict, folder, fresh }: ReadModuleSettings,
): Promise<CachedModule> {
  const key =
    folder === undefined
      ? undefined
      : {
          folder,
          file: `${located.specifier ?? ''}:${located.file}`,
          strict,
          version: getPackageVersion(),
        }
  const known = key && !fresh ? readCachedModule(key) : undefined
  if (known) return known
  const { readModule } = await import('./read/read-module.ts')
  const { manifest, files, isWhole, hasTools } = await readModule(located, { strict, cwd })
  if (key && isWhole) writeCachedModule(key, { manifest, hasTools }, files)
  return { manifest, hasTools }
}

function rejectProblems({ file }: LocatedModule, problems: readonly FunctionProblem[]): void {
  const serious = problems.filter(({ severity }) => severity !== 'note')
  if (serious.length === 0) return
  throw new ToolError(
    'CONFIG',
    `${file} has what cannot be a tool:\n${serious.slice(0, 50).map(formatProblem).join('\n')}`,
    { suggestion: serious[0]!.fix, details: { problems: serious.slice(0, 100) } },
  )
}

/** One line about a problem: where, what, and what to do. */
export function formatProblem({ file, line, message, fix, export: name }: FunctionProblem): string {
  return `${file}:${line}: ${name === '' || message.includes(`'${name}'`) ? '' : `'${name}': `}${message}. ${fix}`
}

/** The error about a module that has no tool at all, with the reason for each of its exports. */
export function createNoToolsError({
  located: { file },
  manifest: { problems },
}: Pick<OpenedModule, 'located' | 'manifest'>): ToolError {
  const reasons = problems.slice(0, 20).map(formatProblem)
  return new ToolError(
    'CONFIG',
    `${file} has no function that can be a tool${reasons.length > 0 ? `:\n${reasons.join('\n')}` : ': it exports none'}`,
    {
      suggestion:
        problems.find(({ severity }) => severity === 'error')?.fix ??
        'Export a function: export function greet(name: string) { ... }',
      details: { problems: problems.slice(0, 100) },
    },
  )
}

const CACHE_FORMAT = 'toolable functions 2'

/** What a manifest is remembered by. */
type ManifestCacheKey = {
  readonly folder: string
  readonly file: string
  readonly strict: boolean
  /** Of this package: another one reads again. */ readonly version: string
}

/** What is remembered of a module. */
export type CachedModule = { readonly manifest: ModuleManifest; readonly hasTools: boolean }

/**
 * What was read of a module, where none of the files behind it has changed; undefined where
 * anything is in doubt.
 */
function readCachedModule(key: ManifestCacheKey): CachedModule | undefined {
  const record = parseJsonObject(readOwnedFile(getCacheFile(key)) ?? '')
  if (
    record?.['form'] !== CACHE_FORMAT ||
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
  return files.every((entry) => Array.isArray(entry) && getFileStamp(String(entry[0])) === entry[1])
    ? { manifest: manifest as ModuleManifest, hasTools: hasTools === true }
    : undefined
}

/**
 * Remembers what was read, whole or not at all. What cannot be written is not remembered, and that
 * is all.
 */
function writeCachedModule(
  key: ManifestCacheKey,
  { manifest, hasTools }: CachedModule,
  files: readonly string[],
): void {
  const { version, file, strict } = key
  const stamps = files.map((each) => [each, getFileStamp(each)])
  const record = { form: CACHE_FORMAT, version, file, strict, files: stamps, hasTools, manifest }
  writeCacheFile(key.folder, getCacheFile(key), `${JSON.stringify(record)}\n`)
}

// Files of the project by what stands in them; those of packages, which are many and change as a
// whole, by size and time.
function getFileStamp(file: string): string | null {
  try {
    if (!/[/\\]node_modules[/\\]/.test(file)) return hashText(readFileSync(file, 'utf8'))
    const { size, mtimeMs } = statSync(file)
    return `${size}-${mtimeMs}`
  } catch {
    // It is not there; when it is, that is a change.
    return null
  }
}

function getCacheFile({ folder, file, strict }: ManifestCacheKey): string {
  return join(folder, `functions-${toCacheName(file)}-${shortHash(`${file}\n${strict}`)}.json`)
}
