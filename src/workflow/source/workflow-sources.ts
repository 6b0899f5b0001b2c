import { basename } from 'node:path'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FoundTool, Loaded } from '../../registry/found.ts'
import type { Source } from '../../registry/source.ts'
import { isBuiltWorkflow } from '../build/author.ts'
import { loadFile, loadFolder, loadValue } from './load-workflows.ts'
import type { LoadPart } from './load-workflows.ts'
import type { WorkflowItem } from './options.ts'
import { foundWorkflow } from './found-workflow.ts'
import type { WorkflowHost } from './workflow-host.ts'

const TOGETHER = 'workflows'
const FILE = /\.(ya?ml|json|[cm]?[jt]s)$/i

/** What a registry gives its workflows. */
export type Around = Pick<WorkflowHost, 'opened' | 'surroundings'>

type Part = { readonly source: string; readonly location: string; readonly load: LoadPart }

/** Makes the sources of the option `workflows`: one for each folder, and one for all files and values. Throws CONFIG for what is no workflow. */
export function workflowSources(items: readonly WorkflowItem[], host: Around): readonly Source[] {
  if (!Array.isArray(items))
    throw new ToolError(
      'CONFIG',
      "'workflows' of registry() takes a list of files, folders and workflows",
    )
  const groups = new Map<string, Part[]>()
  for (const part of items.map(partOf))
    groups.set(part.source, [...(groups.get(part.source) ?? []), part])
  return Array.from(groups, ([name, parts]) => sourceOf(name, parts, host))
}

function partOf(item: WorkflowItem): Part {
  if (isBuiltWorkflow(item) || (isObject(item) && Object.hasOwn(item, 'steps')))
    return { source: TOGETHER, location: 'this process', load: loadValue(item) }
  const { path, name } =
    typeof item === 'string'
      ? { path: item }
      : (item as { readonly path?: string; readonly name?: string })
  if (typeof path !== 'string' || path === '')
    throw new ToolError(
      'CONFIG',
      "'workflows' of registry() takes files, folders, what workflow() gives, and definitions with 'steps'",
    )
  const isFile = FILE.test(path)
  return {
    source: name ?? (isFile ? TOGETHER : folderName(path)),
    location: path,
    load: isFile ? loadFile(path) : loadFolder(path),
  }
}

function sourceOf(name: string, parts: readonly Part[], shared: Around): Source {
  const closing = new AbortController()
  const host = { ...shared, running: new Set<Promise<unknown>>(), closed: closing.signal }
  return {
    name,
    kind: 'workflows',
    location: [...new Set(parts.map(({ location }) => location))].join(', '),
    async load(context): Promise<Loaded> {
      const loaded = await Promise.all(parts.map(({ load }) => load(name, context)))
      const tools = loaded.flatMap(({ workflows }) =>
        workflows.map((workflow): FoundTool =>
          foundWorkflow(name, workflow, { ...host, cwd: context.cwd }),
        ),
      )
      return { tools, problems: loaded.flatMap(({ problems }) => problems) }
    },
    async close() {
      closing.abort('the registry was closed')
      await Promise.allSettled([...host.running])
    },
  }
}

function folderName(path: string): string {
  const name = basename(path)
  return name === '' || name === '.' || name === '..' ? TOGETHER : name
}
