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
  readonly progress: Context['progress']
  readonly log: Context['log']
  readonly artifact: Context['artifact']
  readonly item: Context['item']
  readonly plan: Context['plan']
  readonly ask: Ask
  readonly sample: Context['sample']
  readonly roots: Context['roots']
  readonly checkpoint: Context['checkpoint']
  readonly secret: Context['secret']
  readonly [running]: RunningCall
  readonly [parted]: ContextParts

  constructor(parts: ContextParts, extra: { readonly [key: string]: unknown }) {
    const { options, emit, tool, cwd, call } = parts
    this.dryRun = parts.dryRun
    this.caller = options.caller
    this.cwd = cwd
    this.env = options.env ?? host.env()
    this.verbose = parts.verbose
    this.budget = options.budget
    this.prompt = options.prompt
    this.context = extra
    this.progress = (message, percent, more) => void emit({ type: 'progress', message: String(message), ...(percent !== undefined && { percent: clampPercent(percent) }), ...(more?.plan && { plan: more.plan }) })
    this.log = (message, level = 'info') => void emit({ type: 'log', level, message: String(message) })
    this.artifact = (name, uri) => void emit({ type: 'artifact', name: String(name), uri: String(uri) })
    this.item = (value) => void emit({ type: 'item', value })
    this.plan = (action, target, details) => {
      if (parts.dryRun) parts.gathered.plan.push({ action, target, ...(details !== undefined && { details }) })
    }
    let made: Asking | undefined
    const asking = (): Asking => (made ??= createAsking(`tool '${tool}'`, cwd, options, call))
    this.ask = ((question: never) => asking().ask(question)) as Ask
    this.sample = (prompt, sampling) => asking().sample(prompt, sampling)
    this.roots = (wanted) => asking().roots(wanted)
    this.checkpoint = (stage) => openCheckpoint(this.env['WORKSPACE'] ?? cwd, stage)
    this.secret = (name) => {
      const secret = options.secrets && Object.hasOwn(options.secrets, name) ? options.secrets[name] : undefined
      if (secret === undefined) throw new ToolError('CONFIG', `tool '${tool}' needs the secret '${name}'`, { suggestion: `Give it with --secret-file ${name}=<path>` })
      return secret
    }
    this[running] = call
    this[parted] = parts
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
