/**
 * The input of a call and the context its handler receives.
 *
 * `prepareInput` validates the input and reads its reserved fields (working_dir, timeout, dry_run,
 * verbose); `CallContext` offers them to the handler with events, questions, state and secrets.
 */

import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { SchemaCheckResult, SchemaIssue } from '../define/schema/source.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import type {
  Ask,
  Checkpoint,
  Context,
  Deadline,
  PlannedAction,
  PromptView,
} from '../protocol/context.ts'
import type { ToolEvent } from '../protocol/events.ts'
import type { Budget } from '../protocol/limits.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { Artifact } from '../protocol/outcome.ts'
import type { Filesystem, Resources, State } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { CallOptions } from './call.ts'
import { clampPercent, emitEvent } from './events.ts'
import { host } from './host.ts'
import type { RunningCall } from './lifecycle.ts'
import { runningCall } from './lifecycle.ts'
import type { Questions } from './questions.ts'
import { createQuestions } from './questions.ts'

/** What a call collects for its outcome while it runs. */
export type CollectedOutput = { readonly artifacts: Artifact[]; readonly plan: PlannedAction[] }

/** A call whose input is valid, before its handler runs. */
export type PreparedCall = {
  readonly definition: ToolDefinition
  readonly prepared: PreparedInput
  readonly options: CallOptions
  readonly collected: CollectedOutput
  readonly call: RunningCall
  /** Has the state as the call sees it. */
  readonly callState: { readonly state: State }
}

const callParts = Symbol('toolable.parts')

/**
 * What a handler receives besides its input. Expensive members are getters and created on first
 * use. The others are own properties, and functions need no `this`, so that handlers can
 * destructure and spread them.
 */
export class CallContext implements Context {
  readonly dryRun: boolean
  readonly caller: string | undefined
  readonly cwd: string
  readonly env: Context['env']
  readonly verbose: number
  readonly budget: Budget | undefined
  readonly prompt: PromptView | undefined
  readonly context: { readonly [key: string]: unknown }
  // Initialised here, never assigned: V8 puts `this.log = () => …` into the old space, where it
  // keeps the whole call until the next full collection.
  readonly progress: Context['progress'] = (message, percent, more) =>
    void emitCallEvent(
      compact({
        type: 'progress',
        message: String(message),
        percent: percent !== undefined ? clampPercent(percent) : undefined,
        plan: more?.plan ? more.plan : undefined,
      }),
      this[callParts],
    )
  readonly log: Context['log'] = (message, level = 'info') =>
    void emitCallEvent({ type: 'log', level, message: String(message) }, this[callParts])
  readonly artifact: Context['artifact'] = (name, uri) =>
    void emitCallEvent({ type: 'artifact', name: String(name), uri: String(uri) }, this[callParts])
  readonly item: Context['item'] = (value) =>
    void emitCallEvent({ type: 'item', value }, this[callParts])
  readonly plan: Context['plan'] = (action, target, details) => {
    const { prepared, collected } = this[callParts]
    if (prepared.dryRun) collected.plan.push(compact({ action, target, details }))
  }
  readonly ask = ((question: never) => this.#ways.ask(question)) as Ask
  readonly sample: Context['sample'] = (prompt, sampling) => this.#ways.sample(prompt, sampling)
  readonly roots: Context['roots'] = (wanted) => this.#ways.roots(wanted)
  readonly checkpoint: Context['checkpoint'] = (stage) =>
    openCheckpoint(this.env['WORKSPACE'] ?? this.cwd, stage)
  readonly secret: Context['secret'] = (name) => {
    const {
      options: { secrets },
      definition,
    } = this[callParts]
    const secret = secrets && Object.hasOwn(secrets, name) ? secrets[name] : undefined
    if (secret === undefined)
      throw new ToolError('CONFIG', `tool '${definition.name}' needs the secret '${name}'`, {
        suggestion: `Give it with --secret-file ${name}=<path>`,
      })
    return secret
  }
  readonly [runningCall]: RunningCall
  readonly [callParts]: PreparedCall
  #asking: Questions | undefined

  constructor(entering: PreparedCall, extra: { readonly [key: string]: unknown }) {
    const { prepared, options } = entering
    this.dryRun = prepared.dryRun
    this.caller = options.caller
    this.cwd = prepared.cwd
    this.env = options.env ?? host.env()
    this.verbose = prepared.verbose
    this.budget = options.budget
    this.prompt = options.prompt
    this.context = extra
    this[runningCall] = entering.call
    this[callParts] = entering
  }

  get #ways(): Questions {
    const { definition, prepared, options, call } = this[callParts]
    return (this.#asking ??= createQuestions(
      `tool '${definition.name}'`,
      prepared.cwd,
      options,
      call,
    ))
  }

  get signal(): AbortSignal {
    return this[callParts].call.signal
  }

  get deadline(): Deadline | undefined {
    return this[callParts].call.deadline
  }

  get state(): State {
    return this[callParts].callState.state
  }

  get resources(): Resources {
    return this.state.resources
  }

  get filesystem(): Filesystem {
    return this.state.filesystem
  }
}

/** Emits an event of a handler, and collects the artifacts that the outcome lists. */
export function emitCallEvent(
  event: ToolEvent,
  { options, collected, call }: PreparedCall,
): void | Promise<void> {
  if (call.isOver) return
  if (event.type === 'artifact') collected.artifacts.push({ name: event.name, uri: event.uri })
  return emitEvent(event, options, call)
}

/** A validated input and what its reserved fields ask for. */
export type PreparedInput = {
  readonly input: unknown
  readonly cwd: string
  /** Milliseconds that the input itself allows. */
  readonly timeoutMs: number | undefined
  readonly dryRun: boolean
  readonly verbose: number
}

const MAX_INPUT_TIMEOUT_S = 600

/**
 * Validates the input strictly and reads its reserved fields; throws INVALID_INPUT, MISSING_PARAM
 * or INVALID_PATH.
 */
export function prepareInput(
  definition: ToolDefinition,
  given: unknown = {},
  options: CallOptions,
): PreparedInput | Promise<PreparedInput> {
  const checked = definition.checkInput(given)
  return checked instanceof Promise
    ? checked.then((done) => acceptChecked(definition, done, given, options))
    : acceptChecked(definition, checked, given, options)
}

function acceptChecked(
  definition: ToolDefinition,
  checked: SchemaCheckResult,
  given: unknown,
  options: CallOptions,
): PreparedInput | Promise<PreparedInput> {
  if (!checked.ok) return throwIssues(checked.issues, given)
  const { value } = checked
  const { names, hasPaths } = getSchemaHints(definition)
  const prepared: PreparedInput =
    names && isObject(value)
      ? readReservedFields(definition.inputSchema(), names, value, options)
      : {
          input: value,
          cwd: options.cwd ?? host.cwd(),
          timeoutMs: undefined,
          dryRun: options.dryRun === true,
          verbose: options.verbose ?? 0,
        }
  return hasPaths ? resolveInputPaths(definition.inputSchema(), prepared) : prepared
}

function readReservedFields(
  schema: JsonSchema,
  names: ReservedFields,
  fields: { readonly [name: string]: unknown },
  options: CallOptions,
): PreparedInput {
  const read = (name: string | undefined): unknown =>
    name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
  return {
    input: fields,
    cwd: resolveWorkingDir(options.cwd ?? host.cwd(), read(names.workingDir), names.workingDir),
    timeoutMs: readInputTimeout(schema, read(names.timeout), names.timeout),
    dryRun: options.dryRun === true || read(names.dryRun) === true,
    verbose: options.verbose ?? Number(read(names.verbose) ?? 0),
  }
}

async function throwIssues(issues: readonly SchemaIssue[], given: unknown): Promise<never> {
  throw (await import('../define/schema/issues.ts')).issuesToError(issues, { input: given })
}

function resolveWorkingDir(base: string, wanted: unknown, field = 'working_dir'): string {
  if (typeof wanted !== 'string' || wanted === '') return base
  const directory = resolve(base, wanted)
  if (getPathKind(directory) !== 'directory')
    throw new ToolError('INVALID_PATH', `${field}: there is no directory '${wanted}'`, {
      field,
      suggestion: 'Give a directory that exists',
    })
  return directory
}

// The specification bounds the field to ten minutes; an author who declares a maximum has decided
// otherwise.
function readInputTimeout(
  schema: JsonSchema,
  seconds: unknown,
  field = 'timeout',
): number | undefined {
  if (seconds === undefined || seconds === null) return undefined
  const declared = (schema['properties'] as { [name: string]: { maximum?: number } } | undefined)?.[
    field
  ]?.maximum
  if (
    typeof seconds === 'number' &&
    (seconds <= 0 || seconds > (declared ?? MAX_INPUT_TIMEOUT_S))
  ) {
    throw new ToolError(
      'INVALID_INPUT',
      `${field}: must be above 0 and at most ${declared ?? MAX_INPUT_TIMEOUT_S} seconds, got ${seconds}`,
      { field },
    )
  }
  return toMilliseconds(seconds as number | string, field)
}

// What the schema of an input asks for besides checking, read once per tool.
type InputSchemaHints = {
  /** Absent where no reserved field steers the call. */
  readonly names: ReservedFields | undefined
  readonly hasPaths: boolean
}

const hintsByDefinition = new WeakMap<ToolDefinition, InputSchemaHints>()

function getSchemaHints(definition: ToolDefinition): InputSchemaHints {
  let hints = hintsByDefinition.get(definition)
  if (!hints) {
    const schema = definition.inputSchema()
    const names = definition.reserved ? findReservedFields(schema) : {}
    hints = {
      names: Object.keys(names).length > 0 ? names : undefined,
      hasPaths: JSON.stringify(schema).includes('"x-toolable-path"'),
    }
    hintsByDefinition.set(definition, hints)
  }
  return hints
}

async function resolveInputPaths(
  schema: JsonSchema,
  prepared: PreparedInput,
): Promise<PreparedInput> {
  const { checkPaths } = await import('../define/schema/path.ts')
  const checked = checkPaths(schema, prepared.input, prepared.cwd, getPathKind)
  const [first] = checked.issues
  if (!first) return { ...prepared, input: checked.value }
  const field = first.path.join('.')
  throw new ToolError('INVALID_PATH', `${field}: ${first.message}`, {
    field,
    details: {
      issues: checked.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
    },
    suggestion: 'Give a path that exists and is of the right kind',
  })
}

function getPathKind(path: string): 'file' | 'directory' | 'other' | undefined {
  const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false })
  if (!stats) return undefined
  if (stats.isDirectory()) return 'directory'
  return stats.isFile() ? 'file' : 'other'
}

/** The checkpoint of one stage: `<folder>/.checkpoints/<stage>.json`, replaced atomically. */
function openCheckpoint(folder: string, stage: string): Checkpoint {
  if (typeof stage !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(stage))
    throw new ToolError(
      'INVALID_INPUT',
      `checkpoint stage '${stage}' must be letters, digits, '.', '_' and '-'`,
    )
  const file = join(folder, '.checkpoints', `${stage}.json`)
  return {
    async load<Data>() {
      const { readFile } = await import('node:fs/promises')
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      return text === undefined ? undefined : parseCheckpoint<Data>(text, file, stage)
    },
    async save(data) {
      const { mkdir, rename, writeFile, rm } = await import('node:fs/promises')
      await mkdir(join(folder, '.checkpoints'), { recursive: true })
      const temporary = `${file}.${host.pid}.${host.clock()}.tmp`
      try {
        await writeFile(temporary, JSON.stringify({ stage, data }), { flush: true })
        await rename(temporary, file)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
  }
}

function parseCheckpoint<Data>(text: string, file: string, stage: string): Data {
  try {
    const saved = JSON.parse(text) as { stage?: unknown; data?: Data }
    if (saved.stage === stage) return saved.data as Data
  } catch {
    /* told below, like a file of another stage */
  }
  throw new ToolError('PRECONDITION', `the checkpoint ${file} is damaged: remove it to start over`)
}

/** Which of the reserved fields an input declares, and under which spelling. */
type ReservedFields = {
  readonly workingDir?: string
  readonly timeout?: string
  readonly dryRun?: string
  readonly verbose?: string
}

const RESERVED_SPELLINGS = {
  workingDir: ['working_dir', 'workingDir'],
  timeout: ['timeout'],
  dryRun: ['dry_run', 'dryRun'],
  verbose: ['verbose'],
} as const

/** Finds the reserved fields in an input schema; they are active only when declared. */
export function findReservedFields(schema: JsonSchema): ReservedFields {
  const properties = Object(schema['properties']) as object
  const found: { -readonly [Name in keyof ReservedFields]: string } = {}
  for (const [name, spellings] of Object.entries(RESERVED_SPELLINGS) as [
    keyof ReservedFields,
    readonly string[],
  ][]) {
    const spelling = spellings.find((candidate) => Object.hasOwn(properties, candidate))
    if (spelling) found[name] = spelling
  }
  return found
}
