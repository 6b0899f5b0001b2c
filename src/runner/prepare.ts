/**
 * Prepares an attempt: permissions, secrets, inputs and the target to start; and finalizes a
 * successful one (artifacts, outputs).
 */

import type { PathGrant } from '../process/grants.ts'
import type { PreparedPaths } from '../process/inputs.ts'
import { prepareArguments, prepareInput } from '../process/inputs.ts'
import { loadPolicies } from '../process/load-policies.ts'
import { checkPaths } from '../process/policy-check.ts'
import type { Policy } from '../process/policy.ts'
import type { Redactor } from '../process/redaction.ts'
import { createRedactor } from '../process/redaction.ts'
import { checkArguments } from '../registry/child/arguments.ts'
import type { ChildCall } from '../registry/child/child-call.ts'
import { KIBIBYTE, MEBIBYTE } from '../util/units.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import { createPresetChannel } from './answer-channels.ts'
import { collectArtifacts } from './artifacts.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { toFailedOutcome } from './attempt-outcome.ts'
import type { AttemptOptions } from './attempt.ts'
import type { RunPermissions } from './permissions.ts'
import { resolveRunPermissions } from './permissions.ts'
import type { AnswerChannel } from './questions.ts'
import type { RunRequest } from './request.ts'
import type { RunPaths } from './run-paths.ts'
import type { RunHost, StartRunTarget } from './run-target.ts'
import type { PreparedSecrets } from './secrets.ts'
import { prepareSecrets } from './secrets.ts'
import { recordStrayOutput, startCallTarget, startProgramTarget } from './start-target.ts'
import type { ToolLine } from './tool-output.ts'

/**
 * Milliseconds that a cancelled tool has to end by itself, where its manifest says nothing else.
 */
const DEFAULT_GRACE_MS = 5000

/** Everything that is decided before a tool starts. */
type PreparedAttempt = {
  readonly attempt: Pick<
    AttemptOptions,
    | 'start'
    | 'deadline'
    | 'heartbeatGrace'
    | 'heartbeats'
    | 'form'
    | 'exitCodes'
    | 'grace'
    | 'settle'
  >
  /** What `runner_start` says besides. */
  readonly about: JsonObject
  /** Who answers before anybody is asked. */
  readonly channels: readonly AnswerChannel[]
  /** Takes away what nobody may find afterwards: secrets. */
  release(): Promise<void>
}

/** What the attempts of a run have in common, and who hears how one of them goes. */
type AttemptPreparation = {
  /** Where the paths of its inputs led in the first attempt. */
  readonly known: Map<string, string>
  /** As soon as its secrets are known: also the record of a refusal may hold none. */
  onRedactor(redactor: Redactor): void
  onStart(pid: number): void
}

/**
 * Decides what a run may do, what its tool is told, and how it is started. Throws what forbids it:
 * nothing has been started then.
 */
export async function prepareAttempt(
  paths: RunPaths,
  request: RunRequest,
  host: RunHost,
  { known, onRedactor, onStart }: AttemptPreparation,
): Promise<PreparedAttempt> {
  const { call } = request
  if (host.start)
    return prepareOwnTarget(
      request,
      recordStrayOutput(host.start, paths.stderr, createRedactor([])),
      host.env,
    )
  const rights = await resolveRunPermissions(paths, request, host.env)
  const { level, limits, policy } = rights
  const secrets = await prepareSecrets(request, host, rights)
  try {
    const redactor = createRedactor([...secrets.values])
    onRedactor(redactor)
    const inputs = await prepareInputs(paths, request, known)
    if (rights.isConfined) await checkPaths(inputs, policy, request.tool)
    const about = {
      ...getStartFields(request),
      args: inputs.shown,
      level,
      ...compact({ needed_level: rights.requiredLevel, memory_held_by: rights.memoryLimiter }),
      rights: rights.description,
    }
    const attempt: PreparedAttempt['attempt'] = {
      ...getCommonOptions(request),
      grace: limits.graceMs ?? DEFAULT_GRACE_MS,
      ...(call
        ? prepareProgram(call, { paths, request, rights, secrets, inputs, redactor, onStart })
        : prepareCall(paths, request, host, secrets, redactor)),
    }
    const channels = createPresetChannels(request, policy)
    return { attempt, about, channels, release: secrets.release }
  } catch (error) {
    await secrets.release()
    throw error
  }
}

type TargetOptions = Pick<PreparedAttempt['attempt'], 'heartbeats' | 'start' | 'settle'>

type ProgramPreparation = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly rights: RunPermissions
  readonly secrets: PreparedSecrets
  readonly inputs: PreparedInputs
  readonly redactor: Redactor
  onStart(pid: number): void
}

function prepareProgram(
  call: ChildCall,
  { paths, request, rights, secrets, inputs, redactor, onStart }: ProgramPreparation,
): TargetOptions {
  const { limits } = rights
  const words = [...call.command, ...(call.tool === undefined ? [] : [call.tool]), ...inputs.args]
  return {
    heartbeats: call.form === 'protocol' ? 'owed' : 'once-heard',
    start: (listener) =>
      startProgramTarget(
        {
          runId: request.run_id,
          child: {
            command: words as unknown as typeof call.command,
            cwd: paths.workspace,
            env: rights.environment({ ...secrets.env }),
            limits,
            ...compact({ input: inputs.stdin }),
            ...rights.sandbox(
              compact({
                readable: inputs.readable,
                files: secrets.files,
                onConnection: listener.onConnection,
              }),
            ),
            onStart,
          },
          speaksProtocol: call.form === 'protocol',
          // A confined tool starts no other tools, so it has none to report.
          mayOrchestrate: request.permissions === undefined,
          maxLine: (limits.lineKb ?? 1024) * KIBIBYTE,
          maxOutput: (limits.outputMb ?? 256) * MEBIBYTE,
          stderr: paths.stderr,
          redactor,
        },
        listener,
      ),
    settle: (ending, cancelled) =>
      finalizeOutcome(ending, paths, rights.writablePaths, inputs, cancelled),
  }
}

function prepareCall(
  paths: RunPaths,
  request: RunRequest,
  host: RunHost,
  secrets: PreparedSecrets,
  redactor: Redactor,
): TargetOptions {
  const options = compact({
    registry: host.registry!,
    tool: request.tool,
    input: request.input ?? {},
    runId: request.run_id,
    dryRun: request.dry_run,
    env: host.env,
    secrets: secrets.named,
    cwd: request.cwd,
  })
  return {
    heartbeats: 'none',
    start: recordStrayOutput(
      async (listener) => startCallTarget(options, listener),
      paths.stderr,
      redactor,
    ),
    settle: async (ending) => ending,
  }
}

function getCommonOptions({
  timeout_s,
  heartbeat_grace_s,
  call,
}: RunRequest): Pick<AttemptOptions, 'deadline' | 'heartbeatGrace' | 'form' | 'exitCodes'> {
  return {
    deadline: timeout_s,
    heartbeatGrace: heartbeat_grace_s,
    form: call?.form,
    exitCodes: call?.exitCodes,
  }
}

// It starts nothing itself: what its steps may do is decided for each step.
async function prepareOwnTarget(
  request: RunRequest,
  start: StartRunTarget,
  env: RunHost['env'],
): Promise<PreparedAttempt> {
  const policy = await loadPolicies(request.cwd, env)
  return {
    attempt: {
      ...getCommonOptions(request),
      start,
      heartbeats: 'none',
      grace: DEFAULT_GRACE_MS,
      settle: async (ending) => ending,
    },
    about: {
      ...getStartFields(request),
      args: request.args,
      ...compact({ input: request.input }),
      level: 'none',
    },
    channels: createPresetChannels(request, policy),
    release: async () => undefined,
  }
}

function getStartFields({
  tool,
  version,
  timeout_s,
  cwd,
  traceparent,
  parent,
  dry_run,
}: RunRequest): JsonObject {
  return compact({ tool, version, timeout_s, cwd, traceparent, parent, dry_run })
}

function createPresetChannels(
  { answers, typed_answers }: RunRequest,
  policy: Policy,
): readonly AnswerChannel[] {
  return [
    ...(answers ? [createPresetChannel('the caller', answers, typed_answers)] : []),
    createPresetChannel('policy', policy.answers),
  ]
}

/** So much of an input fits into one argument, beside the environment. */
const MAX_ARGUMENT_LENGTH = 100_000

/** What a tool gets, and what has to happen for its paths. */
type PreparedInputs = PreparedPaths & {
  readonly args: readonly string[]
  /** What it reads on stdin, for tools that take their input there. */
  readonly stdin?: string
  /** The arguments as the record shows them. */
  readonly shown: readonly string[]
}

/**
 * Checks what a tool is given and gives its paths a meaning: they are those of the caller, although
 * the tool works elsewhere.
 */
async function prepareInputs(
  { workspace }: RunPaths,
  { call, args, input, inputSchema, positional, cwd }: RunRequest,
  known: Map<string, string>,
): Promise<PreparedInputs> {
  const at = { cwd, workspace, known }
  if (call && input && (call.form === 'json' || call.form === 'stdin')) {
    const { input: prepared, ...work } = await prepareInput(input, inputSchema ?? {}, at)
    const text = JSON.stringify(prepared)
    const byStdin =
      call.form === 'stdin' ||
      (call.stdin === true && (call.secret === true || text.length > MAX_ARGUMENT_LENGTH))
    const given = byStdin ? { args: [], stdin: text } : { args: [text] }
    return { ...work, shown: args, ...given }
  }
  // What is no program gets its input as it is, and its call checks it.
  const { args: prepared, ...work } = await prepareArguments(
    args,
    !call || call.form === 'program' ? undefined : inputSchema,
    { ...at, ...compact({ positional }) },
  )
  checkArguments(prepared, 'Give the tool a file with the data instead')
  return { ...work, args: prepared, shown: args }
}

/**
 * What is left to do when the tree of a run is dead and it was a success: its artifacts are hashed
 * and kept, and what it made is put where its caller wanted it. What does not work makes a failure
 * of it.
 */
async function finalizeOutcome(
  ending: AttemptOutcome,
  { workspace, artifacts: into }: RunPaths,
  allowed: readonly PathGrant[],
  inputs: PreparedInputs,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  if (ending.state !== 'completed') return ending
  const last = ending.lines.at(-1)!
  const { artifacts, problems } = await collectArtifacts(
    { workspace, allowed, into, signal },
    last['artifacts'],
  )
  const doubts = problems.map((problem): ToolLine => ({
    type: 'runner_warning',
    code: 'E_ARTIFACT',
    msg: problem.message,
    path: problem.path,
  }))
  try {
    const placed = await inputs.place()
    const result = {
      ...last,
      ...compact({
        artifacts: last['artifacts'] === undefined ? undefined : artifacts,
        outputs: placed.length > 0 ? placed : undefined,
      }),
    }
    return { ...ending, lines: [...ending.lines.slice(0, -1), ...doubts, result] }
  } catch (error) {
    const failed = toFailedOutcome(error as Error)
    return {
      ...failed,
      lines: [
        ...doubts,
        {
          type: 'diagnostic',
          stream: 'stdout',
          reason: 'not_placed',
          msg: 'the tool gave a result, and what it made could not be put in its place',
          refused: last,
        },
        ...failed.lines,
      ],
    }
  }
}
