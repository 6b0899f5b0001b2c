import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import { messageOf } from '../../views/model/summary/event-text.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'
import { factLine } from '../runs/event-line.ts'
import { findGoOn } from '../../workflow/run/find-go-on.ts'
import type { LinePrinter } from '../runs/line-printer.ts'
import { PERSON } from './person.ts'
import { keptFiles, startFacts } from './run-facts.ts'
import type { SeenRun, ViewPart } from './view-part.ts'
import { questionOf, watchQuestions } from './until-shown.ts'

const MOST_ARTIFACTS = 10

/** A run as lines of words, one for each thing that happens. */
export function openWordsView(
  { paths, request, io, globals, person }: SeenRun,
  printer: LinePrinter,
  bare: boolean,
): ViewPart {
  const summary = startFacts(request)
  const questions = watchQuestions()
  const asked = new Map<string, RunEvent>()
  return {
    async show(_lines, read) {
      const events = read()
      events.forEach(summary.add)
      try {
        if (bare) await printer.text(paths.id, 'stdout', events.flatMap(wordsOf))
        else
          await printer.events(
            person ? events.flatMap((event) => withoutDialogue(event, asked)) : events,
          )
      } finally {
        questions.pass(events)
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
      const goOn = await findGoOn(paths, request, run)
      await printer.words((paint) =>
        lastWords(run, goOn, keptFiles(run, paths, io.cwd), paths, globals, paint),
      )
    },
  }
}

function lastWords(
  { state }: RunSummary,
  goOn: string | undefined,
  files: ReturnType<typeof keptFiles>,
  { id }: RunPaths,
  globals: Globals,
  paint: Paint,
): readonly string[] {
  return [
    ...files
      .slice(0, MOST_ARTIFACTS)
      .map(({ path, bytes }) =>
        factLine('saved', `${path}${bytes === undefined ? '' : ` (${bytes} bytes)`}`, paint),
      ),
    ...(files.length > MOST_ARTIFACTS
      ? [factLine('saved', `and ${files.length - MOST_ARTIFACTS} more`, paint)]
      : []),
    ...(globals.quiet && state === 'completed'
      ? []
      : [factLine('details', `toolable runs show ${id}`, paint)]),
    ...(goOn === undefined ? [] : [factLine('go on', goOn, paint)]),
  ]
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
