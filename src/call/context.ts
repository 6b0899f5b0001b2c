import type { Context, PlannedAction } from '../contract/context.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { Artifact } from '../contract/outcome.ts'
import type { State } from '../contract/state.ts'
import { ToolError } from '../contract/tool-error.ts'
import { createAsking } from './asking.ts'
import { openCheckpoint } from './checkpoint.ts'
import { host } from './host.ts'
import { hearing } from './on-cancelled.ts'
import type { CallOptions } from './options.ts'
import type { RunningCall } from './running.ts'
import { clampPercent } from './yielded.ts'

/** What one call gathers while it runs. */
export type Gathered = { readonly artifacts: Artifact[]; readonly plan: PlannedAction[]; readonly warnings: string[] }

export type ContextParts = {
  readonly tool: string
  readonly options: CallOptions
  readonly state: State
  readonly cwd: string
  readonly dryRun: boolean
  readonly verbose: number
  readonly gathered: Gathered
  readonly call: RunningCall
  emit(event: ToolEvent): void | Promise<void>
}

/** Builds what a handler gets besides its input. */
export function createContext(parts: ContextParts, extra: { readonly [key: string]: unknown }): Context {
  const { options, gathered, tool, call } = parts
  const env = options.env ?? host.env()
  return {
    progress: (message, percent) => void parts.emit({ type: 'progress', message: String(message), ...(percent !== undefined && { percent: clampPercent(percent) }) }),
    log: (message, level = 'info') => void parts.emit({ type: 'log', level, message: String(message) }),
    artifact: (name, uri) => void parts.emit({ type: 'artifact', name: String(name), uri: String(uri) }),
    item: (value) => void parts.emit({ type: 'item', value }),
    ...createAsking(`tool '${tool}'`, parts.cwd, options, call),
    checkpoint: (stage) => openCheckpoint(env['WORKSPACE'] ?? parts.cwd, stage),
    get signal() { return call.signal() },
    get deadline() { return call.deadline() },
    dryRun: parts.dryRun,
    plan(action, target, details) {
      if (parts.dryRun) gathered.plan.push({ action, target, ...(details !== undefined && { details }) })
    },
    caller: options.caller,
    state: parts.state,
    env,
    cwd: parts.cwd,
    secret(name) {
      const secret = options.secrets && Object.hasOwn(options.secrets, name) ? options.secrets[name] : undefined
      if (secret === undefined) throw new ToolError('CONFIG', `tool '${tool}' needs the secret '${name}'`, { suggestion: `Give it with --secret-file ${name}=<path>` })
      return secret
    },
    verbose: parts.verbose,
    context: extra,
    [hearing]: call.onFail,
  } as Context
}
