import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Servable } from '../../call/servable.ts'
import type { Entry } from '../../registry/entry.ts'
import type { FoundProgram } from '../../registry/found.ts'
import { recover } from '../../runner/folder/recover.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { isQuestion } from '../../process/inputs/is-question.ts'
import { takesDocument } from '../../runner/given-of.ts'
import type { Given } from '../../runner/make-request.ts'
import type { Command } from '../../surfaces/cli/argv/command.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { printHelp } from '../../surfaces/cli/print-help.ts'
import { readInput, scanTool } from '../../surfaces/cli/request.ts'
import type { Surroundings } from '../config/load.ts'
import { chooseProgress } from '../progress/progress-flag.ts'
import { readOwnFlags } from '../own-flags.ts'
import { workflowOf } from '../../workflow/source/workflow-of.ts'
import { withRegistry } from '../with-registry.ts'
import { oneToolView } from '../call/one-tool-view.ts'
import { callerOf } from './channels.ts'
import { createOnce } from './claim-key.ts'
import { inManner } from './consent.ts'
import { startDetachedRun } from './detach.ts'
import { followInForeground } from './foreground.ts'
import { checkDetachable } from './hand-over.ts'
import { makeRun } from './make-run.ts'
import { obtainConsent } from './obtain-consent.ts'
import { readRunOptions } from './request.ts'
import type { RunFlags } from './request.ts'
import { surroundingsOf } from './surroundings.ts'

type ToolCommand = Command & { kind: 'tool' }

/** Runs a tool of the registry under the runner; gives the exit status. */
export async function runRun(
  program: Servable,
  command: ToolCommand,
  io: Io,
  host: Host,
): Promise<number> {
  const { flags, name, rest, problem } = readOwnFlags<RunFlags & Surroundings>(command, io)
  const { globals } = command
  if (globals.help) return printHelp(program, command, io)
  const wrong = command.problem ?? problem
  if (wrong) throw wrong
  if (name === undefined)
    throw new ToolError('MISSING_PARAM', 'tool is missing', {
      field: 'tool',
      suggestion: {
        fix: 'Name the tool to run; toolable list shows them',
        example: 'toolable run <tool> ...',
        applicability: 'has_placeholders',
      },
    })
  const { detach, wait, selftest } = flags
  const progress = chooseProgress(flags.progress, globals, io)
  const surroundings = surroundingsOf(flags)
  const root = findRunsFolder(io.cwd, flags.config)
  await recover(root)
  return withRegistry(surroundings, io, async (registry) => {
    const entry = registry.find(name) as Entry | undefined
    // Fails, and says which was meant.
    if (!entry) return (await registry.describe(name), 1)
    await registry.prepare?.()
    const found = await entry.found.program?.()
    const asks = await asksOnly(entry, found, rest)
    // What takes a document has no flags of its own.
    if (asks && takesDocument(found?.call))
      return printToolHelp(oneToolView(registry, entry, 'run'), globals, io)
    const subject = selftest ? selftestOf(found, name) : asks && found ? plainly(found, []) : found
    const read = await readGiven(entry, subject, selftest ? [] : rest, globals, io, host)
    const manner = { agreed: globals.yes === true, dryRun: globals.dryRun === true }
    // A program of ours asks by itself, in its own words.
    if (subject?.call.form !== 'toolable')
      await obtainConsent(
        { name: entry.name, destructive: entry.definition.facts.annotations.destructive === true },
        manner,
        io,
        host.signal,
      )
    const given = selftest || asks ? read : await inManner(read, entry, subject, manner)
    const options = {
      ...readRunOptions(flags, globals, io.cwd),
      surroundings,
      caller: callerOf(io),
    }
    if (detach) checkDetachable(options)
    const { request: asked, start } = await makeRun(
      {
        entry,
        program: subject,
        given,
        options,
        dryRun: manner.dryRun,
        workflow: workflowOf(entry.found),
      },
      io,
    )
    const keyed = await createOnce(
      root,
      asked,
      selftest || asks || manner.dryRun ? undefined : globals.idempotencyKey,
    )
    if (keyed.is !== 'new')
      return (await import('./join-earlier.ts')).joinEarlier(
        keyed,
        { flags, progress },
        io,
        host,
        globals,
      )
    const { paths, request } = keyed
    if (detach) return startDetachedRun(paths, request, io, host, globals)
    return followInForeground(
      paths,
      request,
      {
        ...(start ? { start: start(paths, request, registry) } : { registry }),
        wait: wait === true,
        progress,
        asks,
      },
      io,
      host,
      globals,
    )
  })
}

function printToolHelp(view: Servable, globals: ToolCommand['globals'], io: Io): Promise<number> {
  return printHelp(
    view,
    { globals, builtin: true, kind: 'tool', entry: view.entries[0]!, single: false, tokens: [] },
    io,
  )
}

// What speaks by arguments gets them as they are; what wants one document gets one, whichever way the user writes it.
async function readGiven(
  entry: Entry,
  program: FoundProgram | undefined,
  rest: readonly string[],
  globals: ToolCommand['globals'],
  io: Io,
  host: Host,
): Promise<Given> {
  if (!takesDocument(program?.call)) return { args: rest }
  const args = await scanTool(entry, rest, globals, false)
  if (args.problem) throw args.problem
  const { input } = await readInput(args, globals, io, { stdinTaken: false, signal: host.signal })
  return { args: rest, input: input as { readonly [field: string]: unknown } }
}

function selftestOf(program: FoundProgram | undefined, name: string): FoundProgram {
  const { selftest } = program ?? {}
  if (!program || !selftest)
    throw new ToolError('NOT_FOUND', `the tool '${name}' has no self-test`, {
      suggestion: "Add health: {selftest: ['--selftest']} to its manifest",
    })
  return plainly(program, selftest)
}

// Whoever asks about a tool hears what it prints, which is no run protocol.
function plainly(program: FoundProgram, words: readonly string[]): FoundProgram {
  const [first, ...others] = program.call.command
  return {
    ...program,
    call: { ...program.call, form: 'program', command: [first, ...others, ...words] },
  }
}

// Of tools that take a document only their help can be told; everything else is for the program itself.
async function asksOnly(
  entry: Entry,
  program: FoundProgram | undefined,
  args: readonly string[],
): Promise<boolean> {
  if (takesDocument(program?.call))
    return args.length === 1 && (args[0] === '--help' || args[0] === '-h')
  return isQuestion(
    args,
    (await entry.definition.compiled()).manifest.inputSchema,
    program?.selftest ? [program.selftest] : [],
  )
}
