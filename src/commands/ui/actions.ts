/**
 * What can be done from the dashboard: start, retry, cancel, resume, answer and clean. Every run
 * has its own process, which outlives the dashboard.
 */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { listRuns, openRun } from '../../runner/find-run.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunArguments, RunOptions, RunRequest } from '../../runner/request.ts'
import { takesDocument, toRunArguments } from '../../runner/request.ts'
import { createRun } from '../../runner/run-folder.ts'
import { createRunId, isRunId, isRunIdWithoutFolder } from '../../runner/run-paths.ts'
import { joinTrace } from '../../runner/trace-context.ts'
import { SerialQueue } from '../../util/async.ts'
import { DAY_MS } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { StartedRun } from '../../views/model/api.ts'
import type { ActionsSource } from '../../views/server/backend.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { findOrphans } from '../../workflow/embedded/find-executions.ts'
import { hashWorkflow } from '../../workflow/request.ts'
import { findConfigFile, withRegistry } from '../config.ts'
import { answerQuestionOf, cancelRun, claimForResume } from '../control/control-run.ts'
import { adoptInlineExecution } from '../control/orphaned-workflows.ts'
import type { RunMode } from '../run/consent.ts'
import {
  applyRunMode,
  createNoDryRunError,
  findDryRunMethod,
  requireConsent,
  toConsentRequest,
  toWorkflowConsentRequest,
} from '../run/consent.ts'
import { handOverToSupervisor, prepareRun } from '../run/create-run.ts'
import { findEndedRuns, removeRuns } from '../runs/clean-runs.ts'
import { requireTools } from '../workflow/describe-workflow.ts'
import { getFolderBytes } from './catalogue.ts'
import type { CurrentTool, DashboardProject, ProjectTools } from './project.ts'
import { findCurrentTool, findInputProblem, findTool, findWorkflowProblem } from './project.ts'

/**
 * What can be done from a dashboard. Every run that it starts or resumes has its own process, which
 * outlives the dashboard; actions on one run wait for each other.
 */
export function openActions(project: DashboardProject, tools: ProjectTools): ActionsSource {
  const { cwd, env, runsFolder } = project
  const { config } = project.surroundings
  const which = compact({ config })
  const turns = createKeyedQueue()
  const never = new AbortController().signal

  const resume = async (id: string): Promise<StartedRun> => {
    const orphans = isRunIdWithoutFolder(runsFolder, id) ? await findOrphans(runsFolder) : []
    if (orphans.some(({ w }) => w === id))
      await adoptInlineExecution(runsFolder, id, config, project)
    const { paths, request } = await claimForResume(id, {}, { cwd, config })
    await handOverToSupervisor(paths, request, project, 'resume')
    return { run_id: id }
  }

  return {
    async start({ tool, input, dry_run: dryRun = false, confirm = false }) {
      const found = await findTool(tools, tool, project)
      const mode = { agreed: confirm, dryRun }
      const options = { surroundings: project.surroundings }
      return startToolRun(found, { given: { input }, mode, options }, project)
    },
    cancel: async (id, reason = `cancelled by the ${DASHBOARD_CALLER}`) =>
      turns(requireRunId(id), async () => {
        await cancelRun(
          { run: id, wait: false, reason, ...which },
          { cwd, env, signal: never },
          (paths, request) => handOverToSupervisor(paths, request, project, 'resume'),
        )
      }),
    resume: async (id) => turns(requireRunId(id), () => resume(id)),
    retry: async (id, input, confirm) => retryRun(requireRunId(id), input, confirm, tools, project),
    answer: async (id, question, value, note) =>
      turns(requireRunId(id), async () => {
        const { go_on: isLeft } = await answerQuestionOf(
          { run: id, question, ...which },
          () => value,
          compact({ by: DASHBOARD_CALLER, note }),
          cwd,
        )
        if (isLeft !== undefined) await resume(id)
      }),
    clean: async (days) => removeOldRuns(runsFolder, days, project.now()),
  }
}

// A page knows whole ids; a prefix, or `latest`, might mean another run by now.
function requireRunId(id: string): string {
  if (isRunId(id)) return id
  throw new ToolError('NOT_FOUND', `there is no run '${id.slice(0, 100)}'`, {
    field: 'run',
    suggestion: 'toolable runs list',
  })
}

/** Who starts runs here, for the record. */
const DASHBOARD_CALLER = 'dashboard'

/** A run that is asked for: by an input, or by what a program got before. */
type StartRunInput = {
  readonly given: { readonly input: JsonObject } | RunArguments
  readonly mode: RunMode
  readonly options: RunOptions
}

/**
 * Starts a run that outlives the dashboard. Mistakes are reported before anything is on record:
 * INVALID_INPUT, MISSING_PARAM, CONFIRMATION_REQUIRED, PRECONDITION for a dry run of a tool that has
 * none, CONFIG for a workflow that cannot work.
 */
async function startToolRun(
  tool: CurrentTool,
  { given, mode, options }: StartRunInput,
  project: DashboardProject,
): Promise<StartedRun> {
  const { registry, entry, program, workflow } = tool
  const read = 'args' in given ? given : await readStartInput(tool, given.input, mode, project)
  requireConsent(toConsentRequest(entry), mode)
  if (workflow) await requireTools(workflow.workflow, registry)
  const request = await prepareRun(
    {
      entry,
      program,
      given: await applyRunMode(read, entry, program, mode),
      options: { ...options, caller: DASHBOARD_CALLER },
      dryRun: mode.dryRun,
      workflow,
    },
    project,
  )
  return startRun(request, project)
}

/** Records a request and hands it to another process. */
async function startRun(request: RunRequest, project: DashboardProject): Promise<StartedRun> {
  const paths = createRun(project.runsFolder, request)
  await handOverToSupervisor(paths, request, project)
  return { run_id: request.run_id }
}

async function readStartInput(
  tool: CurrentTool,
  given: JsonObject,
  { dryRun }: RunMode,
  project: DashboardProject,
): Promise<RunArguments> {
  const { entry, program } = tool
  const way = dryRun ? await findDryRunMethod(entry, program) : undefined
  if (dryRun && !way) throw createNoDryRunError(entry)
  const input = way?.by === 'field' ? { ...given, [way.field]: true } : given
  const problem = await findInputProblem(tool, input, project)
  if (problem) throw problem
  // The arguments count; the input is kept for a retry that changes it.
  return { ...toRunArguments({ input }, program?.call), input }
}

/**
 * Starts the same again under a new id: the same tool as it is now, what it got before or another
 * input, within the same limits.
 */
async function retryRun(
  id: string,
  input: JsonObject | undefined,
  confirm: boolean,
  tools: ProjectTools,
  project: DashboardProject,
): Promise<StartedRun> {
  const { request } = openRun(project.runsFolder, id)
  const here = { ...project, cwd: request.cwd }
  if (request.command === 'agent')
    return startRun({ ...toNewRequest(request), input: { ...request.input, ...input } }, here)
  if (request.workflow?.server)
    return startRun(await toNewWorkflowRequest(request, input, project), here)
  if (request.command === 'workflow') {
    const again = await toNewWorkflowRequest(request, input, project)
    await withRegistryOfRun(request, tools, project, (registry) =>
      validateWorkflow(again, confirm, registry),
    )
    return startRun(again, here)
  }
  return withRegistryOfRun(request, tools, project, async (registry, isOurs) => {
    const tool = isOurs
      ? await findTool(tools, request.tool, project)
      : await findCurrentTool(registry, request.tool, project)
    if (input === undefined && isProgramQuestion(request, tool))
      return startRun(toNewRequest(request), here)
    const mode = { agreed: confirm, dryRun: request.dry_run === true }
    const given = toRetryArguments(request, input)
    return startToolRun(tool, { given, mode, options: toRunOptions(request) }, here)
  })
}

function toRetryArguments(
  { call, args, input }: RunRequest,
  changed: JsonObject | undefined,
): StartRunInput['given'] {
  if (changed !== undefined) return { input: changed }
  return takesDocument(call) ? { input: input ?? {} } : compact({ args, input })
}

function toRunOptions({
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
    ...compact({ allowLevel, answers, typedAnswers, secrets, surroundings }),
  }
}

// The same request as a new one, outside of any other run.
function toNewRequest({
  parent: _parent,
  parent_span_id: _span,
  traceparent: _trace,
  ...request
}: RunRequest): RunRequest {
  const run_id = createRunId()
  return {
    ...request,
    run_id,
    created: new Date().toISOString(),
    caller: DASHBOARD_CALLER,
    ...joinTrace({}),
    idempotency_key: run_id,
  }
}

// A question such as `--help`, or a self-test, was no call of the tool.
function isProgramQuestion({ call }: RunRequest, { program }: CurrentTool): boolean {
  return call?.form === 'program' && program !== undefined && program.call.form !== 'program'
}

async function toNewWorkflowRequest(
  request: RunRequest,
  input: JsonObject | undefined,
  { root }: DashboardProject,
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
    ...toNewRequest(request),
    input: given,
    workflow: compact({ definition: workflow, hash: hashWorkflow(workflow), file, server }),
  }
}

async function validateWorkflow(
  { workflow, tool }: RunRequest,
  confirm: boolean,
  registry: Registry,
): Promise<void> {
  const definition = workflow!.definition as unknown as Workflow
  await requireTools(definition, registry)
  const { destructive } = toWorkflowConsentRequest(definition, registry)
  requireConsent({ name: tool, destructive }, { agreed: confirm, dryRun: false })
}

// Another folder may have other tools of the same names.
async function withRegistryOfRun<Result>(
  { surroundings = {}, cwd }: RunRequest,
  tools: ProjectTools,
  project: DashboardProject,
  work: (registry: Registry, isOurs: boolean) => Promise<Result>,
): Promise<Result> {
  if (isOwnRegistry(surroundings, cwd, project)) return work(await tools.registry(), true)
  return withRegistry(surroundings, { cwd, env: project.env }, (registry) => work(registry, false))
}

function isOwnRegistry(
  surroundings: NonNullable<RunRequest['surroundings']>,
  cwd: string,
  project: DashboardProject,
): boolean {
  const { config, folder = [], ...rest } = surroundings
  const { config: ownConfig, folder: ownFolder = [], ...ownRest } = project.surroundings
  const own = tryFindConfigFile(project.cwd, ownConfig)
  return (
    tryFindConfigFile(cwd, config) === own &&
    (own !== undefined || cwd === project.cwd) &&
    isDeepStrictEqual(resolveAll(cwd, folder), resolveAll(project.cwd, ownFolder)) &&
    JSON.stringify(rest) === JSON.stringify(ownRest)
  )
}

function resolveAll(cwd: string, paths: readonly string[]): readonly string[] {
  return paths.map((path) => resolve(cwd, path))
}

function tryFindConfigFile(cwd: string, config: string | undefined): string | undefined {
  try {
    return findConfigFile(cwd, config)
  } catch {
    return undefined
  }
}

/**
 * Removes runs that ended this many days ago; gives how many, and how many bytes they had.
 * Throws INVALID_INPUT for what is no number of days, and what kept the first of them from being
 * removed where none was.
 */
async function removeOldRuns(
  root: string,
  days: number,
  now: number,
): Promise<{ readonly removed: number; readonly bytes: number }> {
  if (!Number.isFinite(days) || days < 0)
    throw new ToolError('INVALID_INPUT', `days must be a number from 0 on; got ${String(days)}`, {
      field: 'days',
      suggestion: 'Give for example 7',
    })
  await recoverRuns(root)
  const going = await findEndedRuns(listRuns(root), now - days * DAY_MS)
  const bytes = new Map<string, number>()
  for (const { run } of going) bytes.set(run.id, await getFolderBytes(run.paths.folder))
  const { removed, errors } = await removeRuns(root, going)
  if (removed.length === 0 && errors[0]) throw errors[0]
  return {
    removed: removed.length,
    bytes: removed.reduce((sum, id) => sum + (bytes.get(id) ?? 0), 0),
  }
}

/** Runs tasks of the same name one after the other, also after one that failed. */
function createKeyedQueue(): <Result>(
  name: string,
  work: () => Promise<Result>,
) => Promise<Result> {
  const queues = new Map<string, { readonly queue: SerialQueue; waiting: number }>()
  return async (name, work) => {
    const entry = queues.get(name) ?? { queue: new SerialQueue(), waiting: 0 }
    queues.set(name, entry)
    entry.waiting += 1
    try {
      return await entry.queue.run(work)
    } finally {
      entry.waiting -= 1
      if (entry.waiting === 0) queues.delete(name)
    }
  }
}
