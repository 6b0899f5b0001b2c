import type { Ask, Context, Deadline, PlannedAction, PromptView } from '../contract/context.ts'
import type { Budget } from '../contract/budget.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { Filesystem } from '../contract/filesystem.ts'
import type { Artifact } from '../contract/outcome.ts'
import type { Resources, State } from '../contract/state.ts'
import { ToolError } from '../contract/tool-error.ts'
import { createAsking } from './asking.ts'
import type { Asking } from './asking.ts'
import { openCheckpoint } from './checkpoint.ts'
import { host } from './host.ts'
import { running } from './on-cancelled.ts'
import type { CallOptions } from './options.ts'
import type { RunningCall } from './running.ts'
import { clampPercent } from './yielded.ts'

/** What one call gathers while it runs. */
export type Gathered = { readonly artifacts: Artifact[]; readonly plan: PlannedAction[]; readonly warnings: string[] }

export type ContextParts = {
  readonly tool: string
  readonly options: CallOptions
  /** The state as the call sees it. */
  state(): State
  readonly cwd: string
  readonly dryRun: boolean
  readonly verbose: number
  readonly gathered: Gathered
  readonly call: RunningCall
  emit(event: ToolEvent): void | Promise<void>
}

const parted = Symbol('toolable.parts')

/** What a handler gets besides its input. What costs something is made by the first look at it. The rest is the object's own, and functions need no `this`, so that handlers can take them out, spread them and build on them. */
export class CallContext implements Context {
  readonly dryRun: boolean
  readonly caller: string | undefined
  readonly cwd: string
  readonly env: Context['env']
  readonly verbose: number
  readonly budget: Budget | undefined
  readonly prompt: PromptView | undefined
  readonly context: { readonly [key: string]: unknown }
  // Initialised here, never assigned: V8 puts `this.log = () => …` into the old space, where it keeps the whole call until the next full collection.
  readonly progress: Context['progress'] = (message, percent, more) => void this[parted].emit({ type: 'progress', message: String(message), ...(percent !== undefined && { percent: clampPercent(percent) }), ...(more?.plan && { plan: more.plan }) })
  readonly log: Context['log'] = (message, level = 'info') => void this[parted].emit({ type: 'log', level, message: String(message) })
  readonly artifact: Context['artifact'] = (name, uri) => void this[parted].emit({ type: 'artifact', name: String(name), uri: String(uri) })
  readonly item: Context['item'] = (value) => void this[parted].emit({ type: 'item', value })
  readonly plan: Context['plan'] = (action, target, details) => {
    const { dryRun, gathered } = this[parted]
    if (dryRun) gathered.plan.push({ action, target, ...(details !== undefined && { details }) })
  }
  readonly ask = ((question: never) => this.#ways.ask(question)) as Ask
  readonly sample: Context['sample'] = (prompt, sampling) => this.#ways.sample(prompt, sampling)
  readonly roots: Context['roots'] = (wanted) => this.#ways.roots(wanted)
  readonly checkpoint: Context['checkpoint'] = (stage) => openCheckpoint(this.env['WORKSPACE'] ?? this.cwd, stage)
  readonly secret: Context['secret'] = (name) => {
    const { options: { secrets }, tool } = this[parted]
    const secret = secrets && Object.hasOwn(secrets, name) ? secrets[name] : undefined
    if (secret === undefined) throw new ToolError('CONFIG', `tool '${tool}' needs the secret '${name}'`, { suggestion: `Give it with --secret-file ${name}=<path>` })
    return secret
  }
  readonly [running]: RunningCall
  readonly [parted]: ContextParts
  #asking: Asking | undefined

  constructor(parts: ContextParts, extra: { readonly [key: string]: unknown }) {
    const { options } = parts
    this.dryRun = parts.dryRun
    this.caller = options.caller
    this.cwd = parts.cwd
    this.env = options.env ?? host.env()
    this.verbose = parts.verbose
    this.budget = options.budget
    this.prompt = options.prompt
    this.context = extra
    this[running] = parts.call
    this[parted] = parts
  }

  get #ways(): Asking {
    const { tool, cwd, options, call } = this[parted]
    return (this.#asking ??= createAsking(`tool '${tool}'`, cwd, options, call))
  }

  get signal(): AbortSignal {
    return this[parted].call.signal
  }

  get deadline(): Deadline | undefined {
    return this[parted].call.deadline
  }

  get state(): State {
    return this[parted].state()
  }

  get resources(): Resources {
    return this.state.resources
  }

  get filesystem(): Filesystem {
    return this.state.filesystem
  }
}
