import { resolve } from 'node:path'
import type { JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { host } from '../../call/host.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { isRunId, newRunId } from '../../runner/folder/run-id.ts'
import { checkTools } from '../definition/check-tools.ts'
import { problemsError } from '../definition/finding.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { openEmbedded } from '../engines/embedded/light/open-embedded.ts'
import { checkInput } from '../interpret/check-input.ts'
import { callFunctions } from '../steps/call-function.ts'
import { createPerformTool } from '../steps/perform-tool.ts'
import { isLight } from './is-light.ts'
import { listAll } from './list-all.ts'
import { readAnyWorkflow } from './read-any-workflow.ts'
import { RunExecutions } from './run-executions.ts'
import type { Workflows, WorkflowHostOptions } from './workflows-type.ts'

/** Opens a host for workflows on a folder of runs. */
export async function openWorkflows({
  registry,
  folder,
  answer,
  resume = true,
  cwd = host.cwd(),
  env = host.env(),
}: WorkflowHostOptions): Promise<Workflows> {
  const root = folder === undefined ? findRunsFolder(cwd) : resolve(cwd, folder)
  // What is recorded in the journal need not be remembered a second time.
  const others = createPerformTool({
    registry,
    runsFolder: root,
    cwd,
    env,
    remembers: false,
    ...(answer && {
      ask: async ({ question }, signal) => ({ value: await answer(question, signal) }),
    }),
  })
  // Where nobody answers, a function needs nothing but its call.
  const perform = answer ? others : callFunctions({ registry, cwd, env }, others)
  const light = await openEmbedded({ folder: root, perform, ...(answer && { answer }), resume })
  const runs = new RunExecutions({ root, registry, answer, cwd, env })
  const known = new WeakMap<Workflow, { readonly entries: unknown; readonly light: boolean }>()

  // Looked at once, unless other tools have come since.
  const look = async (workflow: Workflow): Promise<boolean> => {
    const before = known.get(workflow)
    if (before && before.entries === registry.entries) return before.light
    await registry.prepare?.()
    const { problems, found } = await checkTools(workflow, registry)
    if (problems.length > 0) throw problemsError(problems, found)
    const isPlain = isLight(workflow, registry)
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
      const workflow = await readAnyWorkflow(given, cwd)
      if (id !== undefined && runs.has(check(id))) return runs.join(id)
      const isPlain = await look(workflow)
      const ready = await fit(workflow, input)
      return isPlain
        ? light.start(workflow, ready, id === undefined ? {} : { id })
        : runs.start(workflow, ready, id ?? newRunId())
    },
    answer: (id, question, value) =>
      runs.has(check(id)) ? runs.answer(id, question, value) : light.answer(id, question, value),
    cancel: (id, reason = 'cancelled by the caller') =>
      runs.has(check(id)) ? runs.cancel(id, reason) : light.cancel(id, reason),
    get: (id) => (runs.has(check(id)) ? runs.read(id) : light.get(id)),
    list: (filter = {}) => listAll(root, light, filter),
    resume: async () => [...(await light.resume()), ...(await runs.resume())],
    async close() {
      await Promise.all([light.close(), runs.close()])
    },
  }
}

async function fit({ input: schema }: Workflow, input: unknown): Promise<JsonObject> {
  if (!isObject(input))
    throw new ToolError('INVALID_INPUT', 'the input of a workflow is an object', { field: 'input' })
  if (!schema) return input
  const checked = await checkInput(schema, input)
  if (checked.ok) return checked.value as JsonObject
  throw new ToolError('INVALID_INPUT', checked.error.message)
}
