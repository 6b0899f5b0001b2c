/**
 * A module that exports tools, toolsets, resources, prompts or plain functions.
 */

import { basename, extname, resolve } from 'node:path'
import { getPackageVersion } from '../../core/cache.ts'
import { createEntry } from '../../core/provider.ts'
import { isTool } from '../../core/tool.ts'
import { isPrompt } from '../../define/prompt.ts'
import { isResource } from '../../define/resource.ts'
import { getModuleUrl, importModule } from '../../functions/import-module.ts'
import { locateModule, looksLikeModule } from '../../functions/locate.ts'
import type { FunctionProblem } from '../../functions/manifest.ts'
import { openModule } from '../../functions/open-module.ts'
import type { LoadSettings } from '../../functions/transform.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { asObject, asText } from '../../util/values.ts'
import type { LoadContext, LoadedSource, Problem, ToolSource } from '../source.ts'
import { joinLoaded, toBrokenSource } from '../source.ts'
import { isServable, loadToolset, toInProcessTool } from './in-process.ts'

/**
 * A module that exports tools, toolsets, resources or prompts, or plain functions. It is imported:
 * its code runs in this process.
 */
export type ModuleOptions = {
  /** A file, or the name of a package. */
  readonly path: string
  readonly name?: string
  /** Its plain functions are tools too; default: only if it exports nothing else. */
  readonly functions?: boolean
}

/** Opens a module. It is imported again after its file has changed. */
export function openSource({
  path,
  name = basename(path, extname(path)),
  functions = false,
}: ModuleOptions): ToolSource {
  return {
    name,
    kind: 'module',
    location: path,
    async load(context) {
      const place = looksLikeModule(path) ? resolve(context.cwd, path) : path
      try {
        const { file } = locateModule(place, context.cwd)
        if (functions) return await readFunctions(path, file, name, context)
        const exported = await importModule(getModuleUrl(file), buildLoadSettings(context))
        const own = await readExports(exported, name, file)
        if (hasAnything(own)) return own
        // Without any function the compiler would find nothing.
        return hasFunctions(exported)
          ? await readFunctions(path, file, name, context)
          : toEmptyModule(name, file)
      } catch (error) {
        return toBrokenModule(name, place, error)
      }
    },
  }
}

function buildLoadSettings({ cwd, cacheFolder }: LoadContext): LoadSettings {
  return { folders: [cwd], cacheFolder, version: getPackageVersion() }
}

// Only types are read; the first call imports the module, unless it also exports tools.
async function readFunctions(
  path: string,
  file: string,
  source: string,
  context: LoadContext,
): Promise<LoadedSource> {
  const address = getModuleUrl(file)
  const opened = await openModule(path, {
    cwd: context.cwd,
    env: context.env,
    fresh: context.fresh,
    cacheFolder: context.cacheFolder ?? null,
    address,
  })
  const own = opened.hasTools ? await readExports(await opened.load(), source, file) : undefined
  const tools = opened
    .tools()
    .map((tool) =>
      toInProcessTool(createEntry(tool), {
        source,
        kind: 'function',
        tier: 'local',
        location: file,
      }),
    )
  const problems = opened.manifest.problems
    .filter(({ severity }) => severity !== 'note')
    .map((problem) => toFunctionProblem(source, problem))
  const loaded = joinLoaded([...(own ? [own] : []), { tools, problems }])
  return hasAnything(loaded) ? loaded : joinLoaded([loaded, toEmptyModule(source, file)])
}

function toFunctionProblem(
  source: string,
  { file, line, reason, message, fix, severity }: FunctionProblem,
): Problem {
  return {
    source,
    location: `${file}:${line}`,
    reason,
    message,
    fix,
    severity: severity === 'error' ? 'error' : 'warning',
  }
}

function hasFunctions(exported: { readonly default?: unknown }): boolean {
  return [exported, exported.default]
    .flatMap((group) => (typeof group === 'object' && group !== null ? Object.values(group) : []))
    .some((value) => typeof value === 'function')
}

function hasAnything({ tools, resources, prompts }: LoadedSource): boolean {
  return tools.length + (resources?.length ?? 0) + (prompts?.length ?? 0) > 0
}

async function readExports(
  exported: object,
  source: string,
  location: string,
): Promise<LoadedSource> {
  const values = [...new Set(Object.values(exported))]
  const sets = await Promise.all(
    values.filter(isServable).map((set) => loadToolset(set, 'local', location)),
  )
  const { tools, resources, prompts } = joinLoaded(sets)
  const inSets = new Set(tools.map((tool) => tool.name))
  const alone = values
    .filter(isTool)
    .map((tool) => createEntry(tool))
    .filter((entry) => !inSets.has(entry.name))
    .map((entry) => toInProcessTool(entry, { source, kind: 'module', tier: 'local', location }))
  // The contents of a toolset are often exported by themselves too.
  return {
    tools: [...tools, ...alone],
    resources: [...new Set([...resources, ...values.filter(isResource)])],
    prompts: [...new Set([...prompts, ...values.filter(isPrompt)])],
  }
}

function toEmptyModule(source: string, file: string): LoadedSource {
  return toBrokenSource(
    source,
    file,
    'no-tools',
    `${file} exports no tool, toolset, resource or prompt, and no function that can be one`,
    'Export a function, or what tool({ ... }) or toolset({ ... }) gives',
  )
}

function toBrokenModule(source: string, location: string, thrown: unknown): LoadedSource {
  const { code, message, suggestion } = thrown as Partial<NodeJS.ErrnoException> &
    Partial<ToolError>
  const fix = asText(suggestion) ?? asObject(suggestion)?.['fix']
  const broken = (reason: string, said: string, otherwise: string): LoadedSource =>
    toBrokenSource(source, location, reason, said, asText(fix) ?? otherwise)
  if (code === 'ENOENT') return broken('missing', `there is no file ${location}`, 'Check the path')
  if (code === 'INVALID_PATH') return broken('missing', String(message), 'Check the path')
  if (ToolError.is(thrown))
    return broken(code === 'CONFIG' ? 'config' : 'syntax', String(message), `Look at ${location}`)
  return toBrokenSource(
    source,
    location,
    'crashed',
    `importing ${location} failed: ${String(message ?? thrown).split('\n', 1)[0]}`,
    `Try: node ${location}`,
  )
}
