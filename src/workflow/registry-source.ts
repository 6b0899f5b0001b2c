/**
 * The registry source for workflows: makes a tool of each workflow in files, folders and values.
 */

import { basename } from 'node:path'
import type { ToolDefinition } from '../define/tool-types.ts'
import { defineTool } from '../define/tool.ts'
import type { Context } from '../protocol/context.ts'
import type { Annotations } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { RegistryEntry } from '../registry/catalog.ts'
import type { FoundTool, LoadedSource, ToolSource } from '../registry/source.ts'
import type { Registry } from '../registry/types.ts'
import type { JsonObject } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { LoadWorkflows } from './definition/load.ts'
import { createFileLoader, createFolderLoader, createValueLoader } from './definition/load.ts'
import type { Workflow } from './definition/model.ts'
import { listToolNames } from './definition/walk.ts'
import type { LoadedWorkflow } from './lookup.ts'
import { getLoadedWorkflow, rememberWorkflow } from './lookup.ts'
import type { RegistryWorkflowHost, WorkflowItem } from './workflow-types.ts'
import { isBuiltWorkflow } from './workflow-types.ts'

const SHARED_SOURCE_NAME = 'workflows'
const WORKFLOW_TAGS = ['workflow']
const FILE_PATTERN = /\.(ya?ml|json|[cm]?[jt]s)$/i

/** What a registry gives its workflows. */
export type WorkflowSourceHost = Pick<RegistryWorkflowHost, 'opened' | 'surroundings'>

type WorkflowSourcePart = {
  readonly source: string
  readonly location: string
  readonly load: LoadWorkflows
}

/**
 * Makes the sources of the option `workflows`: one for each folder, and one for all files and
 * values. Throws CONFIG for what is no workflow.
 */
export function createWorkflowSources(
  items: readonly WorkflowItem[],
  host: WorkflowSourceHost,
): readonly ToolSource[] {
  if (!Array.isArray(items))
    throw new ToolError(
      'CONFIG',
      "'workflows' of registry() takes a list of files, folders and workflows",
    )
  const groups = new Map<string, WorkflowSourcePart[]>()
  for (const part of items.map(toSourcePart))
    groups.set(part.source, [...(groups.get(part.source) ?? []), part])
  return Array.from(groups, ([name, parts]) => createSource(name, parts, host))
}

function toSourcePart(item: WorkflowItem): WorkflowSourcePart {
  if (isBuiltWorkflow(item) || (isObject(item) && Object.hasOwn(item, 'steps')))
    return { source: SHARED_SOURCE_NAME, location: 'this process', load: createValueLoader(item) }
  const { path, name } =
    typeof item === 'string'
      ? { path: item }
      : (item as { readonly path?: string; readonly name?: string })
  if (typeof path !== 'string' || path === '')
    throw new ToolError(
      'CONFIG',
      "'workflows' of registry() takes files, folders, what workflow() gives, and definitions with 'steps'",
    )
  const isFile = FILE_PATTERN.test(path)
  return {
    source: name ?? (isFile ? SHARED_SOURCE_NAME : getSourceName(path)),
    location: path,
    load: isFile ? createFileLoader(path) : createFolderLoader(path),
  }
}

function createSource(
  name: string,
  parts: readonly WorkflowSourcePart[],
  shared: WorkflowSourceHost,
): ToolSource {
  const closing = new AbortController()
  const host = { ...shared, running: new Set<Promise<unknown>>(), closed: closing.signal }
  return {
    name,
    kind: 'workflows',
    location: [...new Set(parts.map(({ location }) => location))].join(', '),
    async load(context): Promise<LoadedSource> {
      const loaded = await Promise.all(parts.map(({ load }) => load(name, context)))
      const tools = loaded.flatMap(({ workflows }) =>
        workflows.map((workflow): FoundTool =>
          createWorkflowTool(name, workflow, { ...host, cwd: context.cwd }),
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

function getSourceName(path: string): string {
  const name = basename(path)
  return name === '' || name === '.' || name === '..' ? SHARED_SOURCE_NAME : name
}

const ANY_INPUT_SCHEMA = { type: 'object', additionalProperties: true } as const

/** A workflow as a tool. A call of it is a run on record, wherever it comes from. */
function createWorkflowTool(
  source: string,
  loaded: LoadedWorkflow,
  host: RegistryWorkflowHost,
): FoundTool {
  const { workflow, file } = loaded
  const { name, version, description, input = ANY_INPUT_SCHEMA } = workflow
  const summary = workflow.summary ?? `The workflow ${name}`
  const define = (called: string): ToolDefinition =>
    defineTool(
      compact({
        name: called,
        summary,
        description,
        input,
        tags: WORKFLOW_TAGS,
        annotations: deriveAnnotations(workflow, (tool) => host.opened().find(tool)),
        // Its input fields may have any name.
        reserved: false,
        run: (given: JsonObject, ctx: Context) =>
          trackRunning(host, async () =>
            (await import('./call-workflow.ts')).callWorkflow({ loaded, input: given }, ctx, host),
          ),
      }),
    )
  const found: FoundTool = compact({
    source,
    version,
    name,
    tier: file === undefined ? 'in-process' : 'manifest',
    kind: 'workflow',
    location: file,
    summary,
    tags: WORKFLOW_TAGS,
    define,
    composed: true,
  })
  return rememberWorkflow(found, loaded)
}

function trackRunning<Result>(
  { running }: RegistryWorkflowHost,
  work: () => Promise<Result>,
): Promise<Result> {
  const done = work().finally(() => running.delete(done))
  running.add(done)
  return done
}

/**
 * The annotations of a workflow follow from those of its tools: one destructive tool makes it
 * destructive, so that consent to it is consent to all of its steps.
 */
export function deriveAnnotations(workflow: Workflow, find: Registry['find']): Annotations {
  const all = [...collectLeafTools(workflow, find, new Set())].map(
    (entry) => entry?.definition.metadata.annotations ?? {},
  )
  const isTrueForAll = (key: 'readOnly' | 'idempotent'): boolean =>
    all.every((annotations) => annotations[key] === true)
  return compact({
    readOnly: isTrueForAll('readOnly') || undefined,
    destructive: all.some(({ destructive }) => destructive) || undefined,
    idempotent: isTrueForAll('idempotent') || undefined,
    openWorld: all.some(({ openWorld }) => openWorld) || undefined,
  })
}

// Workflows may be tools of each other, in circles too.
function collectLeafTools(
  workflow: Workflow,
  find: Registry['find'],
  seen: Set<Workflow>,
): ReadonlySet<RegistryEntry | undefined> {
  if (seen.has(workflow)) return new Set()
  seen.add(workflow)
  const entries = [...listToolNames(workflow)].map(
    (tool) => find(tool) as RegistryEntry | undefined,
  )
  return new Set(
    entries.flatMap((entry) => {
      const inner = entry && getLoadedWorkflow(entry.found)
      return inner ? [...collectLeafTools(inner.workflow, find, seen)] : [entry]
    }),
  )
}
