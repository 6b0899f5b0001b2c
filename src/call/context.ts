import type { Ask, Checkpoint, Context, Deadline, PlannedAction, PromptView } from '../contract/context.ts'
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

/** What a handler gets besides its input. Most handlers look at little of it, so each part is made by the first look; functions need no `this`, so that they can be taken out of it. */
export class CallContext implements Context {
  readonly #parts: ContextParts
  #asking: Asking | undefined
  readonly context: { readonly [key: string]: unknown }
  readonly [running]: RunningCall

  constructor(parts: ContextParts, extra: { readonly [key: string]: unknown }) {
    this.#parts = parts
    this.context = extra
    this[running] = parts.call
  }

  get progress(): Context['progress'] {
    const { emit } = this.#parts
    return (message, percent, more) => void emit({ type: 'progress', message: String(message), ...(percent !== undefined && { percent: clampPercent(percent) }), ...(more?.plan && { plan: more.plan }) })
  }

  get log(): Context['log'] {
    const { emit } = this.#parts
    return (message, level = 'info') => void emit({ type: 'log', level, message: String(message) })
  }

  get artifact(): Context['artifact'] {
    const { emit } = this.#parts
    return (name, uri) => void emit({ type: 'artifact', name: String(name), uri: String(uri) })
  }

  get item(): Context['item'] {
    const { emit } = this.#parts
    return (value) => void emit({ type: 'item', value })
  }

  get plan(): Context['plan'] {
    const { dryRun, gathered } = this.#parts
    return (action, target, details) => {
      if (dryRun) gathered.plan.push({ action, target, ...(details !== undefined && { details }) })
    }
  }

  get #ways(): Asking {
    const { tool, cwd, options, call } = this.#parts
    return (this.#asking ??= createAsking(`tool '${tool}'`, cwd, options, call))
  }

  get ask(): Ask {
    return this.#ways.ask
  }

  get sample(): Context['sample'] {
    return this.#ways.sample
  }

  get roots(): Context['roots'] {
    return this.#ways.roots
  }

  get checkpoint(): (stage: string) => Checkpoint {
    return (stage) => openCheckpoint(this.env['WORKSPACE'] ?? this.cwd, stage)
  }

  get secret(): (name: string) => string {
    const { options: { secrets }, tool } = this.#parts
    return (name) => {
      const secret = secrets && Object.hasOwn(secrets, name) ? secrets[name] : undefined
      if (secret === undefined) throw new ToolError('CONFIG', `tool '${tool}' needs the secret '${name}'`, { suggestion: `Give it with --secret-file ${name}=<path>` })
      return secret
    }
  }

  get signal(): AbortSignal {
    return this.#parts.call.signal
  }

  get deadline(): Deadline | undefined {
    return this.#parts.call.deadline
  }

  get dryRun(): boolean {
    return this.#parts.dryRun
  }

  get caller(): string | undefined {
    return this.#parts.options.caller
  }

  get budget(): Budget | undefined {
    return this.#parts.options.budget
  }

  get prompt(): PromptView | undefined {
    return this.#parts.options.prompt
  }

  get state(): State {
    return this.#parts.state()
  }

  get resources(): Resources {
    return this.state.resources
  }

  get filesystem(): Filesystem {
    return this.state.filesystem
  }

  get env(): Context['env'] {
    return this.#parts.options.env ?? host.env()
  }

  get cwd(): string {
    return this.#parts.cwd
  }

  get verbose(): number {
    return this.#parts.verbose
  }
}
