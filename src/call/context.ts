import type { Ask, Context, Deadline, PlannedAction, PromptView } from '../contract/context.ts'
import type { Budget } from '../contract/budget.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { Filesystem } from '../contract/filesystem.ts'
import type { Artifact } from '../contract/outcome.ts'
import type { Resources, State } from '../contract/state.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { createAsking } from './asking.ts'
import type { Asking } from './asking.ts'
import { openCheckpoint } from './checkpoint.ts'
import { host } from './host.ts'
import { running } from './on-cancelled.ts'
import type { CallOptions } from './options.ts'
import type { Prepared } from './prepare.ts'
import type { RunningCall } from './running.ts'
import { tell } from './tell.ts'
import { clampPercent } from './yielded.ts'

/** What one call gathers while it runs. */
export type Gathered = { readonly artifacts: Artifact[]; readonly plan: PlannedAction[] }

/** A call whose input is valid, before its handler runs. */
export type Entering = {
  readonly definition: ToolDefinition
  readonly prepared: Prepared
  readonly options: CallOptions
  readonly gathered: Gathered
  readonly call: RunningCall
  /** Has the state as the call sees it. */
  readonly stay: { readonly state: State }
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
  readonly progress: Context['progress'] = (message, percent, more) =>
    void emit(
      {
        type: 'progress',
        message: String(message),
        ...(percent !== undefined && { percent: clampPercent(percent) }),
        ...(more?.plan && { plan: more.plan }),
      },
      this[parted],
    )
  readonly log: Context['log'] = (message, level = 'info') =>
    void emit({ type: 'log', level, message: String(message) }, this[parted])
  readonly artifact: Context['artifact'] = (name, uri) =>
    void emit({ type: 'artifact', name: String(name), uri: String(uri) }, this[parted])
  readonly item: Context['item'] = (value) => void emit({ type: 'item', value }, this[parted])
  readonly plan: Context['plan'] = (action, target, details) => {
    const { prepared, gathered } = this[parted]
    if (prepared.dryRun)
      gathered.plan.push({ action, target, ...(details !== undefined && { details }) })
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
    } = this[parted]
    const secret = secrets && Object.hasOwn(secrets, name) ? secrets[name] : undefined
    if (secret === undefined)
      throw new ToolError('CONFIG', `tool '${definition.name}' needs the secret '${name}'`, {
        suggestion: `Give it with --secret-file ${name}=<path>`,
      })
    return secret
  }
  readonly [running]: RunningCall
  readonly [parted]: Entering
  #asking: Asking | undefined

  constructor(entering: Entering, extra: { readonly [key: string]: unknown }) {
    const { prepared, options } = entering
    this.dryRun = prepared.dryRun
    this.caller = options.caller
    this.cwd = prepared.cwd
    this.env = options.env ?? host.env()
    this.verbose = prepared.verbose
    this.budget = options.budget
    this.prompt = options.prompt
    this.context = extra
    this[running] = entering.call
    this[parted] = entering
  }

  get #ways(): Asking {
    const { definition, prepared, options, call } = this[parted]
    return (this.#asking ??= createAsking(`tool '${definition.name}'`, prepared.cwd, options, call))
  }

  get signal(): AbortSignal {
    return this[parted].call.signal
  }

  get deadline(): Deadline | undefined {
    return this[parted].call.deadline
  }

  get state(): State {
    return this[parted].stay.state
  }

  get resources(): Resources {
    return this.state.resources
  }

  get filesystem(): Filesystem {
    return this.state.filesystem
  }
}

/** Hands an event of a handler to whoever listens, and keeps what the outcome has to name. */
export function emit(
  event: ToolEvent,
  { options, gathered, call }: Entering,
): void | Promise<void> {
  if (call.over) return
  if (event.type === 'artifact') gathered.artifacts.push({ name: event.name, uri: event.uri })
  return tell(event, options, call)
}
