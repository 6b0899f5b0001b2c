import { toMilliseconds } from '../../contract/duration.ts'
import type { Io } from '../../contract/io.ts'
import type { Stopping } from '../../call/cancellation.ts'
import { expectOneCall } from '../../call/work-place.ts'
import type { Globals } from './argv/globals.ts'
import { callTool } from './call-tool.ts'
import { findCaller } from './caller.ts'
import type { Host } from './host.ts'
import { choosePresentation } from './mode.ts'
import { readInput } from './request.ts'
import type { ToolArguments } from './request.ts'
import { readSettings } from './settings.ts'
import { redirectStrayOutput } from './stray-output.ts'
import type { ToolCall } from './tool-call.ts'

/** Does a call whose input has been read; gives the exit status. */
export type Perform = (call: ToolCall) => Promise<number>

export type StartingCall = Pick<ToolCall, 'set' | 'entry' | 'single' | 'globals' | 'io'> & {
  readonly args: ToolArguments
  readonly host: Host
  /** Done instead when no JSON came. */
  readonly withoutInput?: (() => Promise<number>) | undefined
  /** Done instead of calling the tool; then nothing has been prepared for handlers. */
  readonly perform?: Perform | undefined
}

/** Reads the input of one tool call and runs it; gives the exit status. */
export async function startCall({
  set,
  entry,
  single,
  args,
  globals,
  io,
  host,
  withoutInput,
  perform,
}: StartingCall): Promise<number> {
  const settings = await readSettings(io)
  const caller = findCaller(io.env)
  const presentation = choosePresentation(globals, io, caller, settings, set.options.defaultOutput)
  const ending = host.ending ?? host.signal
  if (!perform) {
    host.prepareForTools(redirectStrayOutput)
    if (host.ending) expectOneCall()
  }
  const talksOnStdin = globals.session === true || globals.sampleVia === 'stdin'
  const secrets = await gatherSecrets(globals, io, { talksOnStdin, signal: ending })
  const stdinTaken = talksOnStdin || io.stdin.taken
  const { input, origin, warnings } = await readInput(args, globals, io, {
    defaults: settings.defaultsOf(set.name, entry.name),
    stdinTaken,
    signal: ending,
  })
  if (withoutInput && origin === 'flags') return withoutInput()
  return (perform ?? callTool)({
    set,
    entry,
    single,
    specs: args.specs,
    input,
    origin,
    warnings,
    secrets,
    globals,
    presentation,
    caller,
    io,
    ending,
    observer: host.observer,
    timeout: earlier(globals.timeout ?? io.env['TOOLABLE_TIMEOUT'] ?? settings.timeout, io),
  })
}

// A runner ends its tool at DEADLINE_TS; the tool should know, and be done before.
function earlier(timeout: string | undefined, { env, now }: Io): string | undefined {
  const left = env['RUN_ID'] ? (Date.parse(env['DEADLINE_TS'] ?? '') - now()) / 1000 : Number.NaN
  if (
    Number.isNaN(left) ||
    (timeout !== undefined && toMilliseconds(timeout, 'timeout') <= left * 1000)
  )
    return timeout
  return String(Math.max(0.001, left))
}

async function gatherSecrets(
  { secretFiles }: Globals,
  io: Io,
  options: { readonly talksOnStdin: boolean; readonly signal: Stopping },
): Promise<{ readonly [name: string]: string }> {
  const laidOut = io.env['RUN_ID'] ? io.env['SECRETS_DIR'] : undefined
  if (secretFiles.length === 0 && !laidOut) return {}
  const { readLaidOutSecrets, readSecrets } = await import('./secrets.ts')
  return {
    ...(laidOut && readLaidOutSecrets(laidOut)),
    ...(await readSecrets(secretFiles, io, options)),
  }
}
