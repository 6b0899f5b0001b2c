/**
 * What can be done from the dashboard: start, retry, cancel, resume, answer and clean. Every run
 * has a process of its own, which outlives the dashboard.
 */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { listRuns, openRun } from '../../runner/find-run.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunArguments, RunOptions, RunRequest } from '../../runner/request.ts'
import { takesDocument, toRunArguments } from '../../runner/request.ts'
import { createRun } from '../../runner/run-folder.ts'
import { createRunId, isRunId, isRunIdWithoutFolder } from '../../runner/run-paths.ts'
import { joinTrace } from '../../runner/trace-context.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { StartedRun } from '../../views/model/api.ts'
import type { ActionsSource } from '../../views/server/backend.ts'
import { checkTools } from '../../workflow/definition/checks.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { createProblemsError } from '../../workflow/definition/reader.ts'
import { findOrphans } from '../../workflow/embedded/adopt.ts'
import { deriveAnnotations } from '../../workflow/registry-source.ts'
import { hashWorkflow } from '../../workflow/request.ts'
import { findConfigFile, withRegistry } from '../config.ts'
import { answerQuestionOf, cancelRun, claimForResume } from '../control/control-run.ts'
import type { RunMode } from '../run/consent.ts'
import {
  applyRunMode,
  createNoDryRunError,
  findDryRunMethod,
  requireConsent,
} from '../run/consent.ts'
import { handOverToSupervisor, prepareRun } from '../run/create-run.ts'
import { findEndedRuns, removeRuns } from '../runs/clean-runs.ts'
import { adoptInlineExecution } from '../workflow/inline-executions.ts'
import { getFolderBytes } from './catalogue.ts'
import type { CurrentTool, DashboardProject, ProjectTools } from './project.ts'
import { findCurrentTool, findInputProblem, findTool, findWorkflowProblem } from './project.ts'

/**
 * What can be done from a dashboard. Every run that is started or goes on has a process of its own,
 * which outlives the dashboard; what acts on one run waits for its turn.
 */
export function openActions(project: DashboardProject, tools: ProjectTools): ActionsSource {
  const {
    cwd,
    env,
    runsFolder,
    surroundings: { config },
  } = project
  const which = config === undefined ? {} : { config }
  const turns = createKeyedQueue()
  const never = new AbortController().signal

  const resume = async (id: string): Promise<StartedRun> => {
    if (
      isRunIdWithoutFolder(runsFolder, id) &&
      (await findOrphans(runsFolder)).some(({ w }) => w === id)
    )
      await adoptInlineExecution(runsFolder, id, which, { cwd, env })
    const { paths, request } = await claimForResume(id, {}, { cwd, config })
    await handOverToSupervisor(paths, request, project, 'resume')
    return { run_id: id }
  }

  return {
    async start({ tool, input, dry_run: dryRun = false, confirm = false }) {
      return startToolRun(
        await findTool(tools, tool, project),
        {
          given: { input },
          manner: { agreed: confirm, dryRun },
          options: { surroundings: project.surroundings },
        },
        project,
      )
    },
    cancel: async (id, reason) =>
      turns(requireRunId(id), async () => {
        await cancelRun(
          {
            run: id,
            wait: false,
            reason: reason ?? `cancelled by the ${DASHBOARD_CALLER}`,
            ...which,
          },
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
          { cwd },
        )
        if (isLeft !== undefined) await resume(id)
      }),
    clean: async (days) => removeOldRuns(runsFolder, days, project.now()),
  }
}

// A page knows whole ids; the beginning of one, or `latest`, might mean another run by now.
function requireRunId(id: string): string {
  if (isRunId(id)) return id
  throw new ToolError('NOT_FOUND', `there is no run '${id.slice(0, 100)}'`, {
    field: 'run',
    suggestion: 'toolable runs list',
  })
}

/** Who starts what is started here, for the record. */
const DASHBOARD_CALLER = 'dashboard'

/** A run that is asked for: by an input, or by what a program got before. */
type StartRunInput = {
  readonly given: { readonly input: JsonObject } | RunArguments
  readonly manner: RunMode
  readonly options: RunOptions
}

/**
 * Starts a run that outlives the dashboard. What is wrong with it is told before anything is on
 * record: INVALID_INPUT, MISSING_PARAM, CONFIRMATION_REQUIRED, PRECONDITION for a dry run of a tool
 * that has none, CONFIG for a workflow that cannot work.
 */
async function startToolRun(
  tool: CurrentTool,
  { given, manner, options }: StartRunInput,
  project: DashboardProject,
): Promise<StartedRun> {
  const { registry, entry, program, workflow } = tool
  const told = 'args' in given ? given : await readStartInput(tool, given.input, manner, project)
  requireConsent(
    { name: entry.name, destructive: entry.definition.metadata.annotations.destructive === true },
    manner,
  )
  if (workflow) await requireTools(workflow.workflow, registry)
  const made = await prepareRun(
    {
      entry,
      program,
      given: await applyRunMode(told, entry, program, manner),
      options: { ...options, caller: DASHBOARD_CALLER },
      dryRun: manner.dryRun,
      workflow,
    },
    project,
  )
  return startRun(made.request, project)
}

/**
 * Refuses a workflow whose tools are not there, or cannot fit. Throws CONFIG with every problem.
 */
async function requireTools(workflow: Workflow, registry: Registry): Promise<void> {
  const { problems, found } = await checkTools(workflow, registry)
  if (problems.length > 0) throw createProblemsError(problems, found)
}

/** Puts a request on record and gives it to a process of its own. */
async function startRun(
  request: Parameters<typeof handOverToSupervisor>[1],
  project: DashboardProject,
): Promise<StartedRun> {
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
  // The arguments are what counts; the input is kept for whoever changes it and starts anew.
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
    const given =
      input !== undefined
        ? { input }
        : takesDocument(request.call)
          ? { input: request.input ?? {} }
          : compact({ args: request.args, input: request.input })
    return startToolRun(
      tool,
      {
        given,
        manner: { agreed: confirm, dryRun: request.dry_run === true },
        options: toRunOptions(request),
      },
      here,
    )
  })
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

// The same request, as if it had been asked for just now, by itself.
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

// Somebody asked a program about itself, or had it test itself: that was no call of the tool.
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
  requireConsent(
    {
      name: tool,
      destructive:
        deriveAnnotations(definition, (name) => registry.find(name)).destructive === true,
    },
    { agreed: confirm, dryRun: false },
  )
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
  const fileOf = (folder: string, config: string | undefined): string | undefined => {
    try {
      return findConfigFile(folder, config)
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

const MS_PER_DAY = 24 * 3600 * 1000

/**
 * Removes runs that are over for so many days; gives how many, and the bytes that were theirs.
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
  const going = await findEndedRuns(listRuns(root), now - days * MS_PER_DAY)
  const bytes = new Map<string, number>()
  for (const { run } of going) bytes.set(run.id, await getFolderBytes(run.paths.folder))
  const { removed, errors } = await removeRuns(root, going)
  if (removed.length === 0 && errors[0]) throw errors[0]
  return {
    removed: removed.length,
    bytes: removed.reduce((sum, id) => sum + (bytes.get(id) ?? 0), 0),
  }
}

/** Does works of the same name one after the other, whatever became of those before. */
function createKeyedQueue(): <Result>(
  name: string,
  work: () => Promise<Result>,
) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const done = (last.get(name) ?? Promise.resolve()).then(work, work)
    const forget = (): void => {
      if (last.get(name) === done) last.delete(name)
    }
    last.set(name, done)
    done.then(forget, forget)
    return done
  }
}
