/**
 * Run requests: what a run is asked to do (`run.json`), how a request is created from options,
 * environment and
 * manifest, and the public types of `runner()`.
 *
 * RunRequest is a file format: its keys do not change.
 */

import type { Answerer } from '../protocol/events.ts'
import type { Permissions } from '../protocol/manifest.ts'
import type { RunEvent } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { RegistryEntry } from '../registry/catalog.ts'
import { buildProgramArgv, toFlagArguments } from '../registry/child/arguments.ts'
import type { ChildCall } from '../registry/child/child-call.ts'
import type { FoundProgram } from '../registry/source.ts'
import type { Registry } from '../registry/types.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { RunSummary } from '../views/model/run-summary.ts'
import { joinTrace } from './trace-context.ts'

/**
 * What a run is asked to do: `run.json`, written before anything starts, changed only by what
 * `resume` is told, and all that it needs. It holds no secrets, only where they come from.
 */
export type RunRequest = {
  readonly v: 1
  readonly run_id: string
  /** `<source>.<tool>`. */
  readonly tool: string
  readonly version?: string
  readonly created: string
  /**
   * Who asked for it: `person`, `workflow`, `dashboard`, or the name of an agent or a program;
   * absent where nobody knows.
   */
  readonly caller?: string
  /**
   * How it is started; absent for a tool that runs in another way than as a program (of an MCP
   * server, of a module).
   */
  readonly call?: ChildCall
  /** What stood behind the name of the tool, as it was typed. */
  readonly args: readonly string[]
  /** For a tool that is not a program: its input. */
  readonly input?: { readonly [field: string]: unknown }
  /** It plans instead of acting. A program has been told by its arguments or its input. */
  readonly dry_run?: true
  /** Not a tool of the registry but a command of `toolable` itself that is run like one. */
  readonly command?: 'agent' | 'workflow'
  /**
   * Of a workflow: what it is made of, by value, so that a file that changes meanwhile changes
   * nothing.
   */
  readonly workflow?: {
    readonly definition: JsonObject
    readonly hash: string
    /** The file that it was read from. */ readonly file?: string
    /** The server that executes it, where it is not executed here. */ readonly server?: {
      readonly ingress: string
      readonly admin?: string
    }
  }
  /** The run that this one is a step of. */
  readonly parent?: { readonly run_id: string; readonly step: string }
  /** Which tools there were, so that one that is no program is found again. */
  readonly surroundings?: {
    readonly config?: string
    readonly folder?: readonly string[]
    readonly strict?: boolean
    readonly probeUnsandboxed?: boolean
    readonly cache?: boolean
  }
  readonly inputSchema?: JsonSchema
  /** Fields that stand without their flag, in their order. */
  readonly positional?: readonly string[]
  /** The directory of the caller: what relative paths mean. */
  readonly cwd: string
  /**
   * What it may do, as its owner has written it, and the file in which that stands: it gets nothing
   * else. Absent: it runs with its caller's rights, unless a policy forbids that.
   */
  readonly permissions?: Permissions
  readonly manifest?: string
  /** It starts other tools, and may tell about its tasks. */
  readonly orchestrator?: true
  /** Seconds; absent: as long as it takes. */
  readonly timeout_s?: number
  readonly heartbeat_grace_s: number
  /** How often a failure that may pass is tried again; 0 is never. */
  readonly retries: number
  readonly trace_id: string
  readonly traceparent?: string
  /** The span of the caller. */
  readonly parent_span_id?: string
  readonly idempotency_key: string
  /** `--allow-level`: the weakest level that the caller accepts. */
  readonly allow_level?: 'L1' | 'L2' | 'L3'
  /** Where secrets are read from: name and file. */
  readonly secrets?: { readonly [name: string]: string }
  /** Answers that were given before anybody asked, by key or action. */
  readonly answers?: { readonly [key: string]: unknown }
  /** Which of them are text as it was typed, to be read as their question wants. */
  readonly typed_answers?: readonly string[]
}

/**
 * How a run is asked for, besides its tool and what that gets. What is absent the environment says,
 * then the manifest.
 */
export type RunOptions = {
  /** Seconds. */
  readonly timeout?: number | undefined
  /** Seconds of silence that a tool of the protocol may keep. */
  readonly heartbeatGrace?: number | undefined
  readonly retries?: number | undefined
  readonly allowLevel?: RunRequest['allow_level']
  readonly answers?: RunRequest['answers']
  /**
   * Keys of answers that are text as somebody typed it: JSON or text, whichever the question wants.
   * Others are taken as they are.
   */
  readonly typedAnswers?: RunRequest['typed_answers']
  /** Name and file of each secret. */
  readonly secrets?: RunRequest['secrets']
  readonly idempotencyKey?: string | undefined
  readonly surroundings?: RunRequest['surroundings']
  /** Who asks, for the record. */
  readonly caller?: string | undefined
}

/** What the tool gets: arguments as they were typed, or an input. */
export type RunArguments = Pick<RunRequest, 'args' | 'input'>

type RequestOrigin = Required<Pick<RunnerOptions, 'cwd' | 'env'>>

const DEFAULT_TIMEOUT_SECONDS = 1800
const DEFAULT_HEARTBEAT_GRACE_SECONDS = 90
const DEFAULT_RETRIES = 3

/**
 * The request for a run, as `run.json` keeps it. Throws CONFIG for a variable of the environment
 * that makes no sense.
 */
export async function createRunRequest(
  runId: string,
  entry: Pick<RegistryEntry, 'id' | 'definition'> & {
    readonly found: Pick<RegistryEntry['found'], 'version'>
  },
  program: FoundProgram | undefined,
  given: RunArguments,
  options: RunOptions,
  { cwd, env }: RequestOrigin,
): Promise<RunRequest> {
  const { manifest } = await entry.definition.compiled()
  const { allowLevel, answers, typedAnswers, secrets, surroundings, caller } = options
  return compact({
    v: 1,
    run_id: runId,
    tool: entry.id,
    version: entry.found.version,
    created: new Date().toISOString(),
    caller,
    call: program?.call,
    args: given.args,
    input: given.input,
    inputSchema: manifest.inputSchema,
    positional: manifest.positional.length > 0 ? manifest.positional : undefined,
    surroundings,
    cwd,
    permissions: program?.permissions,
    manifest: program?.manifest,
    orchestrator: program?.orchestrator || undefined,
    timeout_s:
      options.timeout ??
      readSecondsVariable(env, 'TOOL_TIMEOUT_S') ??
      manifest.timeout ??
      DEFAULT_TIMEOUT_SECONDS,
    heartbeat_grace_s:
      options.heartbeatGrace ??
      readSecondsVariable(env, 'HEARTBEAT_GRACE_S') ??
      DEFAULT_HEARTBEAT_GRACE_SECONDS,
    retries: options.retries ?? DEFAULT_RETRIES,
    ...joinTrace(env),
    idempotency_key: options.idempotencyKey ?? runId,
    allow_level: allowLevel,
    secrets,
    answers,
    typed_answers: typedAnswers,
  })
}

function readSecondsVariable(env: RequestOrigin['env'], name: string): number | undefined {
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

export type RunnerOptions = {
  readonly registry: Registry
  /** Where runs are recorded; default: `.runs` beside the configuration. */
  readonly folder?: string
  /** Runs at the same time; others are queued. Default: four for each core. */
  readonly concurrency?: number
  /** Answers the questions of tools; without it a question waits for `toolable answer`. */
  readonly answer?: Answerer
  /** What relative paths mean; default: the directory of the process. */
  readonly cwd?: string
  /**
   * The environment of the host; default: that of the process. Tools get the few variables of the
   * allow-list.
   */
  readonly env?: { readonly [name: string]: string | undefined }
}

/** What a tool is given: arguments as on the command line, or its input. */
export type RunInput =
  { readonly args: readonly string[] } | { readonly input: { readonly [field: string]: unknown } }

/** A run that was started. */
export type RunHandle = {
  readonly id: string
  /** Its folder. */
  readonly folder: string
  /** How it ended. Never rejects for what a tool does; rejects where the run cannot be recorded. */
  readonly done: Promise<RunSummary>
  cancel(reason?: string): void
  /** Its record from the beginning, as it grows, until it is over. */
  events(): AsyncIterable<RunEvent>
}

/** Runs tools on record. */
export type Runner = {
  /**
   * Starts a run, or queues it. Throws NOT_FOUND for an unknown tool, and what is wrong with its
   * input.
   */
  start(tool: string, given: RunInput, options?: RunOptions): Promise<RunHandle>
  /** Cancels what runs and waits for its end. */
  close(): Promise<void>
}

/**
 * What a tool gets, in the way in which it takes it: an input as flags, as one document, or as it
 * is where it is no program.
 */
export function toRunArguments(given: RunInput, call: ChildCall | undefined): RunArguments {
  if ('args' in given) return { args: given.args }
  const { input } = given
  if (call?.form === 'flags' || call?.form === 'protocol') return { args: toFlagArguments(input) }
  if (call?.form === 'program' && call.program)
    return { args: buildProgramArgv(call.program, input) }
  return call?.form === 'toolable' ? { args: [JSON.stringify(input)] } : { args: [], input }
}

/** Whether a tool takes one document, and no arguments. */
export function takesDocument(call: ChildCall | undefined): boolean {
  return call === undefined || call.form === 'json' || call.form === 'stdin'
}
