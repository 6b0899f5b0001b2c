import { basename, extname, resolve } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { isPrompt } from '../../define/prompt.ts'
import type { Prompt } from '../../define/prompt.ts'
import { isResource } from '../../define/resource.ts'
import type { Resource } from '../../define/resource.ts'
import { enter } from '../../call/collect.ts'
import { ownVersion } from '../../call/own-version.ts'
import { isTool } from '../../call/tool.ts'
import { importModule } from '../../functions/load/import-module.ts'
import { moduleAddress } from '../../functions/load/module-address.ts'
import type { LoadSettings } from '../../functions/load/settings.ts'
import { locateModule, looksLikeModule } from '../../functions/locate/locate-module.ts'
import type { FunctionProblem } from '../../functions/manifest.ts'
import { openModule } from '../../functions/open-module.ts'
import type { FoundTool, Loaded, Problem } from '../found.ts'
import type { ModuleOptions } from '../registry-type.ts'
import type { LoadContext, Source } from '../source.ts'
import { foundFrom, isServable, loadedFrom } from './in-process.ts'

/** A module that exports tools, toolsets, resources, prompts or plain functions; it is imported, and imported anew when the file changed. */
export function moduleSource({ path, name = stem(path), functions }: ModuleOptions): Source {
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
        const exported = await importModule(moduleAddress(file), loadSettings(context))
        const own = await read(exported, name, file)
        if (isAnything(own)) return own
        // Without any function there is nothing that the compiler could find.
        return hasFunctions(exported)
          ? await readFunctions(path, file, name, context)
          : { tools: [], problems: [empty(name, file)] }
      } catch (error) {
        return {
          tools: [],
          problems: [
            broken(name, looksLikeModule(path) ? resolve(context.cwd, path) : path, error),
          ],
        }
      }
    },
  }
}

function loadSettings({ cwd, cacheFolder }: LoadContext): LoadSettings {
  return { folders: [cwd], cacheFolder, version: ownVersion() }
}

// The types are read; the module itself is imported by the first call, unless it exports tools besides.
async function readFunctions(
  path: string,
  file: string,
  source: string,
  context: LoadContext,
): Promise<Loaded> {
  const address = moduleAddress(file)
  const opened = await openModule(path, {
    cwd: context.cwd,
    env: context.env,
    fresh: context.fresh,
    cacheFolder: context.cacheFolder ?? null,
    address,
  })
  const own = opened.hasTools ? await read(await opened.load(), source, file) : undefined
  const tools = opened
    .tools()
    .map((tool) =>
      foundFrom(enter(tool), { source, kind: 'function', tier: 'local', location: file }),
    )
  const problems = opened.manifest.problems
    .filter(({ severity }) => severity !== 'note')
    .map((problem) => toProblem(source, problem))
  const loaded = {
    tools: [...(own?.tools ?? []), ...tools],
    resources: own?.resources ?? [],
    prompts: own?.prompts ?? [],
    problems,
  }
  return isAnything(loaded) ? loaded : { tools: [], problems: [...problems, empty(source, file)] }
}

function toProblem(
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

function isAnything({ tools, resources, prompts }: Loaded): boolean {
  return tools.length + (resources?.length ?? 0) + (prompts?.length ?? 0) > 0
}

function stem(path: string): string {
  return basename(path, extname(path))
}

async function read(exported: object, source: string, location: string): Promise<Loaded> {
  const values = [...new Set(Object.values(exported))]
  const sets = await Promise.all(
    values.filter(isServable).map((set) => loadedFrom(set, 'local', location)),
  )
  const inSets = new Set(sets.flatMap(({ tools }) => tools.map(({ name }) => name)))
  const tools = values
    .filter(isTool)
    .map((tool) => enter(tool))
    .filter(({ name }) => !inSets.has(name))
  return {
    tools: [
      ...sets.flatMap((set): readonly FoundTool[] => set.tools),
      ...tools.map((entry) =>
        foundFrom(entry, { source, kind: 'module', tier: 'local', location }),
      ),
    ],
    resources: unique([
      ...sets.flatMap((set): readonly Resource[] => set.resources ?? []),
      ...values.filter(isResource),
    ]),
    prompts: unique([
      ...sets.flatMap((set): readonly Prompt[] => set.prompts ?? []),
      ...values.filter(isPrompt),
    ]),
  }
}

// What a toolset holds is often exported by itself too.
function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}

function empty(source: string, location: string): Problem {
  return {
    source,
    location,
    reason: 'no-tools',
    message: `${location} exports no tool, toolset, resource or prompt, and no function that can be one`,
    fix: 'Export a function, or what tool({ ... }) or toolset({ ... }) gives',
    severity: 'error',
  }
}

function broken(source: string, location: string, thrown: unknown): Problem {
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
