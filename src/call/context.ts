import type { Context, PlannedAction } from '../contract/context.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { Artifact } from '../contract/outcome.ts'
import type { State } from '../contract/state.ts'
import { ToolError } from '../contract/tool-error.ts'
import { createAsking } from './asking.ts'
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

/** Builds what a handler gets besides its input. */
export function createContext(parts: ContextParts, extra: { readonly [key: string]: unknown }): Context {
  const { options, gathered, tool, call, emit } = parts
  const { ask, sample, roots } = createAsking(`tool '${tool}'`, parts.cwd, options, call)
  const env = options.env ?? host.env()
  const context = {
    progress: (message, percent, more) => void emit({ type: 'progress', message: String(message), ...(percent !== undefined && { percent: clampPercent(percent) }), ...(more?.plan && { plan: more.plan }) }),
    log: (message, level = 'info') => void emit({ type: 'log', level, message: String(message) }),
    artifact: (name, uri) => void emit({ type: 'artifact', name: String(name), uri: String(uri) }),
    item: (value) => void emit({ type: 'item', value }),
    ask,
    sample,
    roots,
    checkpoint: (stage) => openCheckpoint(env['WORKSPACE'] ?? parts.cwd, stage),
    dryRun: parts.dryRun,
    plan(action, target, details) {
      if (parts.dryRun) gathered.plan.push({ action, target, ...(details !== undefined && { details }) })
    },
    caller: options.caller,
    budget: options.budget,
    prompt: options.prompt,
    env,
    cwd: parts.cwd,
    secret(name) {
      const secret = options.secrets && Object.hasOwn(options.secrets, name) ? options.secrets[name] : undefined
      if (secret === undefined) throw new ToolError('CONFIG', `tool '${tool}' needs the secret '${name}'`, { suggestion: `Give it with --secret-file ${name}=<path>` })
      return secret
    },
    verbose: parts.verbose,
    context: extra,
    [running]: call,
    [stateOf]: parts.state,
  } satisfies Omit<Context, keyof typeof LATE> & Held
  return Object.defineProperties(context, LATE) as unknown as Context
}

const stateOf = Symbol('toolable.state')

type Held = { readonly [running]: RunningCall; readonly [stateOf]: () => State }

// What most handlers never look at is made by the first look. The getters are the same functions for all calls: with new ones in each literal, each context would have a hidden class of its own.
const LATE = {
  signal: { get(this: Held) { return this[running].signal }, enumerable: true, configurable: true },
  deadline: { get(this: Held) { return this[running].deadline }, enumerable: true, configurable: true },
  state: { get(this: Held) { return this[stateOf]() }, enumerable: true, configurable: true },
  resources: { get(this: Held) { return this[stateOf]().resources }, enumerable: true, configurable: true },
  filesystem: { get(this: Held) { return this[stateOf]().filesystem }, enumerable: false, configurable: true },
} as const
