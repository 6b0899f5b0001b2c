/**
 * Who agrees and who answers: consent to destructive tools, how a tool gets a dry run, and the channels by which the questions of a run are answered (the person at the terminal, JSON lines on stdin, `toolable answer`).
 */

import { detectCaller } from '../../cli/caller.ts'
import { createTerminalAnswerer } from '../../cli/dialogue.ts'
import { cleanLine } from '../../cli/formats/terminal-text.ts'
import type { StdinLineReader } from '../../cli/input.ts'
import { createLineReader } from '../../cli/input.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { findReservedFields } from '../../core/context.ts'
import type { ByteSource, Io } from '../../protocol/io.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import type { FoundProgram } from '../../registry/source.ts'
import type { Registry } from '../../registry/types.ts'
import { createFolderChannel, createLineChannel } from '../../runner/answer-channels.ts'
import type { AnswerChannel, RunQuestion } from '../../runner/questions.ts'
import type { RunArguments } from '../../runner/request.ts'
import { takesDocument } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { SerialQueue } from '../../util/async.ts'
import { isObject } from '../../util/values.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { getLoadedWorkflow } from '../../workflow/lookup.ts'
import { deriveAnnotations } from '../../workflow/registry-source.ts'
import type { OutputContext } from '../command.ts'
import { PERSON_NAME } from '../command.ts'

/** How a tool is to be run. */
export type RunMode = { readonly agreed: boolean; readonly dryRun: boolean }

/**
 * The ways in which a tool hears that it should only plan: as a call does, by a flag of our own
 * programs, by a field of its input.
 */
type DryRunMethod =
  | { readonly by: 'call' }
  | { readonly by: 'flag' }
  | { readonly by: 'field'; readonly field: string }

/** How a tool gets a dry run; undefined where it has none, and would act. */
export async function findDryRunMethod(
  { definition, found }: Pick<RegistryEntry, 'definition' | 'found'>,
  program: FoundProgram | undefined,
): Promise<DryRunMethod | undefined> {
  // The fields of a workflow are its own, whatever they are called.
  if (getLoadedWorkflow(found)) return undefined
  const { form, stdin, warm } = program?.call ?? {}
  if (form === 'toolable' && (stdin || warm)) return { by: 'flag' }
  const {
    manifest: { inputSchema, dryRun },
  } = await definition.compiled()
  const field = findReservedFields(inputSchema).dryRun
  const properties = isObject(inputSchema['properties']) ? inputSchema['properties'] : {}
  const declared = field === undefined ? undefined : properties[field]
  if (field !== undefined && isObject(declared) && declared['type'] === 'boolean')
    return { by: 'field', field }
  return !program && dryRun ? { by: 'call' } : undefined
}

/**
 * What a tool is given, with consent and the wish for a dry run in the way in which it hears of
 * them. Throws PRECONDITION for a dry run that it could not hear of: it would act.
 */
export async function applyRunMode(
  given: RunArguments,
  entry: RegistryEntry,
  program: FoundProgram | undefined,
  { agreed, dryRun }: RunMode,
): Promise<RunArguments> {
  if (!dryRun) return agreed && program?.call.destructive ? addArgument(given, '--yes') : given
  const way = await findDryRunMethod(entry, program)
  // What is called and knows no dry run is not called at all, and says what it would have got.
  if (way?.by === 'call' || (!way && !program && !getLoadedWorkflow(entry.found))) return given
  if (way?.by === 'flag') return addArgument(given, '--dry-run')
  if (way)
    return takesDocument(program?.call)
      ? { ...given, input: { ...given.input, [way.field]: true } }
      : addArgument(given, toFieldFlag(way.field, program))
  throw createNoDryRunError(entry)
}

/** That a tool has no dry run. */
export function createNoDryRunError({ name, found }: RegistryEntry): ToolError {
  return new ToolError(
    'PRECONDITION',
    `'${name}' has no dry run: it could not be told, and would act`,
    {
      field: 'dry_run',
      recoverable: false,
      suggestion: getLoadedWorkflow(found)
        ? `toolable workflow plan ${name}`
        : 'Leave the dry run out, or give it an input that does no harm',
    },
  )
}

/**
 * Refuses a dry run of a command that resumes runs, whose attempts have none. Throws PRECONDITION.
 */
export function rejectDryResume(
  command: 'resume' | 'workflow resume',
  dryRun: boolean | undefined,
): void {
  if (dryRun)
    throw new ToolError(
      'PRECONDITION',
      `'${command}' has no dry run: what it goes on with could not be told, and would act`,
      {
        field: 'dry_run',
        recoverable: false,
        suggestion: 'toolable runs show <run> tells how far it is',
      },
    )
}

/** What needs consent where it is destructive. */
type ConsentRequest = {
  readonly name: string
  readonly destructive: boolean
  /** How the command takes consent; default: as `toolable run` does. */
  readonly agreeing?: { readonly fix: string; readonly example: string }
}

/** Asks for consent to a tool. */
export function toConsentRequest({ name, definition }: RegistryEntry): ConsentRequest {
  return { name, destructive: definition.metadata.annotations.destructive === true }
}

/** Asks for consent to a workflow: one destructive tool makes it destructive, for all of its steps. */
export function toWorkflowConsentRequest(
  workflow: Workflow,
  registry: Pick<Registry, 'find'>,
): ConsentRequest {
  const { destructive } = deriveAnnotations(workflow, (tool) => registry.find(tool))
  return {
    name: workflow.name,
    destructive: destructive === true,
    agreeing: { fix: 'Say --yes', example: `toolable workflow run ${workflow.name} --yes ...` },
  }
}

/** Refuses a destructive tool without consent. Throws CONFIRMATION_REQUIRED. */
export function requireConsent(
  {
    name,
    destructive,
    agreeing = {
      fix: 'Say --yes before the name of the tool',
      example: `toolable run --yes ${name} ...`,
    },
  }: ConsentRequest,
  { agreed, dryRun }: RunMode,
): void {
  if (agreed || dryRun || !destructive) return
  throw new ToolError(
    'CONFIRMATION_REQUIRED',
    `'${name}' is destructive, and nobody has agreed to it`,
    {
      suggestion: {
        action: 'retry_with_modified_input',
        ...agreeing,
        applicability: 'has_placeholders',
      },
    },
  )
}

function addArgument(given: RunArguments, word: string): RunArguments {
  return given.args.includes(word) ? given : { ...given, args: [...given.args, word] }
}

function toFieldFlag(field: string, program: FoundProgram | undefined): string {
  return (
    program?.call.program?.fields.find((one) => one.field === field)?.flag ??
    `--${field.replaceAll('_', '-')}`
  )
}

/**
 * Requires consent to something destructive: `--yes`, or a person at this terminal, who is asked.
 * Throws PERMISSION where the person declines, CONFIRMATION_REQUIRED where there is none.
 */
export async function obtainConsent(
  wanted: ConsentRequest,
  mode: RunMode,
  { io, host }: Pick<BuiltinContext, 'io' | 'host'>,
): Promise<void> {
  if (!wanted.destructive || mode.agreed || mode.dryRun || !isPerson(io))
    return requireConsent(wanted, mode)
  const { name } = wanted
  const agreed = await createTerminalAnswerer(getLineReader(io.stdin), io.stderr)(
    { id: 'consent', kind: 'confirm', prompt: `${name} is destructive. Run it?`, default: false },
    host.signal,
  )
  if (agreed === false)
    throw new ToolError('PERMISSION', `'${name}' was not run: its confirmation was declined`, {
      suggestion: { action: 'abort', fix: 'Do not run it again unless the user asks for it' },
    })
  requireConsent(wanted, { ...mode, agreed: agreed === true })
}

/**
 * What is written and typed while a person is asked; `forget` where something else was written
 * there too, or it has to stay.
 */
type TerminalDialogue = { wrote(text: string): void; typed(line: string): void; forget(): void }

/**
 * Asks a person a question at the right moment and in the right place; `work` asks, and reports to
 * the dialogue, where there is one.
 */
export type AskPerson = (
  question: RunQuestion,
  signal: AbortSignal,
  work: (dialogue?: TerminalDialogue) => Promise<unknown>,
) => Promise<unknown>

/** Whether a person uses this terminal. */
export function isPerson({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY && stderr.isTTY && !detectCaller(env)
}

/** Who requests a run from this command line, for the record; undefined where it is unknown. */
export function getRunCaller(io: Io): string | undefined {
  return (
    detectCaller(io.env)?.name ??
    (io.stdin.isTTY || io.stdout.isTTY || io.stderr.isTTY ? 'person' : undefined)
  )
}

/**
 * Who answers the questions of a run in the foreground: a person at the terminal, else the caller
 * by JSON lines; and `toolable answer`, for which a run waits with `wait` and in a session.
 */
export function openAnswerChannels(
  paths: RunPaths,
  { io, globals }: OutputContext,
  wait: boolean,
  ask: AskPerson = (_question, _signal, work) => work(),
): AnswerChannel[] {
  const waits = wait || globals.session === true
  const folder = { ...createFolderChannel(paths.answers), passive: !waits }
  if (isPerson(io)) {
    const elsewhere = `nobody answers here any more; the run waits for: toolable answer ${paths.id} <value>`
    return [createPersonChannel(io, ask, waits ? elsewhere : undefined), folder]
  }
  if (io.stdin.taken || io.stdin.isTTY) return [folder]
  const lines = createLineChannel(io.stdin, (problem) => io.stderr.write(`${cleanLine(problem)}\n`))
  return [lines, folder]
}

// Stdin has one owner, so all questions share one reader.
const lineReaders = new WeakMap<ByteSource, StdinLineReader>()

/** The lines that a person types, for all who ask him something. */
function getLineReader(stdin: ByteSource): StdinLineReader {
  const lines = lineReaders.get(stdin) ?? createLineReader(stdin)
  lineReaders.set(stdin, lines)
  return lines
}

// `elsewhere` says how others answer, where the run waits for them.
function createPersonChannel(
  io: Io,
  askPerson: AskPerson,
  elsewhere: string | undefined,
): AnswerChannel {
  const lines = getLineReader(io.stdin)
  // A person who is asked two things at the same time cannot know which one they answer.
  const queue = new SerialQueue()
  let gone = false
  const put = async (
    question: RunQuestion,
    signal: AbortSignal,
    dialogue?: TerminalDialogue,
  ): Promise<unknown> => {
    const write = (text: string): void => {
      dialogue?.wrote(text)
      io.stderr.write(text)
    }
    const next: StdinLineReader['next'] = async (aborted) => {
      const line = await lines.next(aborted)
      if (line !== undefined) dialogue?.typed(line)
      else gone = true
      return line
    }
    const screen = await io.screen?.()
    const endStopping = screen?.onStop(
      () => dialogue?.forget(),
      () => undefined,
    )
    const value = await Promise.resolve(
      createTerminalAnswerer({ next }, { write }, screen)(question, signal),
    )
      .catch(() => undefined)
      .finally(endStopping)
    if (gone && elsewhere !== undefined) {
      dialogue?.forget()
      write(`${elsewhere}\n`)
    }
    return value
  }
  return {
    name: PERSON_NAME,
    async answer(question, signal, problem) {
      const value = await queue.run(() => {
        // After the end of input there are no more answers.
        if (signal.aborted || gone) return undefined
        const asked = problem === undefined ? question : { ...question, problem }
        return askPerson(question, signal, (dialogue) => put(asked, signal, dialogue))
      })
      return value === undefined ? undefined : { value }
    },
  }
}
