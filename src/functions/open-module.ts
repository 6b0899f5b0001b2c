import { cacheFolder } from '../call/cache-folder.ts'
import { host } from '../call/host.ts'
import { ownVersion } from '../call/own-version.ts'
import type { AnyTool } from '../call/tool.ts'
import { ToolError } from '../contract/tool-error.ts'
import { recall, remember } from './cache/manifest-cache.ts'
import type { Remembered } from './cache/manifest-cache.ts'
import type { LocatedModule } from './locate/locate-module.ts'
import { locateModule } from './locate/locate-module.ts'
import { functionTools } from './make-tools.ts'
import type { FunctionProblem } from './manifest.ts'

/** How a module is opened. */
export type OpenOptions = {
  /** What a relative path means, and where packages are looked for; default: the directory of the process. */
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
export type OpenedModule = Remembered & {
  readonly located: LocatedModule
  /** Made at each call, for the first time without importing anything. */
  tools(): AnyTool[]
  /** What the module exports. */
  load(): Promise<object>
}

/** Reads what the functions of a module are, from the cache where nothing has changed. The module itself is not imported before a call. Throws INVALID_PATH where there is none, CONFIG in strict mode for what cannot be a tool. */
export async function openModule(given: string, options: OpenOptions = {}): Promise<OpenedModule> {
  const cwd = options.cwd ?? host.cwd()
  const strict = options.strict ?? false
  const located = locateModule(given, cwd)
  const folder =
    options.cacheFolder === null
      ? undefined
      : (options.cacheFolder ?? (await cacheFolder(options.env ?? host.env())))
  const read = await readOrRecall(located, { cwd, strict, folder, fresh: options.fresh ?? false })
  if (strict) refuseProblems(located, read.manifest.problems)
  const load = async (): Promise<object> => {
    const { importModule } = await import('./load/import-module.ts')
    try {
      return await importModule(options.address ?? located.url, {
        folders: [located.folder, cwd],
        cacheFolder: folder,
        version: ownVersion(),
      })
    } catch (error) {
      throw (await import('./load/import-failure.ts')).importFailure(located.file, error)
    }
  }
  return { ...read, located, load, tools: () => functionTools(read.manifest, load) }
}

type Reading = {
  readonly cwd: string
  readonly strict: boolean
  readonly folder: string | undefined
  readonly fresh: boolean
}

async function readOrRecall(
  located: LocatedModule,
  { cwd, strict, folder, fresh }: Reading,
): Promise<Remembered> {
  const key =
    folder === undefined
      ? undefined
      : {
          folder,
          file: `${located.specifier ?? ''}:${located.file}`,
          strict,
          version: ownVersion(),
        }
  const known = key && !fresh ? recall(key) : undefined
  if (known) return known
  const { readModule } = await import('./read/read-module.ts')
  const { manifest, files, isWhole, hasTools } = await readModule(located, { strict, cwd })
  if (key && isWhole) remember(key, { manifest, hasTools }, files)
  return { manifest, hasTools }
}

function refuseProblems({ file }: LocatedModule, problems: readonly FunctionProblem[]): void {
  const serious = problems.filter(({ severity }) => severity !== 'note')
  if (serious.length === 0) return
  throw new ToolError(
    'CONFIG',
    `${file} has what cannot be a tool:\n${serious.slice(0, 50).map(tellProblem).join('\n')}`,
    { suggestion: serious[0]!.fix, details: { problems: serious.slice(0, 100) } },
  )
}

/** One line about a problem: where, what, and what to do. */
export function tellProblem({ file, line, message, fix, export: name }: FunctionProblem): string {
  return `${file}:${line}: ${name === '' || message.includes(`'${name}'`) ? '' : `'${name}': `}${message}. ${fix}`
}

/** The error about a module that has no tool at all, with the reason for each of its exports. */
export function noTools({
  located: { file },
  manifest: { problems },
}: Pick<OpenedModule, 'located' | 'manifest'>): ToolError {
  const reasons = problems.slice(0, 20).map(tellProblem)
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
