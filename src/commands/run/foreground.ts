/**
 * Performs a run while its caller watches: events as JSON lines for programs, words or a tree for people.
 */

import type { TextPainter } from '../../cli/formats/terminal-text.ts'
import { choosePresentation } from '../../cli/presentation.ts'
import type { CommandHost } from '../../cli/types.ts'
import type { GlobalFlags } from '../../define/global-flags.ts'
import type { Io } from '../../protocol/io.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import type { RunHost } from '../../runner/run-target.ts'
import { compact, isObject } from '../../util/values.ts'
import { getMessage } from '../../views/model/event-text.ts'
import type { RunSummary } from '../../views/model/run-summary.ts'
import { findResumeCommand } from '../../workflow/lookup.ts'
import type { ProgressStyle } from '../command.ts'
import { PERSON_NAME } from '../command.ts'
import type { LinePrinter } from '../runs/event-lines.ts'
import { createLinePrinter, renderFact } from '../runs/event-lines.ts'
import type { AskPerson } from './consent.ts'
import { isPerson, openAnswerChannels } from './consent.ts'
import type { RunPerformer } from './supervise.ts'
import { prepareHost } from './supervise.ts'
import type { RunViewPart, ViewedRun } from './view-parts.ts'
import {
  createResumedSummary,
  createShownQuestions,
  getQuestionId,
  listKeptFiles,
} from './view-parts.ts'

type ForegroundOptions = RunPerformer & {
  /** Wait for answers from elsewhere also where nobody here can answer. */ readonly wait: boolean
  readonly progress: ProgressStyle
  readonly resumedBy?: 'resume'
  /** Somebody only asks about the tool (`--help`). */ readonly asks?: boolean
}

/**
 * Performs a run while its caller looks on: events as JSON lines for agents, words for people;
 * gives the exit status.
 */
export async function runInForeground(
  paths: RunPaths,
  request: RunRequest,
  { registry, start, wait, progress, resumedBy, asks = false }: ForegroundOptions,
  io: Io,
  host: CommandHost,
  globals: GlobalFlags,
): Promise<number> {
  prepareHost(host, request)
  const secrets = await readStdinSecrets(request, io, host.signal)
  const view = await openRunView(
    { paths, request, io, globals, person: isPerson(io), resumed: resumedBy !== undefined },
    { progress, bare: asks },
  )
  try {
    const channels = openAnswerChannels(
      paths,
      io,
      { wait, session: globals.session === true },
      view.ask,
    )
    const ending = await performRun(
      paths,
      request,
      compact({
        env: io.env,
        registry,
        start,
        channels,
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
 * Opens the view of a run: what stdout carries, and what is shown beside it. With `bare`, somebody
 * has only asked about the tool, and sees its words alone.
 */
export async function openRunView(
  run: ViewedRun,
  { progress, bare }: { readonly progress: ProgressStyle; readonly bare: boolean },
): Promise<RunView> {
  const { io, globals } = run
  const forPeople = choosePresentation(globals, io).mode === 'text'
  const tree =
    progress === 'tree' && !bare
      ? await (
          await import('./tree-views.ts')
        ).openTreeView(run, { result: forPeople && io.stdout.isTTY })
      : undefined
  const parts: readonly RunViewPart[] = [
    ...(forPeople ? await openStdoutParts(run, progress, bare) : [createRecordPart(io.stdout)]),
    ...(bare ? [] : await openStderrParts(run, progress)),
  ]
  const show = async (lines: string): Promise<void> => {
    let read: readonly RunEvent[] | undefined
    const events = (): readonly RunEvent[] =>
      (read ??= lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as RunEvent))
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

// At a terminal a tree, or nothing, leaves stdout to the result.
async function openStdoutParts(
  run: ViewedRun,
  progress: ProgressStyle,
  bare: boolean,
): Promise<readonly RunViewPart[]> {
  const { io, globals } = run
  if (bare || progress === 'words' || (progress === 'tree' && !io.stdout.isTTY))
    return [createWordsView(run, createLinePrinter({ io, globals }), bare)]
  return progress === 'tree' ? [] : [await (await import('./result-view.ts')).openResultView(run)]
}

async function openStderrParts(
  run: ViewedRun,
  progress: ProgressStyle,
): Promise<readonly RunViewPart[]> {
  const { io, globals } = run
  if (progress === 'events-beside') return [createRecordPart(io.stderr)]
  return progress === 'words-beside'
    ? [createWordsView(run, createLinePrinter({ io, globals }, { beside: true }), false)]
    : []
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
    // Everything that came before a question stands before it.
    async ask({ id }, signal, work) {
      await questions.untilShown(id, signal)
      return work()
    },
    async sumUp() {
      if (bare) return
      const run = summary.current()
      const goOn = await findResumeCommand(paths, request, run)
      await printer.words((paint) =>
        renderLastLines(run, goOn, listKeptFiles(run, paths, io.cwd), paths, globals, paint),
      )
    },
  }
}

function renderLastLines(
  { state }: RunSummary,
  goOn: string | undefined,
  files: ReturnType<typeof listKeptFiles>,
  { id }: RunPaths,
  globals: GlobalFlags,
  paint: TextPainter,
): readonly string[] {
  return [
    ...files
      .slice(0, MAX_ARTIFACTS)
      .map(({ path, bytes }) =>
        renderFact('saved', `${path}${bytes === undefined ? '' : ` (${bytes} bytes)`}`, paint),
      ),
    ...(files.length > MAX_ARTIFACTS
      ? [renderFact('saved', `and ${files.length - MAX_ARTIFACTS} more`, paint)]
      : []),
    ...(globals.quiet && state === 'completed'
      ? []
      : [renderFact('details', `toolable runs show ${id}`, paint)]),
    ...(goOn === undefined ? [] : [renderFact('go on', goOn, paint)]),
  ]
}

function toPlainLines(event: RunEvent): readonly string[] {
  if (event.type === 'log' || event.type === 'runner_error') return [getMessage(event) ?? '']
  return event.type === 'diagnostic' && typeof event['line'] === 'string' ? [event['line']] : []
}

// Whoever is asked at the terminal sees the question there, and knows the answer; where somebody
// else answers, both are news.
function hideOwnDialogue(event: RunEvent, asked: Map<string, RunEvent>): readonly RunEvent[] {
  const id = getQuestionId(event)
  if (id !== undefined) return (asked.set(id, event), [])
  const { answer } = event
  if (event.type !== 'runner_log' || !isObject(answer)) return [event]
  const question = asked.get(String(answer['id']))
  asked.delete(String(answer['id']))
  return answer['by'] === PERSON_NAME ? [] : question ? [question, event] : [event]
}
