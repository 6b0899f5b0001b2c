/**
 * `toolable run`: runs a tool under the runner.
 *
 * consent.ts asks for consent, passes on `--dry-run` and says who answers questions; create-run.ts reads flags and creates the run; foreground.ts performs it while its caller watches; supervise.ts performs it in the background.
 */

import type { ParsedCommand } from '../../cli/command.ts'
import { printHelp } from '../../cli/documents.ts'
import { readInput } from '../../cli/input.ts'
import type { CommandHost } from '../../cli/types.ts'
import type { Servable } from '../../core/provider.ts'
import { parseToolArguments } from '../../define/tool-arguments.ts'
import { isInfoRequest } from '../../process/inputs.ts'
import type { Io } from '../../protocol/io.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import type { FoundProgram } from '../../registry/source.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunArguments } from '../../runner/request.ts'
import { takesDocument } from '../../runner/request.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { getLoadedWorkflow } from '../../workflow/lookup.ts'
import { chooseProgress } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { pickRegistryFlags, withRegistry } from '../config.ts'
import { createSingleToolView, readOwnFlags } from '../tool-arguments.ts'
import { applyRunMode, getRunCaller, obtainConsent } from './consent.ts'
import type { RunFlags } from './create-run.ts'
import {
  createRunOnce,
  detachRun,
  parseRunOptions,
  prepareRun,
  requireDetachable,
} from './create-run.ts'
import { runInForeground } from './foreground.ts'

type RunCommand = ParsedCommand & { kind: 'tool' }

/** Runs a tool of the registry under the runner; gives the exit status. */
export async function runRunCommand(
  program: Servable,
  command: RunCommand,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const { flags, name, rest, problem } = readOwnFlags<RunFlags & RegistryFlags>(command, io)
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
  const surroundings = pickRegistryFlags(flags)
  const root = findRunsFolder(io.cwd, flags.config)
  await recoverRuns(root)
  return withRegistry(surroundings, io, async (registry) => {
    const entry = registry.find(name) as RegistryEntry | undefined
    // Fails, and says which was meant.
    if (!entry) return (await registry.describe(name), 1)
    await registry.prepare?.()
    const found = await entry.found.program?.()
    const asks = await isOnlyQuestion(entry, found, rest)
    // What takes a document has no flags of its own.
    if (asks && takesDocument(found?.call))
      return printToolHelp(createSingleToolView(registry, entry, 'run'), globals, io)
    const subject = selftest
      ? toSelftestProgram(found, name)
      : asks && found
        ? asPlainProgram(found, [])
        : found
    const read = await readToolInput(entry, subject, selftest ? [] : rest, globals, io, host)
    const manner = { agreed: globals.yes === true, dryRun: globals.dryRun === true }
    // A program of ours asks by itself, in its own words.
    if (subject?.call.form !== 'toolable')
      await obtainConsent(
        {
          name: entry.name,
          destructive: entry.definition.metadata.annotations.destructive === true,
        },
        manner,
        io,
        host.signal,
      )
    const given = selftest || asks ? read : await applyRunMode(read, entry, subject, manner)
    const options = {
      ...parseRunOptions(flags, globals, io.cwd),
      surroundings,
      caller: getRunCaller(io),
    }
    if (detach) requireDetachable(options)
    const { request: asked, start } = await prepareRun(
      {
        entry,
        program: subject,
        given,
        options,
        dryRun: manner.dryRun,
        workflow: getLoadedWorkflow(entry.found),
      },
      io,
    )
    const keyed = await createRunOnce(
      root,
      asked,
      selftest || asks || manner.dryRun ? undefined : globals.idempotencyKey,
    )
    if (keyed.is !== 'new')
      return (await import('../control/resume.ts')).joinEarlierRun(
        keyed,
        { flags, progress },
        io,
        host,
        globals,
      )
    const { paths, request } = keyed
    if (detach) return detachRun(paths, request, io, host, globals)
    return runInForeground(
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

function printToolHelp(view: Servable, globals: RunCommand['globals'], io: Io): Promise<number> {
  return printHelp(
    view,
    { globals, builtin: true, kind: 'tool', entry: view.entries[0]!, single: false, tokens: [] },
    io,
  )
}

// What speaks by arguments gets them as they are; what wants one document gets one, whichever way
// the user writes it.
async function readToolInput(
  entry: RegistryEntry,
  program: FoundProgram | undefined,
  rest: readonly string[],
  globals: RunCommand['globals'],
  io: Io,
  host: CommandHost,
): Promise<RunArguments> {
  if (!takesDocument(program?.call)) return { args: rest }
  const args = await parseToolArguments(entry.definition, rest, globals, false)
  if (args.problem) throw args.problem
  const { input } = await readInput(args, globals, io, { stdinTaken: false, signal: host.signal })
  return { args: rest, input: input as { readonly [field: string]: unknown } }
}

function toSelftestProgram(program: FoundProgram | undefined, name: string): FoundProgram {
  const { selftest } = program ?? {}
  if (!program || !selftest)
    throw new ToolError('NOT_FOUND', `the tool '${name}' has no self-test`, {
      suggestion: "Add health: {selftest: ['--selftest']} to its manifest",
    })
  return asPlainProgram(program, selftest)
}

// Whoever asks about a tool hears what it prints, which is no run protocol.
function asPlainProgram(program: FoundProgram, words: readonly string[]): FoundProgram {
  const [first, ...others] = program.call.command
  return {
    ...program,
    call: { ...program.call, form: 'program', command: [first, ...others, ...words] },
  }
}

// Of tools that take a document only their help can be told; everything else is for the program
// itself.
async function isOnlyQuestion(
  entry: RegistryEntry,
  program: FoundProgram | undefined,
  args: readonly string[],
): Promise<boolean> {
  if (takesDocument(program?.call))
    return args.length === 1 && (args[0] === '--help' || args[0] === '-h')
  return isInfoRequest(
    args,
    (await entry.definition.compiled()).manifest.inputSchema,
    program?.selftest ? [program.selftest] : [],
  )
}
