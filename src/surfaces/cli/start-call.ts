import type { Io } from '../../contract/io.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { Toolset } from '../toolset-type.ts'
import type { Globals } from './argv/globals.ts'
import { callTool } from './call-tool.ts'
import { findCaller } from './caller.ts'
import type { Host } from './host.ts'
import { choosePresentation } from './mode.ts'
import { readInput } from './request.ts'
import type { ToolArguments } from './request.ts'
import { readSettings } from './settings.ts'
import { redirectStrayOutput } from './stray-output.ts'

/** Reads the input of one tool call and runs it; gives the exit status. `withoutInput` is done instead when no JSON came. */
export async function startCall(set: Toolset, entry: ToolEntry, single: boolean, args: ToolArguments, globals: Globals, io: Io, host: Host, withoutInput?: () => Promise<number>): Promise<number> {
  const settings = await readSettings(io)
  const caller = findCaller(io.env)
  const presentation = choosePresentation(globals, io, caller, settings, set.options.defaultOutput)
  host.prepareForTools(redirectStrayOutput)
  const talksOnStdin = globals.session === true || globals.sampleVia === 'stdin'
  const secrets = globals.secretFiles.length > 0 ? await (await import('./secrets.ts')).readSecrets(globals.secretFiles, io, { talksOnStdin, signal: host.signal }) : {}
  const stdinTaken = talksOnStdin || io.stdin.taken
  const { input, origin, warnings } = await readInput(args, globals, io, { defaults: settings.defaultsOf(set.name, entry.name), stdinTaken, signal: host.signal })
  if (withoutInput && origin === 'flags') return withoutInput()
  return callTool({
    set, entry, single, specs: args.specs, input, origin, warnings, secrets, globals, presentation, caller, io,
    signal: host.signal,
    timeout: globals.timeout ?? io.env['TOOLABLE_TIMEOUT'] ?? settings.timeout,
  })
}
