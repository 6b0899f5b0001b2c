import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { JsonObject } from '../../../contract/json.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import { openRun } from '../../../runner/folder/open-run.ts'
import { newRunId } from '../../../runner/folder/run-id.ts'
import { takesDocument } from '../../../runner/given-of.ts'
import type { RunOptions } from '../../../runner/make-request.ts'
import type { RunRequest } from '../../../runner/run-request.ts'
import { joinTrace } from '../../../runner/trace/join-trace.ts'
import type { Started } from '../../../views/model/wire/others.ts'
import { hashWorkflow } from '../../../workflow/definition/hash-workflow.ts'
import { loadWorkflow } from '../../../workflow/definition/load-workflow.ts'
import type { Workflow } from '../../../workflow/definition/workflow-type.ts'
import { annotationsOf } from '../../../workflow/source/annotations.ts'
import { findFile } from '../../config/find-file.ts'
import { requireConsent } from '../../run/consent.ts'
import { withRegistry } from '../../with-registry.ts'
import type { Project, Tools } from '../project.ts'
import { findWorkflowProblem } from './check-input.ts'
import { findTool, look } from './find-tool.ts'
import type { FreshTool } from './find-tool.ts'
import { begin, DASHBOARD, requireTools, startTool } from './start.ts'

/** Starts the same again under a new id: the same tool as it is now, what it got before or another input, within the same limits. */
export async function retryRun(
  id: string,
  input: JsonObject | undefined,
  confirm: boolean,
  tools: Tools,
  project: Project,
): Promise<Started> {
  const { request } = openRun(project.runsFolder, id)
  const here = { ...project, cwd: request.cwd }
  if (request.command === 'agent')
    return begin({ ...anew(request), input: { ...request.input, ...input } }, here)
  if (request.workflow?.server) return begin(await anotherWorkflow(request, input, project), here)
  if (request.command === 'workflow') {
    const again = await anotherWorkflow(request, input, project)
    await withToolsOf(request, tools, project, (registry) =>
      checkWorkflow(again, confirm, registry),
    )
    return begin(again, here)
  }
  return withToolsOf(request, tools, project, async (registry, isOurs) => {
    const tool = isOurs
      ? await findTool(tools, request.tool, project)
      : await look(registry, request.tool, project)
    if (input === undefined && isQuestion(request, tool)) return begin(anew(request), here)
    const given =
      input !== undefined
        ? { input }
        : takesDocument(request.call)
          ? { input: request.input ?? {} }
          : { args: request.args, ...(request.input && { input: request.input }) }
    return startTool(
      tool,
      {
        given,
        manner: { agreed: confirm, dryRun: request.dry_run === true },
        options: optionsOf(request),
      },
      here,
    )
  })
}

function optionsOf({
  timeout_s: timeout,
  heartbeat_grace_s: heartbeatGrace,
  retries,
  allow_level: allowLevel,
  answers,
  typed_answers: typedAnswers,
  secrets,
  surroundings,
}: RunRequest): RunOptions {
  return {
    timeout,
    heartbeatGrace,
    retries,
    ...(allowLevel && { allowLevel }),
    ...(answers && { answers }),
    ...(typedAnswers && { typedAnswers }),
    ...(secrets && { secrets }),
    ...(surroundings && { surroundings }),
  }
}

// The same request, as if it had been asked for just now, by itself.
function anew({
  parent: _parent,
  parent_span_id: _span,
  traceparent: _trace,
  ...request
}: RunRequest): RunRequest {
  const run_id = newRunId()
  return {
    ...request,
    run_id,
    created: new Date().toISOString(),
    caller: DASHBOARD,
    ...joinTrace({}),
    idempotency_key: run_id,
  }
}

// Somebody asked a program about itself, or had it test itself: that was no call of the tool.
function isQuestion({ call }: RunRequest, { program }: FreshTool): boolean {
  return call?.form === 'program' && program !== undefined && program.call.form !== 'program'
}

async function anotherWorkflow(
  request: RunRequest,
  input: JsonObject | undefined,
  { root }: Project,
): Promise<RunRequest> {
  const { definition, file, server } = request.workflow!
  const workflow =
    file !== undefined && existsSync(file)
      ? await loadWorkflow(file, { cwd: root })
      : (definition as unknown as Workflow)
  const given = input ?? request.input ?? {}
  const problem = await findWorkflowProblem(workflow, given)
  if (problem) throw problem
  return {
    ...anew(request),
    input: given,
    workflow: {
      definition: workflow,
      hash: hashWorkflow(workflow),
      ...(file !== undefined && { file }),
      ...(server && { server }),
    },
  }
}

async function checkWorkflow(
  { workflow, tool }: RunRequest,
  confirm: boolean,
  registry: Registry,
): Promise<void> {
  const definition = workflow!.definition as unknown as Workflow
  await requireTools(definition, registry)
  requireConsent(
    {
      name: tool,
      destructive: annotationsOf(definition, (name) => registry.find(name)).destructive === true,
    },
    { agreed: confirm, dryRun: false },
  )
}

// Another folder may have other tools of the same names.
async function withToolsOf<Result>(
  { surroundings = {}, cwd }: RunRequest,
  tools: Tools,
  project: Project,
  work: (registry: Registry, isOurs: boolean) => Promise<Result>,
): Promise<Result> {
  if (isHere(surroundings, cwd, project)) return work(await tools.registry(), true)
  return withRegistry(surroundings, { cwd, env: project.env }, (registry) => work(registry, false))
}

function isHere(
  surroundings: NonNullable<RunRequest['surroundings']>,
  cwd: string,
  project: Project,
): boolean {
  const fileOf = (folder: string, config: string | undefined): string | undefined => {
    try {
      return findFile(folder, config)
    } catch {
      return undefined
    }
  }
  const { config, folder = [], ...rest } = surroundings
  const { config: ownConfig, folder: ownFolder = [], ...ownRest } = project.surroundings
  const foldersOf = (at: string, folders: readonly string[]): string =>
    JSON.stringify(folders.map((one) => resolve(at, one)))
  const own = fileOf(project.cwd, ownConfig)
  return (
    fileOf(cwd, config) === own &&
    (own !== undefined || cwd === project.cwd) &&
    foldersOf(cwd, folder) === foldersOf(project.cwd, ownFolder) &&
    JSON.stringify(rest) === JSON.stringify(ownRest)
  )
}
