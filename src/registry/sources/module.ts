import { basename, extname, resolve } from 'node:path'
import { isPrompt } from '../../define/prompt.ts'
import type { Prompt } from '../../define/prompt.ts'
import { isResource } from '../../define/resource.ts'
import type { Resource } from '../../define/resource.ts'
import { enter } from '../../call/collect.ts'
import { isTool } from '../../call/tool.ts'
import type { FoundTool, Loaded, Problem } from '../found.ts'
import type { ModuleOptions } from '../registry-type.ts'
import { explainImport, importFile } from '../import-file.ts'
import type { Source } from '../source.ts'
import { foundFrom, isServable, loadedFrom } from './in-process.ts'

/** A module that exports tools, toolsets, resources or prompts; it is imported, and imported anew when the file changed. */
export function moduleSource({ path, name = stem(path) }: ModuleOptions): Source {
  return {
    name,
    kind: 'module',
    location: path,
    async load(context) {
      const file = resolve(context.cwd, path)
      try {
        const loaded = await read(await importFile(file), name, file)
        return loaded.tools.length + (loaded.resources?.length ?? 0) + (loaded.prompts?.length ?? 0) > 0 ? loaded : { tools: [], problems: [empty(name, file)] }
      } catch (error) {
        return { tools: [], problems: [{ source: name, location: file, ...explainImport(error, file), severity: 'error' }] }
      }
    },
  }
}

function stem(path: string): string {
  return basename(path, extname(path))
}

async function read(exported: { readonly [name: string]: unknown }, source: string, location: string): Promise<Loaded> {
  const values = [...new Set(Object.values(exported))]
  const sets = await Promise.all(values.filter(isServable).map((set) => loadedFrom(set, 'local', location)))
  const inSets = new Set(sets.flatMap(({ tools }) => tools.map(({ name }) => name)))
  const tools = values.filter(isTool).map((tool) => enter(tool)).filter(({ name }) => !inSets.has(name))
  return {
    tools: [...sets.flatMap((set): readonly FoundTool[] => set.tools), ...tools.map((entry) => foundFrom(entry, { source, kind: 'module', tier: 'local', location }))],
    resources: unique([...sets.flatMap((set): readonly Resource[] => set.resources ?? []), ...values.filter(isResource)]),
    prompts: unique([...sets.flatMap((set): readonly Prompt[] => set.prompts ?? []), ...values.filter(isPrompt)]),
  }
}

// What a toolset holds is often exported by itself too.
function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}

function empty(source: string, location: string): Problem {
  return { source, location, reason: 'no-tools', message: `${location} exports no tool, toolset, resource or prompt`, fix: 'Export what tool({ ... }) or toolset({ ... }) gives', severity: 'error' }
}
