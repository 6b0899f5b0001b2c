/**
 * Creates a run: flags to options, the request, the idempotency key, and handing it over to a
 * supervisor in the background.
 */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BuiltinContext, StartInfo } from '../../cli/types.ts'
import type { GlobalFlags } from '../../define/global-flags.ts'
import { spawnDetached } from '../../process/run.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import type { FoundProgram } from '../../registry/source.ts'
import { readRunRequest } from '../../runner/find-run.ts'
import { claimRun, handOverRun, isRunLive } from '../../runner/lock.ts'
import type { RunArguments, RunOptions, RunRequest } from '../../runner/request.ts'
import { createRunRequest } from '../../runner/request.ts'
import { createRun, removeRun } from '../../runner/run-folder.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { createRunId, getRunPaths } from '../../runner/run-paths.ts'
import { readRunSummary } from '../../runner/summary.ts'
import { delay } from '../../util/async.ts'
import { compact, toStableJson } from '../../util/values.ts'
import type { LoadedWorkflow } from '../../workflow/lookup.ts'
import type { CommandContext } from '../command.ts'
import { printResult, RUN_PROPERTIES, SUPERVISE_COMMAND } from '../command.ts'

/** A tool to run, and what it gets. */
type RunRequestInput = {
  readonly entry: RegistryEntry
  /** Undefined for a tool that is no program. */
  readonly program: FoundProgram | undefined
  readonly given: RunArguments
  readonly options: RunOptions
  /** It plans instead of acting; the arguments of a program already say so. */
  readonly dryRun: boolean
  /** Undefined for a tool that is no workflow. */
  readonly workflow: LoadedWorkflow | undefined
}

/** The request for a run of any tool, of a command line or of the dashboard. */
export async function prepareRun(
  { entry, program, given, options, dryRun, workflow }: RunRequestInput,
  where: CommandContext,
): Promise<RunRequest> {
  if (workflow) {
    const { createWorkflowRequest } = await import('../../workflow/request.ts')
    return createWorkflowRequest(createRunId(), workflow.workflow, given.input ?? {}, {
      ...options,
      cwd: where.cwd,
      env: where.env,
      file: workflow.file,
    })
  }
  const request = await createRunRequest(createRunId(), entry, program, given, options, where)
  return dryRun ? { ...request, dry_run: true } : request
}

/** The flags of `run` and `resume`. */
export type RunFlags = {
  readonly detach?: boolean
  readonly retries?: number
  readonly heartbeatGrace?: number
  readonly allowLevel?: 'L1' | 'L2' | 'L3'
  readonly answer?: readonly string[]
  readonly wait?: boolean
  readonly selftest?: boolean
  readonly progress?: string
}

/**
 * What flags say about a run, in the directory in which they were typed. Throws INVALID_INPUT for
 * numbers that make no sense.
 */
export function parseRunOptions(
  { retries, heartbeatGrace, allowLevel, answer }: RunFlags,
  { timeout, idempotencyKey, secretFile }: GlobalFlags,
  cwd: string,
): RunOptions {
  const { minimum, maximum } = RUN_PROPERTIES.retries
  if (retries !== undefined && (retries < minimum || retries > maximum))
    throw new ToolError(
      'INVALID_INPUT',
      `--retries must be from ${minimum} to ${maximum}; got ${retries}`,
      { field: 'retries', suggestion: `Use --retries ${retries < minimum ? minimum : maximum}` },
    )
  if (heartbeatGrace !== undefined && heartbeatGrace <= 0)
    throw new ToolError(
      'INVALID_INPUT',
      `--heartbeat-grace must be more than 0 seconds; got ${heartbeatGrace}`,
      { field: 'heartbeatGrace', suggestion: 'Use --heartbeat-grace 90' },
    )
  return {
    timeout: timeout === undefined ? undefined : toMilliseconds(timeout, 'timeout') / 1000,
    heartbeatGrace,
    retries,
    idempotencyKey,
    ...parseAnswers(answer),
    ...compact({ allowLevel, secrets: secretFile && parseSecretPairs(secretFile, cwd) }),
  }
}

function parseSecretPairs(
  pairs: readonly string[],
  cwd: string,
): { readonly [name: string]: string } {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, path] = /^([\w.-]+)=(.+)$/s.exec(pair) ?? []
      if (name === undefined || path === undefined)
        throw new ToolError('USAGE', '--secret-file needs name=path', {
          field: 'secret-file',
          suggestion: 'For example --secret-file token=./token.txt',
        })
      return [name, path === '-' ? path : resolve(cwd, path)]
    }),
  )
}

/**
 * Answers as they were typed, as options of a run: what they mean is seen when the question is
 * known.
 */
type TypedAnswers = {
  readonly answers: { readonly [key: string]: string }
  readonly typedAnswers: readonly string[]
}

/** Reads `--answer key=value` flags; gives nothing where there are none. */
export function parseAnswers(pairs: readonly string[] | undefined): Partial<TypedAnswers> {
  if (!pairs) return {}
  const answers: { [key: string]: string } = Object.create(null) as { [key: string]: string }
  for (const pair of pairs) {
    const split = pair.indexOf('=')
    if (split < 1)
      throw new ToolError('USAGE', `--answer needs key=value; got '${pair.slice(0, 60)}'`, {
        field: 'answer',
        suggestion: 'For example --answer strategy=batch',
      })
    answers[pair.slice(0, split)] = pair.slice(split + 1)
  }
  return { answers, typedAnswers: Object.keys(answers) }
}

/**
 * The run of a request: a new one, claimed by this process; an earlier one of the same key, which
 * runs or is done; or a workflow of that key that was left on its way.
 */
export type RunForKey = {
  readonly is: 'new' | 'earlier' | 'left'
  readonly paths: RunPaths
  readonly request: RunRequest
}

const MAX_KEY_CHARS = 500
// Between the folder of a run and what makes it one there is a moment.
const RETRY_INTERVAL_MS = 20
const MAX_RETRIES = 250

/**
 * Puts a run on record. With an idempotency key it is the only one of its tool for that key, as
 * long as that one is on record: its id follows from both. A run that failed for good is not
 * counted, as calls that fail are not. Throws CONFLICT where the key was used for another request.
 */
export async function createRunOnce(
  root: string,
  request: RunRequest,
  key: string | undefined,
): Promise<RunForKey> {
  if (key === undefined) return { is: 'new', paths: createRun(root, request), request }
  if (key.trim() === '' || key.length > MAX_KEY_CHARS)
    throw new ToolError(
      'INVALID_INPUT',
      `an idempotency key has 1 to ${MAX_KEY_CHARS} characters`,
      { field: 'idempotency-key' },
    )
  for (let before = 0; ; before += 1) {
    const mine: RunRequest = {
      ...request,
      run_id: toRunId(request.tool, key, before),
      idempotency_key: key,
    }
    const paths = getRunPaths(root, mine.run_id)
    if (!existsSync(paths.folder)) {
      const made = tryCreateRun(root, mine)
      if (made) return { is: 'new', paths: made, request: mine }
    }
    const found = await findEarlierRun(paths, mine)
    if (found) return found
  }
}

function toRunId(tool: string, key: string, before: number): string {
  return `r-${createHash('sha256')
    .update(JSON.stringify([tool, key, before]))
    .digest('hex')
    .slice(0, 10)}`
}

// Somebody else may have been quicker.
function tryCreateRun(root: string, request: RunRequest): RunPaths | undefined {
  try {
    return createRun(root, request)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFLICT') return undefined
    throw error
  }
}

async function findEarlierRun(paths: RunPaths, mine: RunRequest): Promise<RunForKey | undefined> {
  for (let looks = 0; !existsSync(paths.request); looks += 1) {
    if (looks > MAX_RETRIES)
      throw new ToolError('CONFLICT', `${paths.folder} is there, and holds no run`, {
        field: 'idempotency-key',
        suggestion: 'Remove it',
      })
    await delay(RETRY_INTERVAL_MS)
  }
  const request = readRunRequest(paths)
  if (request.tool !== mine.tool || request.idempotency_key !== mine.idempotency_key)
    return undefined
  const is = isRunLive(paths) ? 'earlier' : await getEarlierState(paths, request)
  if (is && toRequestKey(request) !== toRequestKey(mine))
    throw new ToolError(
      'CONFLICT',
      `the idempotency key '${mine.idempotency_key}' was used with another input, for ${paths.id}`,
      { field: 'idempotency-key', suggestion: 'Use a new key for a new request' },
    )
  return is && { is, paths, request }
}

async function getEarlierState(
  paths: RunPaths,
  request: RunRequest,
): Promise<'earlier' | 'left' | undefined> {
  const { state, error } = await readRunSummary(paths, request)
  if (state === 'completed') return 'earlier'
  if (request.command !== 'workflow') return undefined
  const { isResumable } = await import('../../workflow/run-record.ts')
  return (await isResumable(paths, error?.code)) ? 'left' : undefined
}

// Equal for equal requests, however their fields are ordered.
function toRequestKey({ args, input }: RunRequest): string {
  return toStableJson([args, input ?? {}])
}

/** Hands a run to another process, and prints how to find it again; gives the exit status. */
export async function detachRun(
  paths: RunPaths,
  request: RunRequest,
  context: BuiltinContext,
  resumedBy?: 'resume',
): Promise<number> {
  const { cwd, env } = context.io
  const { started } = context.host
  const supervisor = await handOverToSupervisor(paths, request, { started, cwd, env }, resumedBy)
  const { run_id } = request
  const watch = `toolable watch ${run_id}`
  const cancel = `toolable cancel ${run_id}`
  printResult(
    context,
    `${run_id} runs; ${watch} shows it, ${cancel} ends it`,
    { run_id, folder: paths.folder, supervisor, watch, cancel },
    { tool: 'toolable.run', run_id, duration_ms: 0 },
  )
  return 0
}

/** What a process that performs runs is started from. */
type SupervisorHost = CommandContext & { readonly started: StartInfo }

/** Refuses what a process without a caller cannot do. Throws USAGE. */
export function requireDetachable({ secrets = {} }: Pick<RunOptions, 'secrets'>): void {
  if (Object.values(secrets).includes('-'))
    throw new ToolError('USAGE', 'a detached run cannot read a secret from stdin', {
      field: 'secret-file',
      suggestion: 'Give the secret by a file',
    })
}

/**
 * Hands a run that this process has claimed to another process, which outlives this one; gives
 * the id of that process. Throws USAGE, and INTERNAL where none can be started: then a new run is
 * gone, and one that was to be resumed is as it was.
 */
export async function handOverToSupervisor(
  paths: RunPaths,
  request: RunRequest,
  nursery: SupervisorHost,
  resumedBy?: 'resume',
): Promise<number> {
  try {
    requireDetachable(request)
    const pid = await startSupervisor(paths, nursery, resumedBy)
    handOverRun(paths, pid)
    return pid
  } catch (error) {
    // Whoever claims what it has gets it again, and can let it go.
    if (resumedBy) claimRun(paths)()
    else await removeRun(paths)
    throw error
  }
}

async function startSupervisor(
  paths: RunPaths,
  { started, cwd, env }: SupervisorHost,
  resumedBy: 'resume' | undefined,
): Promise<number> {
  const command = [
    started.execPath,
    ...started.execArgv,
    started.script ?? '',
    SUPERVISE_COMMAND,
    paths.folder,
    ...(resumedBy ? [resumedBy] : []),
  ] as const
  const log = join(paths.logs, 'runner.log')
  const pid = await spawnDetached({ command, cwd, env: toChildEnvironment(env) }, log)
  if (pid instanceof Error)
    throw new ToolError('INTERNAL', `the supervisor could not be started: ${pid.message}`, {
      cause: pid,
    })
  return pid
}

/** The variables that are set, for a process to start. */
export function toChildEnvironment(env: CommandContext['env']): {
  readonly [name: string]: string
} {
  return compact(env) as { readonly [name: string]: string }
}
