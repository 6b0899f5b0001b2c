import { basename, extname, resolve } from 'node:path'
import { getPackageVersion } from '../../core/cache.ts'
import { createEntry } from '../../core/provider.ts'
import { isTool } from '../../core/tool.ts'
import type { Prompt } from '../../define/prompt.ts'
import { isPrompt } from '../../define/prompt.ts'
import type { Resource } from '../../define/resource.ts'
import { isResource } from '../../define/resource.ts'
import { getModuleUrl, importModule } from '../../functions/import-module.ts'
import { locateModule, looksLikeModule } from '../../functions/locate.ts'
import type { FunctionProblem } from '../../functions/manifest.ts'
import { openModule } from '../../functions/open-module.ts'
import type { LoadSettings } from '../../functions/transform.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { FoundTool, LoadContext, LoadedSource, Problem, ToolSource } from '../source.ts'
import type { ModuleOptions } from '../types.ts'
import { isServable, loadToolset, toInProcessTool } from './in-process.ts'

/**
 * A module that exports tools, toolsets, resources, prompts or plain functions; it is imported, and
 * imported anew when the file changed.
 */
export function moduleSource({
  path,
  name = getModuleName(path),
  functions,
}: ModuleOptions): ToolSource {
  return {
    name,
    kind: 'module',
    location: path,
    async load(context) {
      let file = path
      try {
        file = locateModule(
          looksLikeModule(path) ? resolve(context.cwd, path) : path,
          context.cwd,
        ).file
        if (functions) return await readFunctions(path, file, name, context)
        const exported = await importModule(getModuleUrl(file), buildLoadSettings(context))
        const own = await readExports(exported, name, file)
        if (hasAnything(own)) return own
        // Without any function there is nothing that the compiler could find.
        return hasFunctions(exported)
          ? await readFunctions(path, file, name, context)
          : { tools: [], problems: [toEmptyProblem(name, file)] }
      } catch (error) {
        return {
          tools: [],
          problems: [
            toImportProblem(name, looksLikeModule(path) ? resolve(context.cwd, path) : path, error),
          ],
        }
      }
    },
  }
}

function buildLoadSettings({ cwd, cacheFolder }: LoadContext): LoadSettings {
  return { folders: [cwd], cacheFolder, version: getPackageVersion() }
}

// The types are read; the module itself is imported by the first call, unless it exports tools
// besides.
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
  const loaded = {
    tools: [...(own?.tools ?? []), ...tools],
    resources: own?.resources ?? [],
    prompts: own?.prompts ?? [],
    problems,
  }
  return hasAnything(loaded)
    ? loaded
    : { tools: [], problems: [...problems, toEmptyProblem(source, file)] }
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

function hasFunctions(exported: object): boolean {
  const values = Object.values(exported)
  const { default: whole } = exported as { readonly default?: unknown }
  return [
    ...values,
    ...(typeof whole === 'object' && whole !== null ? Object.values(whole) : []),
  ].some((value) => typeof value === 'function')
}

function hasAnything({ tools, resources, prompts }: LoadedSource): boolean {
  return tools.length + (resources?.length ?? 0) + (prompts?.length ?? 0) > 0
}

function getModuleName(path: string): string {
  return basename(path, extname(path))
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
  const inSets = new Set(sets.flatMap(({ tools }) => tools.map(({ name }) => name)))
  const tools = values
    .filter(isTool)
    .map((tool) => createEntry(tool))
    .filter(({ name }) => !inSets.has(name))
  return {
    tools: [
      ...sets.flatMap((set): readonly FoundTool[] => set.tools),
      ...tools.map((entry) =>
        toInProcessTool(entry, { source, kind: 'module', tier: 'local', location }),
      ),
    ],
    resources: uniqueValues([
      ...sets.flatMap((set): readonly Resource[] => set.resources ?? []),
      ...values.filter(isResource),
    ]),
    prompts: uniqueValues([
      ...sets.flatMap((set): readonly Prompt[] => set.prompts ?? []),
      ...values.filter(isPrompt),
    ]),
  }
}

// What a toolset holds is often exported by itself too.
function uniqueValues<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}

function toEmptyProblem(source: string, location: string): Problem {
  return {
    source,
    location,
    reason: 'no-tools',
    message: `${location} exports no tool, toolset, resource or prompt, and no function that can be one`,
    fix: 'Export a function, or what tool({ ... }) or toolset({ ... }) gives',
    severity: 'error',
  }
}

function toImportProblem(source: string, location: string, thrown: unknown): Problem {
  const error = thrown as Partial<NodeJS.ErrnoException> & Partial<ToolError>
  const fix = typeof error.suggestion === 'string' ? error.suggestion : error.suggestion?.fix
  if (error.code === 'INVALID_PATH' || error.code === 'ENOENT')
    return {
      source,
      location,
      reason: 'missing',
      message: error.code === 'ENOENT' ? `there is no file ${location}` : String(error.message),
      fix: fix ?? 'Check the path',
      severity: 'error',
    }
  if (ToolError.is(thrown))
    return {
      source,
      location,
      reason: error.code === 'CONFIG' ? 'config' : 'syntax',
      message: String(error.message),
      fix: fix ?? `Look at ${location}`,
      severity: 'error',
    }
  return {
    source,
    location,
    reason: 'crashed',
    message: `importing ${location} failed: ${String(error.message ?? thrown).split('\n', 1)[0]}`,
    fix: `Try: node ${location}`,
    severity: 'error',
  }
}
