import { ToolError } from '../contract/tool-error.ts'
import type { Entry } from '../registry/entry.ts'
import type { FoundProgram } from '../registry/found.ts'
import { joinTrace } from './trace/join-trace.ts'
import type { RunRequest } from './run-request.ts'

/** How a run is asked for, besides its tool and what that gets. What is absent the environment says, then the manifest. */
export type RunOptions = {
  /** Seconds. */
  readonly timeout?: number | undefined
  /** Seconds of silence that a tool of the protocol may keep. */
  readonly heartbeatGrace?: number | undefined
  readonly retries?: number | undefined
  readonly allowLevel?: RunRequest['allow_level']
  readonly answers?: RunRequest['answers']
  /** Keys of answers that are text as somebody typed it: JSON or text, whichever the question wants. Others are taken as they are. */
  readonly typedAnswers?: RunRequest['typed_answers']
  /** Name and file of each secret. */
  readonly secrets?: RunRequest['secrets']
  readonly idempotencyKey?: string | undefined
  readonly surroundings?: RunRequest['surroundings']
  /** Who asks, for the record. */
  readonly caller?: string | undefined
}

/** What the tool gets: arguments as they were typed, or an input. */
export type Given = {
  readonly args: readonly string[]
  readonly input?: { readonly [field: string]: unknown }
}

type Where = { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } }

const TIMEOUT_S = 1800
const HEARTBEAT_GRACE_S = 90
const RETRIES = 3

/** The request for a run, as `run.json` keeps it. Throws CONFIG for a variable of the environment that makes no sense. */
export async function makeRequest(
  runId: string,
  entry: Pick<Entry, 'id' | 'definition'> & { readonly found: Pick<Entry['found'], 'version'> },
  program: FoundProgram | undefined,
  given: Given,
  options: RunOptions,
  { cwd, env }: Where,
): Promise<RunRequest> {
  const { manifest } = await entry.definition.compiled()
  const { allowLevel, answers, typedAnswers, secrets, surroundings, caller } = options
  return {
    v: 1,
    run_id: runId,
    tool: entry.id,
    ...(entry.found.version !== undefined && { version: entry.found.version }),
    created: new Date().toISOString(),
    ...(caller !== undefined && { caller }),
    ...(program && { call: program.call }),
    args: given.args,
    ...(given.input && { input: given.input }),
    inputSchema: manifest.inputSchema,
    ...(manifest.positional.length > 0 && { positional: manifest.positional }),
    ...(surroundings && { surroundings }),
    cwd,
    ...(program?.permissions && { permissions: program.permissions }),
    ...(program?.manifest !== undefined && { manifest: program.manifest }),
    ...(program?.orchestrator && { orchestrator: true }),
    timeout_s:
      options.timeout ?? readSeconds(env, 'TOOL_TIMEOUT_S') ?? manifest.timeout ?? TIMEOUT_S,
    heartbeat_grace_s:
      options.heartbeatGrace ?? readSeconds(env, 'HEARTBEAT_GRACE_S') ?? HEARTBEAT_GRACE_S,
    retries: options.retries ?? RETRIES,
    ...joinTrace(env),
    idempotency_key: options.idempotencyKey ?? runId,
    ...(allowLevel && { allow_level: allowLevel }),
    ...(secrets && { secrets }),
    ...(answers && { answers }),
    ...(typedAnswers && { typed_answers: typedAnswers }),
  }
}

function readSeconds(env: Where['env'], name: string): number | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const seconds = Number(text)
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new ToolError(
      'CONFIG',
      `${name} must be a number of seconds; it is '${text.slice(0, 40)}'`,
      { suggestion: `export ${name}=90` },
    )
  return seconds
}
