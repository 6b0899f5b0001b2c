/**
 * `toolable run`: runs a tool under the runner.
 *
 * consent.ts asks for consent, passes on `--dry-run` and says who answers questions; create-run.ts reads flags and creates the run; foreground.ts performs it while its caller watches; supervise.ts performs it in the background.
 */

import { printHelp } from '../../cli/documents.ts'
import { readInput } from '../../cli/input.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { parseToolArguments } from '../../define/tool-arguments.ts'
import { isInfoRequest } from '../../process/inputs.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import type { FoundProgram } from '../../registry/source.ts'
import type { Registry } from '../../registry/types.ts'
import { isRunLive } from '../../runner/lock.ts'
import { followLines } from '../../runner/log-reader.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunArguments, RunRequest } from '../../runner/request.ts'
import { takesDocument } from '../../runner/request.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { getExitStatus, readRunSummary } from '../../runner/summary.ts'
import { getLoadedWorkflow } from '../../workflow/lookup.ts'
import {
  createInvocation,
  createMissingToolError,
  createSingleToolView,
  readNamedCommandLine,
} from '../call.ts'
import type { ProgressStyle, ToolInvocation } from '../command.ts'
import { chooseProgress, printResult } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { pickRegistryFlags, withRegistry } from '../config.ts'
import { applyRunMode, getRunCaller, obtainConsent, toConsentRequest } from './consent.ts'
import type { RunFlags, RunForKey } from './create-run.ts'
import {
  createRunOnce,
  detachRun,
  parseRunOptions,
  prepareRun,
  requireDetachable,
} from './create-run.ts'
import { openRunView, runInForeground } from './foreground.ts'
import { createRunPerformer } from './supervise.ts'

/** Runs a tool of the registry under the runner; gives the exit status. */
export async function runRun(command: ToolInvocation, context: BuiltinContext): Promise<number> {
  const line = await readNamedCommandLine<RunFlags & RegistryFlags>(command, context, () =>
    createMissingToolError('run', 'toolable run <tool> ...'),
  )
  if (!line) return 0
  const { flags, name, rest } = line
  const { io, globals } = context
  const { detach, selftest } = flags
  const progress = chooseProgress(flags.progress, context)
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
    // A tool that takes a document has no flags.
    if (asks && takesDocument(found?.call)) {
      const view = createSingleToolView(registry, entry, 'run')
      return printHelp(view, createInvocation(view, globals, []), io)
    }
    const program = choosePlainProgram(found, name, { asks, selftest })
    const read = await readToolInput(entry, program, selftest ? [] : rest, context)
    const mode = { agreed: globals.yes === true, dryRun: globals.dryRun === true }
    // A program of ours asks by itself, in its own words.
    if (program?.call.form !== 'toolable')
      await obtainConsent(toConsentRequest(entry), mode, context)
    const given = selftest || asks ? read : await applyRunMode(read, entry, program, mode)
    const options = {
      ...parseRunOptions(flags, globals, io.cwd),
      surroundings,
      caller: getRunCaller(io),
    }
    if (detach) requireDetachable(options)
    const { dryRun } = mode
    const workflow = getLoadedWorkflow(entry.found)
    const request = await prepareRun({ entry, program, given, options, dryRun, workflow }, io)
    const key = selftest || asks || dryRun ? undefined : globals.idempotencyKey
    return startOrJoinRun({ root, request, key, flags, progress, asks, registry }, context)
  })
}

type RunStart = {
  readonly root: string
  readonly request: RunRequest
  /** The idempotency key. */
  readonly key: string | undefined
  readonly flags: RunFlags & { readonly config?: string }
  readonly progress: ProgressStyle
  /** Only a question about the tool, such as `--help`. */
  readonly asks?: boolean
  /** Undefined for what a server executes. */
  readonly registry?: Registry
}

/**
 * Records a run and performs it, in the background with `--detach`; where its idempotency key was
 * used before, joins that run. Gives the exit status.
 */
export async function startOrJoinRun(
  { root, request: asked, key, flags, progress, asks = false, registry }: RunStart,
  context: BuiltinContext,
): Promise<number> {
  const keyed = await createRunOnce(root, asked, key)
  if (keyed.is !== 'new') return joinEarlierRun(keyed, flags, progress, context)
  const { paths, request } = keyed
  if (flags.detach) return detachRun(paths, request, context)
  const performer = await createRunPerformer(request, paths, registry, context.io)
  const options = { ...performer, wait: flags.wait === true, progress, asks }
  return runInForeground(paths, request, options, context)
}

// Shows the record of a run with the same key from its beginning until it is over; a workflow that
// was left on its way is resumed.
async function joinEarlierRun(
  { is, paths, request }: RunForKey,
  flags: RunFlags & { readonly config?: string },
  progress: ProgressStyle,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  const { id, folder } = paths
  const note =
    is === 'left'
      ? `${id} was begun with the same idempotency key, and goes on`
      : `answered from an earlier run with the same idempotency key: ${id}`
  if (!globals.quiet) io.stderr.write(`${note}\n`)
  if (is === 'left') return (await import('../control/resume.ts')).resumeRun(id, flags, context)
  if (flags.detach) {
    const watch = `toolable watch ${id}`
    const cancel = `toolable cancel ${id}`
    printResult(
      context,
      `${id}; ${watch} shows it`,
      { run_id: id, folder, watch, cancel },
      { tool: 'toolable.run', run_id: id, duration_ms: 0, warnings: [note] },
    )
    return 0
  }
  const view = await openRunView(
    { paths, request, io, globals, person: false, resumed: false },
    { progress, bare: false },
  )
  try {
    for await (const lines of followLines(paths.events, {
      follow: true,
      isComplete: () => !isRunLive(paths),
      signal: host.signal,
    }))
      await view.show(`${lines.join('\n')}\n`)
    await view.sumUp()
    return getExitStatus(await readRunSummary(paths, request))
  } finally {
    await view.close()
  }
}

// A tool that takes arguments gets them as they are; one that takes a document gets one, however it
// was typed.
async function readToolInput(
  entry: RegistryEntry,
  program: FoundProgram | undefined,
  rest: readonly string[],
  { io, host, globals }: BuiltinContext,
): Promise<RunArguments> {
  if (!takesDocument(program?.call)) return { args: rest }
  const args = await parseToolArguments(entry.definition, rest, globals, false)
  if (args.problem) throw args.problem
  const { input } = await readInput(args, globals, io, { stdinTaken: false, signal: host.signal })
  return { args: rest, input: input as { readonly [field: string]: unknown } }
}

// A self-test, and a question about the tool, print text and not the protocol of runs.
function choosePlainProgram(
  program: FoundProgram | undefined,
  name: string,
  { asks, selftest }: { readonly asks: boolean; readonly selftest: boolean | undefined },
): FoundProgram | undefined {
  const words = selftest ? program?.selftest : []
  if (!words)
    throw new ToolError('NOT_FOUND', `the tool '${name}' has no self-test`, {
      suggestion: "Add health: {selftest: ['--selftest']} to its manifest",
    })
  if (!program || (!selftest && !asks)) return program
  const [first, ...others] = program.call.command
  const command = [first, ...others, ...words] as const
  return { ...program, call: { ...program.call, form: 'program', command } }
}

// A tool that takes a document can only be asked for its help; every other question is for the
// program itself.
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
