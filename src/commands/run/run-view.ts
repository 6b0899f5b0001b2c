import { join, relative } from 'node:path'
import { isObject } from '../../contract/json.ts'
import type { Io } from '../../contract/io.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { messageOf } from '../../views/model/summary/event-text.ts'
import { startSummary } from '../../views/model/summary/summarize.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import { factLine } from '../runs/event-line.ts'
import { findGoOn } from '../../workflow/run/find-go-on.ts'
import { openPrinter } from '../runs/line-printer.ts'

const MOST_ARTIFACTS = 10

/** What a person sees of a run while it goes on, and when it is over. */
export type RunView = {
  show(events: readonly RunEvent[]): Promise<void>
  /** Resolves when everything that came before a question has been shown, or nobody asks any more. */
  untilShown(question: string, signal: AbortSignal): Promise<void>
  /** Where things are, and how it goes on. */
  sumUp(): Promise<void>
}

/** The view of a run in the foreground. With `bare`, somebody has only asked about the tool, and sees its words alone. */
export function openRunView(paths: RunPaths, request: RunRequest, io: Io, globals: Globals, { person, bare }: { readonly person: boolean; readonly bare: boolean }): RunView {
  const printer = openPrinter({ io, globals })
  let summary = startSummary(request)
  let isFirst = true
  const add = (event: RunEvent): void => {
    // A run that is resumed begins here with the end of what nobody has seen.
    if (isFirst && event.attempt > 1) summary = startSummary(request, { state: 'failed', attempt: event.attempt - 1, open: [] })
    isFirst = false
    summary.add(event)
  }
  const shown = new Set<string>()
  const asked = new Map<string, RunEvent>()
  const waiting = new Map<string, () => void>()
  const pass = (event: RunEvent): void => {
    const id = questionOf(event)
    if (id === undefined) return
    shown.add(id)
    waiting.get(id)?.()
  }
  return {
    async show(events) {
      events.forEach(add)
      try {
        if (bare) await printer.text(paths.id, 'stdout', events.flatMap(wordsOf))
        else await printer.events(person ? events.flatMap((event) => withoutDialogue(event, asked)) : events)
      } finally {
        events.forEach(pass)
      }
    },
    untilShown: (id, signal) => (shown.has(id) || signal.aborted ? Promise.resolve() : new Promise((resolve) => {
      waiting.set(id, resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })),
    async sumUp() {
      if (bare) return
      const run = summary.current()
      const goOn = await findGoOn(paths, request, run)
      await printer.words((paint) => facts(run, goOn, paths, io, globals, paint))
    },
  }
}

function facts(run: RunSummary, goOn: string | undefined, { id, artifacts }: RunPaths, { cwd }: Io, globals: Globals, paint: Paint): readonly string[] {
  const files = (run.artifacts ?? []).flatMap((artifact) => (isObject(artifact) && typeof artifact['path'] === 'string' && artifact['sha256'] !== undefined ? [{ path: shortest(cwd, join(artifacts, artifact['path'])), bytes: artifact['bytes'] }] : []))
  const over = run.state !== 'completed'
  return [
    ...files.slice(0, MOST_ARTIFACTS).map(({ path, bytes }) => factLine('saved', `${path}${typeof bytes === 'number' ? ` (${bytes} bytes)` : ''}`, paint)),
    ...(files.length > MOST_ARTIFACTS ? [factLine('saved', `and ${files.length - MOST_ARTIFACTS} more`, paint)] : []),
    ...(globals.quiet && !over ? [] : [factLine('details', `toolable runs show ${id}`, paint)]),
    ...(goOn === undefined ? [] : [factLine('go on', goOn, paint)]),
  ]
}

// A path that can be pasted here.
function shortest(cwd: string, path: string): string {
  const from = relative(cwd, path)
  return from.startsWith('..') ? path : from
}

function wordsOf(event: RunEvent): readonly string[] {
  if (event.type === 'log' || event.type === 'runner_error') return [messageOf(event) ?? '']
  return event.type === 'diagnostic' && typeof event['line'] === 'string' ? [event['line']] : []
}

// Whoever is asked at the terminal sees the question there, and knows the answer; where somebody else answers, both are news.
function withoutDialogue(event: RunEvent, asked: Map<string, RunEvent>): readonly RunEvent[] {
  const id = questionOf(event)
  if (id !== undefined) return (asked.set(id, event), [])
  const { answer } = event
  if (event.type !== 'runner_log' || !isObject(answer)) return [event]
  const question = asked.get(String(answer['id']))
  asked.delete(String(answer['id']))
  return answer['by'] === PERSON ? [] : question ? [question, event] : [event]
}

/** Who answers at the terminal, for the record. */
export const PERSON = 'a person'

function questionOf({ type, interaction }: RunEvent): string | undefined {
  return type === 'action_required' && isObject(interaction) && typeof interaction['id'] === 'string' ? interaction['id'] : undefined
}
