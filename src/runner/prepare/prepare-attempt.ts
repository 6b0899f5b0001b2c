import type { JsonObject } from '../../contract/json.ts'
import { checkPaths } from '../../process/policy/check-policy.ts'
import { loadPolicies } from '../../process/policy/load-policies.ts'
import type { Policy } from '../../process/policy/policy.ts'
import { createRedactor } from '../../process/redaction/create-redactor.ts'
import type { Redactor } from '../../process/redaction/create-redactor.ts'
import type { AttemptOptions } from '../attempt/run-attempt.ts'
import { startCall } from '../attempt/call-subject.ts'
import { withStray } from '../attempt/stray-subject.ts'
import type { StartSubject } from '../attempt/subject.ts'
import { startProgram } from '../attempt/program-subject.ts'
import type { RunPaths } from '../folder/run-paths.ts'
import type { AnswerChannel } from '../interactions/broker.ts'
import { presetChannel } from '../interactions/channels/presets.ts'
import type { RunHost } from '../run-host.ts'
import type { RunRequest } from '../run-request.ts'
import { settleRun } from './settle.ts'
import { prepareInputs } from './inputs.ts'
import { prepareRights } from './rights.ts'
import { prepareSecrets } from './secrets.ts'

/** Milliseconds that a cancelled tool has to end by itself, where its manifest says nothing else. */
const GRACE = 5000
const MEBIBYTE = 1024 * 1024

/** Everything that is decided before a tool starts. */
export type PreparedAttempt = {
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
export type Preparation = {
  /** Where the paths of its inputs led in the first attempt. */
  readonly known: Map<string, string>
  /** As soon as its secrets are known: also the record of a refusal may hold none. */
  onRedactor(redactor: Redactor): void
  onStart(pid: number): void
}

/** Decides what a run may do, what its tool is told, and how it is started. Throws what forbids it: nothing has been started then. */
export async function prepareAttempt(
  paths: RunPaths,
  request: RunRequest,
  host: RunHost,
  { known, onRedactor, onStart }: Preparation,
): Promise<PreparedAttempt> {
  const { call } = request
  if (host.start)
    return prepareOwn(request, withStray(host.start, paths.stderr, createRedactor([])), host.env)
  const rights = await prepareRights(paths, request, host.env)
  const { level, limits, policy } = rights
  const secrets = await prepareSecrets(request, host, rights)
  try {
    const redactor = createRedactor([...secrets.values])
    onRedactor(redactor)
    const inputs = await prepareInputs(paths, request, known)
    if (rights.isBound) await checkPaths(inputs, policy, request.tool)
    const about = {
      ...aboutOf(request),
      args: inputs.shown,
      level,
      ...(rights.needed !== undefined && { needed_level: rights.needed }),
      ...(rights.memoryHolder !== undefined && { memory_held_by: rights.memoryHolder }),
      rights: rights.words,
    }
    const common = {
      deadline: request.timeout_s,
      heartbeatGrace: request.heartbeat_grace_s,
      grace: limits.graceMs ?? GRACE,
      form: call?.form,
      exitCodes: call?.exitCodes,
    }
    const channels = presetsOf(request, policy)
    const attempt: PreparedAttempt['attempt'] = call
      ? {
          ...common,
          heartbeats: call.form === 'protocol' ? 'owed' : 'once-heard',
          start: async (listener) =>
            startProgram(
              {
                runId: request.run_id,
                child: {
                  command: [
                    ...call.command,
                    ...(call.tool === undefined ? [] : [call.tool]),
                    ...inputs.args,
                  ] as unknown as typeof call.command,
                  cwd: paths.workspace,
                  env: rights.environment({ ...secrets.env }),
                  limits,
                  ...(inputs.stdin !== undefined && { input: inputs.stdin }),
                  ...rights.sandbox({
                    readable: inputs.readable,
                    ...(secrets.files && { files: secrets.files }),
                    onConnection: listener.onConnection,
                  }),
                  onStart,
                },
                speaksProtocol: call.form === 'protocol',
                // What is confined starts no other tools, so that it has none to tell about.
                mayOrchestrate: request.permissions === undefined,
                maxLine: (limits.lineKb ?? 1024) * 1024,
                maxOutput: (limits.outputMb ?? 256) * MEBIBYTE,
                stderr: paths.stderr,
                redactor,
              },
              listener,
            ),
          settle: (ending, cancelled) => settleRun(ending, paths, rights.places, inputs, cancelled),
        }
      : {
          ...common,
          heartbeats: 'none',
          start: withStray(
            async (listener) =>
              startCall(
                {
                  registry: host.registry!,
                  tool: request.tool,
                  input: request.input ?? {},
                  runId: request.run_id,
                  ...(request.dry_run && { dryRun: true }),
                  env: host.env,
                  secrets: secrets.named,
                  cwd: request.cwd,
                },
                listener,
              ),
            paths.stderr,
            redactor,
          ),
          settle: async (ending) => ending,
        }
    return { attempt, about, channels, release: secrets.release }
  } catch (error) {
    await secrets.release()
    throw error
  }
}

// Nothing of somebody else is started by it: what its steps may do is decided for each of them.
async function prepareOwn(
  request: RunRequest,
  start: StartSubject,
  env: RunHost['env'],
): Promise<PreparedAttempt> {
  const policy = await loadPolicies(request.cwd, env)
  return {
    attempt: {
      start,
      deadline: request.timeout_s,
      heartbeatGrace: request.heartbeat_grace_s,
      heartbeats: 'none',
      grace: GRACE,
      form: undefined,
      exitCodes: undefined,
      settle: async (ending) => ending,
    },
    about: {
      ...aboutOf(request),
      args: request.args,
      ...(request.input && { input: request.input }),
      level: 'none',
    },
    channels: presetsOf(request, policy),
    release: async () => undefined,
  }
}

function aboutOf({
  tool,
  version,
  timeout_s,
  cwd,
  traceparent,
  parent,
  dry_run,
}: RunRequest): JsonObject {
  return {
    tool,
    ...(version !== undefined && { version }),
    ...(timeout_s !== undefined && { timeout_s }),
    cwd,
    ...(traceparent !== undefined && { traceparent }),
    ...(parent && { parent }),
    ...(dry_run && { dry_run }),
  }
}

function presetsOf(
  { answers, typed_answers }: RunRequest,
  policy: Policy,
): readonly AnswerChannel[] {
  return [
    ...(answers ? [presetChannel('the caller', answers, typed_answers)] : []),
    presetChannel('policy', policy.answers),
  ]
}
