/**
 * The implementation of `workflows()`: starts each execution inline (records in a shared journal)
 * or as a run, and lists both.
 */

import { resolve } from 'node:path'
import { host } from '../core/host.ts'
import type { RunState } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compareNewestFirst, listRuns, readNewestRuns } from '../runner/find-run.ts'
import { createRunId, findRunsFolder, isRunId } from '../runner/run-paths.ts'
import { compact, isObject } from '../util/values.ts'
import type { JsonObject } from '../util/values.ts'
import { checkTools } from './definition/checks.ts'
import { loadWorkflow, toDefinition } from './definition/load.ts'
import type { Workflow } from './definition/model.ts'
import { createProblemsError } from './definition/reader.ts'
import { openEmbeddedEngine } from './embedded/embedded-engine.ts'
import type { Execution, WorkflowEngine } from './engine.ts'
import { createFunctionPerformer, createPerformTool } from './perform-tool.ts'
import { readBriefExecution, RunExecutions } from './run-executions.ts'
import { checkWorkflowInput } from './scheduler.ts'
import { canRunInline } from './traits.ts'
import { isBuiltWorkflow } from './workflow-types.ts'
import type { AnyWorkflow, WorkflowHostOptions, Workflows } from './workflow-types.ts'

/** Opens a host for workflows on a folder of runs. */
export async function openWorkflowHost({
  registry,
  folder,
  answer,
  resume = true,
  cwd = host.cwd(),
  env = host.env(),
}: WorkflowHostOptions): Promise<Workflows> {
  const root = folder === undefined ? findRunsFolder(cwd) : resolve(cwd, folder)
  const ask: Parameters<typeof createPerformTool>[0]['ask'] =
    answer && (async ({ question }, signal) => ({ value: await answer(question, signal) }))
  // What is recorded in the journal need not be remembered a second time.
  const others = createPerformTool(
    compact({ registry, runsFolder: root, cwd, env, remembers: false, ask }),
  )
  // Where nobody answers, a function needs nothing but its call.
  const perform = answer ? others : createFunctionPerformer({ registry, cwd, env }, others)
  const light = await openEmbeddedEngine(compact({ folder: root, perform, answer, resume }))
  const runs = new RunExecutions({ root, registry, answer, cwd, env })
  const known = new WeakMap<Workflow, { readonly entries: unknown; readonly light: boolean }>()

  // Looked at once, unless other tools have come since.
  const look = async (workflow: Workflow): Promise<boolean> => {
    const before = known.get(workflow)
    if (before && before.entries === registry.entries) return before.light
    await registry.prepare?.()
    const { problems, found } = await checkTools(workflow, registry)
    if (problems.length > 0) throw createProblemsError(problems, found)
    const isPlain = canRunInline(workflow, registry)
    known.set(workflow, { entries: registry.entries, light: isPlain })
    return isPlain
  }
  const check = (id: string): string => {
    if (isRunId(id)) return id
    throw new ToolError(
      'INVALID_INPUT',
      `'${id.slice(0, 100)}' cannot be the id of a workflow: ids look like r-0123456789`,
      { field: 'id' },
    )
  }
  if (resume) await runs.resume()
  return {
    async start(
      given: Parameters<Workflows['start']>[0],
      input: unknown = {},
      { id }: { readonly id?: string } = {},
    ) {
      const workflow = await resolveWorkflow(given, cwd)
      if (id !== undefined && runs.has(check(id))) return runs.join(id)
      const isPlain = await look(workflow)
      const ready = await validateInput(workflow, input)
      return isPlain
        ? light.start(workflow, ready, id === undefined ? {} : { id })
        : runs.start(workflow, ready, id ?? createRunId())
    },
    answer: (id, question, value) =>
      runs.has(check(id)) ? runs.answer(id, question, value) : light.answer(id, question, value),
    cancel: (id, reason = 'cancelled by the caller') =>
      runs.has(check(id)) ? runs.cancel(id, reason) : light.cancel(id, reason),
    get: (id) => (runs.has(check(id)) ? runs.read(id) : light.get(id)),
    list: (filter = {}) => listAllExecutions(root, light, filter),
    resume: async () => [...(await light.resume()), ...(await runs.resume())],
    async close() {
      await Promise.all([light.close(), runs.close()])
    },
  }
}

async function validateInput({ input: schema }: Workflow, input: unknown): Promise<JsonObject> {
  if (!isObject(input))
    throw new ToolError('INVALID_INPUT', 'the input of a workflow is an object', { field: 'input' })
  if (!schema) return input
  const checked = await checkWorkflowInput(schema, input)
  if (checked.ok) return checked.value as JsonObject
  throw new ToolError('INVALID_INPUT', checked.error.message)
}

// The same value is started many times, and stays what it is.
const knownDefinitions = new WeakMap<object, Workflow>()

/** The definition that a workflow in any form is. Throws CONFIG, with every problem. */
async function resolveWorkflow(given: AnyWorkflow, cwd: string): Promise<Workflow> {
  if (typeof given === 'string') return loadWorkflow(given, { cwd })
  const before = knownDefinitions.get(given)
  if (before) return before
  const workflow = await toDefinition(given)
  if (isBuiltWorkflow(given)) knownDefinitions.set(given, workflow)
  return workflow
}

type ExecutionFilter = {
  readonly name?: string
  readonly state?: RunState
  readonly limit?: number
}

/**
 * Executions of a folder, newest first: those that are runs, and those without a folder of their
 * own. Of runs that are not given nothing is read.
 */
async function listAllExecutions(
  root: string,
  light: Pick<WorkflowEngine, 'list'>,
  { name, state, limit = Infinity }: ExecutionFilter,
): Promise<readonly Execution[]> {
  const isWanted = (execution: Execution): boolean =>
    (name === undefined || execution.name === name) &&
    (state === undefined || execution.state === state)
  const runs = await readNewestRuns(
    listRuns(root),
    async ({ paths }) => {
      const execution = await readBriefExecution(paths)
      return execution && isWanted(execution) ? execution : undefined
    },
    limit,
  )
  const plain = await light.list(
    compact({ name, state, limit: limit !== Infinity ? limit : undefined }),
  )
  return [...plain, ...runs].sort(compareNewestFirst).slice(0, limit)
}
