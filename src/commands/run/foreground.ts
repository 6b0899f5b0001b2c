/**
 * Performs a run while its caller watches: events as JSON lines for programs, words or a tree for people.
 */

import type { TextPainter } from '../../cli/formats/terminal-text.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { Io } from '../../protocol/io.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import type { RunHost } from '../../runner/run-target.ts'
import { compact, isObject, once } from '../../util/values.ts'
import { getMessage } from '../../views/model/event-text.ts'
import { findResumeCommand } from '../../workflow/lookup.ts'
import type { ProgressStyle } from '../command.ts'
import { isTextOutput, PERSON_NAME } from '../command.ts'
import type { LinePrinter } from '../runs/event-lines.ts'
import { createLinePrinter, renderFact } from '../runs/event-lines.ts'
import type { AskPerson } from './consent.ts'
import { isPerson, openAnswerChannels } from './consent.ts'
import type { RunPerformer } from './supervise.ts'
import { prepareHost } from './supervise.ts'
import type { TreeView } from './terminal-views.ts'
import type { RunViewPart, ViewedRun } from './view-parts.ts'
import {
  createResumedSummary,
  createShownQuestions,
  getQuestionId,
  listKeptFiles,
  parseEventLines,
} from './view-parts.ts'

type ForegroundOptions = RunPerformer & {
  /** Wait for answers from elsewhere also where no one here can answer. */
  readonly wait: boolean
  readonly progress: ProgressStyle
  readonly resumedBy?: 'resume'
  /** Only a question about the tool, such as `--help`. */
  readonly asks?: boolean
}

/**
 * Performs a run while its caller watches: events as JSON lines for agents, words for people; gives
 * the exit status.
 */
export async function runInForeground(
  paths: RunPaths,
  request: RunRequest,
  { registry, start, wait, progress, resumedBy, asks = false }: ForegroundOptions,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  prepareHost(host, request)
  const secrets = await readStdinSecrets(request, io, host.signal)
  const view = await openRunView(
    { paths, request, io, globals, person: isPerson(io), resumed: resumedBy !== undefined },
    { progress, bare: asks },
  )
  try {
    const ending = await performRun(
      paths,
      request,
      compact({
        env: io.env,
        registry,
        start,
        channels: openAnswerChannels(paths, context, wait, view.ask),
        onWritten: view.show,
        signal: host.signal,
        secrets,
        resumedBy,
      }),
    )
    io.stdin.close()
    await view.sumUp()
    return ending.rc
  } finally {
    await view.close()
  }
}

// The path `-` of a secret is stdin, which then answers nothing.
async function readStdinSecrets(
  { secrets = {} }: RunRequest,
  io: Io,
  signal: AbortSignal,
): Promise<RunHost['secrets']> {
  const names = Object.keys(secrets).filter((name) => secrets[name] === '-')
  if (names.length === 0) return undefined
  const { readSecrets } = await import('../../cli/secrets.ts')
  return readSecrets(
    names.map((name) => `${name}=-`),
    io,
    { talksOnStdin: false, signal },
  )
}

/** What is seen of a run in the foreground. */
type RunView = {
  show(lines: string): Promise<void>
  readonly ask?: AskPerson
  sumUp(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the view of a run: what stdout carries, and what is shown beside it. With `bare`, only the
 * words of the tool are shown, for a question such as `--help`.
 */
export async function openRunView(
  run: ViewedRun,
  { progress, bare }: { readonly progress: ProgressStyle; readonly bare: boolean },
): Promise<RunView> {
  const { io } = run
  const forPeople = isTextOutput(run)
  const tree = progress === 'tree' && !bare ? await openTree(run, forPeople) : undefined
  const parts: readonly RunViewPart[] = [
    ...(forPeople ? await openStdoutParts(run, progress, bare) : [createRecordPart(io.stdout)]),
    ...(bare ? [] : openStderrParts(run, progress)),
  ]
  const show = async (lines: string): Promise<void> => {
    const events = once(() => parseEventLines(lines))
    for (const part of parts) await part.show(lines, events)
    await tree?.show(lines, events)
  }
  const ask = tree?.ask ?? parts.find((part) => part.ask)?.ask
  return {
    // Two that write on one terminal take turns.
    show: (lines) =>
      tree && parts.length > 0 && io.stdout.isTTY ? tree.aside(() => show(lines)) : show(lines),
    ...compact({ ask }),
    async sumUp() {
      for (const part of parts) await part.sumUp?.()
      await tree?.sumUp()
    },
    close: async () => tree?.close(),
  }
}

async function openTree(run: ViewedRun, forPeople: boolean): Promise<TreeView> {
  const { openTreeView } = await import('./terminal-views.ts')
  return openTreeView(run, { result: forPeople && run.io.stdout.isTTY })
}

// At a terminal a tree, or nothing, leaves stdout to the result.
async function openStdoutParts(
  run: ViewedRun,
  progress: ProgressStyle,
  bare: boolean,
): Promise<readonly RunViewPart[]> {
  if (bare || progress === 'words' || (progress === 'tree' && !run.io.stdout.isTTY))
    return [createWordsView(run, createLinePrinter(run), bare)]
  if (progress === 'tree') return []
  return [await (await import('./terminal-views.ts')).openResultView(run)]
}

function openStderrParts(run: ViewedRun, progress: ProgressStyle): readonly RunViewPart[] {
  if (progress === 'events-beside') return [createRecordPart(run.io.stderr)]
  if (progress !== 'words-beside') return []
  return [createWordsView(run, createLinePrinter(run, { beside: true }), false)]
}

// What is on record is shown to programs as it stands there.
function createRecordPart(sink: Io['stdout']): RunViewPart {
  return { show: (lines) => sink.send(lines) }
}

const MAX_ARTIFACTS = 10

/** A run as lines of words, one for each thing that happens. */
function createWordsView(
  { paths, request, io, globals, person }: ViewedRun,
  printer: LinePrinter,
  bare: boolean,
): RunViewPart {
  const summary = createResumedSummary(request)
  const questions = createShownQuestions()
  const asked = new Map<string, RunEvent>()
  return {
    async show(_lines, read) {
      const events = read()
      events.forEach(summary.add)
      try {
        if (bare) await printer.text(paths.id, 'stdout', events.flatMap(toPlainLines))
        else
          await printer.events(
            person ? events.flatMap((event) => hideOwnDialogue(event, asked)) : events,
          )
      } finally {
        questions.addShown(events)
      }
    },
    // What came before a question is shown before it.
    async ask({ id }, signal, work) {
      await questions.untilShown(id, signal)
      return work()
    },
    async sumUp() {
      if (bare) return
      const run = summary.current()
      const goOn = await findResumeCommand(paths, request, run)
      const files = listKeptFiles(run, paths, io.cwd)
      const isBrief = globals.quiet && run.state === 'completed'
      const details = isBrief ? undefined : `toolable runs show ${paths.id}`
      await printer.words((paint) => renderLastLines(files, details, goOn, paint))
    },
  }
}

function renderLastLines(
  files: ReturnType<typeof listKeptFiles>,
  details: string | undefined,
  goOn: string | undefined,
  paint: TextPainter,
): readonly string[] {
  const saved = files
    .slice(0, MAX_ARTIFACTS)
    .map(({ path, bytes }) => (bytes === undefined ? path : `${path} (${bytes} bytes)`))
  if (files.length > MAX_ARTIFACTS) saved.push(`and ${files.length - MAX_ARTIFACTS} more`)
  return [
    ...saved.map((text) => renderFact('saved', text, paint)),
    ...(details === undefined ? [] : [renderFact('details', details, paint)]),
    ...(goOn === undefined ? [] : [renderFact('go on', goOn, paint)]),
  ]
}

function toPlainLines(event: RunEvent): readonly string[] {
  if (event.type === 'log' || event.type === 'runner_error') return [getMessage(event) ?? '']
  return event.type === 'diagnostic' && typeof event['line'] === 'string' ? [event['line']] : []
}

// A person who is asked at the terminal sees the question there, and knows the answer; where
// someone else answers, both are new.
function hideOwnDialogue(event: RunEvent, asked: Map<string, RunEvent>): readonly RunEvent[] {
  const id = getQuestionId(event)
  if (id !== undefined) return (asked.set(id, event), [])
  const { answer } = event
  if (event.type !== 'runner_log' || !isObject(answer)) return [event]
  const question = asked.get(String(answer['id']))
  asked.delete(String(answer['id']))
  if (answer['by'] === PERSON_NAME) return []
  return question ? [question, event] : [event]
}
