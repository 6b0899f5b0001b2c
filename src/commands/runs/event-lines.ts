/**
 * Events of runs as lines: words for people, JSON for programs.
 */

import type { TextPainter } from '../../cli/formats/terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from '../../cli/formats/terminal-text.ts'
import { choosePresentation } from '../../cli/presentation.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { RunEvent, RunState } from '../../protocol/run-state.ts'
import { quoteCommandLine, shorten } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import { getMessage, getPercent, toEventText } from '../../views/model/event-text.ts'

/** Prints lines as they come, and waits for the reader; JSON for programs, words for people. */
export type LinePrinter = {
  events(events: readonly RunEvent[]): Promise<void>
  /** Lines of a stream of the tool. */
  text(run: string, stream: string, lines: readonly string[]): Promise<void>
  /** Lines for people only, as they are. */
  words(lines: (paint: TextPainter) => readonly string[]): Promise<void>
  /** True when nobody reads any more. */
  readonly closed: boolean
}

type PrinterOptions = {
  /** Each line for people says which run it is of. */
  readonly named?: boolean
  /** People see also what says nothing to them: they have asked for it. */
  readonly everything?: boolean
  /** Words on stderr, whatever stdout carries. */
  readonly beside?: boolean
}

// What `--quiet` leaves out, besides all that is told of tasks: their run says how they ended.
const NOTE_TYPES = [
  'runner_start',
  'progress',
  'log',
  'runner_log',
  'diagnostic',
  'artifact',
  'item',
]

/** The printer of a command. */
export function createLinePrinter(
  { io, globals }: Pick<BuiltinContext, 'io' | 'globals'>,
  { named = false, everything = false, beside = false }: PrinterOptions = {},
): LinePrinter {
  const { mode, color, stderrColor } = choosePresentation(globals, io)
  const paint = createTextPainter(beside ? stderrColor : color)
  const forPeople = beside || mode === 'text'
  const sink = beside ? io.stderr : io.stdout
  const tools = new Map<string, string>()
  const send = (lines: readonly string[]): Promise<void> =>
    lines.length === 0 ? Promise.resolve() : sink.send(`${lines.join('\n')}\n`)
  const describe = (event: RunEvent): readonly string[] => {
    if (event.type === 'runner_start' && typeof event['tool'] === 'string')
      tools.set(event.run_id, event['tool'])
    return globals.quiet && isNoteEvent(event)
      ? []
      : renderEvent(event, { paint, tool: tools.get(event.run_id), named, everything })
  }
  return {
    events: (events) =>
      send(events.flatMap((event) => (forPeople ? describe(event) : JSON.stringify(event)))),
    text: (run, stream, lines) =>
      send(
        lines.map((line) =>
          forPeople ? cleanText(line) : JSON.stringify({ run_id: run, stream, line }),
        ),
      ),
    words: (lines) => (forPeople ? send(lines(paint)) : Promise.resolve()),
    get closed() {
      return sink.closed === true
    },
  }
}

function isNoteEvent({ type }: RunEvent): boolean {
  return NOTE_TYPES.includes(type) || type.startsWith('task_')
}

type PaintStyle = Parameters<TextPainter>[0]
type EventWords = {
  readonly word: string
  readonly style?: PaintStyle
  readonly text: string
  readonly fix?: string
}

/** So wide is the column of words. */
const WORD_COLUMN_WIDTH = 9
const MAX_TEXT_CHARS = 500

/** What a line for people says besides the event. */
type EventLineOptions = {
  readonly paint: TextPainter
  /** The id of the tool, which need not be said again in each step. */
  readonly tool: string | undefined
  /** Each line names its run. */
  readonly named: boolean
  /** Also what says nothing to people: signs of life, and what was shown before. */
  readonly everything: boolean
}

/**
 * An event for people: its time, a word in a column, and what was said; no lines where that is
 * nothing.
 */
function renderEvent(
  event: RunEvent,
  { paint, tool, named, everything }: EventLineOptions,
): string[] {
  const said =
    (Object.hasOwn(WORDS_BY_TYPE, event.type) ? WORDS_BY_TYPE[event.type]! : toOtherWords)(
      event,
      tool,
    ) ?? (everything ? toOtherWords(event) : undefined)
  if (!said) return []
  const { word, style, text, fix } = said
  const column = cleanLine(word)
  const painted =
    event.type === 'runner_end'
      ? paintState(word as RunState, paint)
      : style
        ? paint(style, column)
        : column
  const head = `${paint('dim', cleanLine(String(event.ts).slice(11, 19)))}  ${named ? `${event.run_id}  ` : ''}`
  const line =
    `${head}${painted}${' '.repeat(Math.max(0, WORD_COLUMN_WIDTH - column.length))}  ${style === 'dim' ? paint('dim', cleanLine(text)) : cleanLine(text)}`.trimEnd()
  return fix === undefined
    ? [line]
    : [line, `${named ? ' '.repeat(event.run_id.length + 2) : ''}${renderFact('fix', fix, paint)}`]
}

/** A fact below the events, in their columns. */
export function renderFact(word: string, text: string, paint: TextPainter): string {
  return `${' '.repeat(10)}${paint('cyan', word)}${' '.repeat(Math.max(0, WORD_COLUMN_WIDTH - word.length))}  ${cleanLine(text)}`
}

const toOtherWords = (event: RunEvent): EventWords => ({
  word: event.type.startsWith('task_') ? 'task' : event.type,
  style: 'cyan',
  text: [event.type.startsWith('task_') ? event.type.slice(5) : '', toEventText(event)]
    .filter((part) => part !== '')
    .join(' '),
})

// Undefined where the event says nothing to people.
const WORDS_BY_TYPE: {
  readonly [type: string]: (event: RunEvent, tool?: string) => EventWords | undefined
} = {
  start: () => undefined,
  heartbeat: () => undefined,
  runner_start: (event) => ({
    word: 'run',
    style: 'bold',
    text: joinGroups(' · ', [
      [toText(event['tool']), toArgumentsText(event['args'])],
      [event.run_id],
      [event.attempt > 1 && `attempt ${event.attempt}`],
      [event['level'] !== 'none' && event['level']],
    ]),
  }),
  runner_end: (event) => ({
    word: toText(event['state']),
    text: joinGroups(', ', [
      [event['code']],
      [typeof event['rc'] === 'number' && event['rc'] !== 0 && `exit ${event['rc']}`],
      [toSecondsText(event['duration_s'])],
      [
        event['retry_in_s'] !== undefined &&
          `next attempt in ${toSecondsText(event['retry_in_s'])}`,
      ],
    ]),
  }),
  progress(event, tool) {
    const percent = getPercent(event)
    const { step } = event
    const isTool = tool !== undefined && (step === tool || tool.endsWith(`.${toText(step)}`))
    return {
      word: percent === undefined ? '' : `${Math.round(percent)}%`,
      style: 'cyan',
      text: joinGroups(': ', [[!isTool && step], [getMessage(event)]]),
    }
  },
  // When a step of a workflow begins and ends its task tells, or the next one.
  log: (event) =>
    event['level'] === 'debug' && event['step_state'] !== undefined
      ? undefined
      : { ...toLevelWords(event['level']), text: shorten(getMessage(event) ?? '', MAX_TEXT_CHARS) },
  task_submitted: () => undefined,
  task_progress(event) {
    const child = isObject(event['child_event']) ? event['child_event'] : {}
    const percent = getPercent(child)
    return {
      word: 'task',
      style: 'cyan',
      text: joinGroups(' ', [
        [event['task_id']],
        [percent !== undefined && `${Math.round(percent)}%`],
        [getMessage(child)],
      ]),
    }
  },
  task_action_required: () => undefined,
  runner_log: (event) =>
    isObject(event['answer']) && event['answer']['withdrawn'] === true
      ? {
          word: 'answer',
          style: 'dim',
          text: `nobody waits for the answer to ${toText(event['answer']['id'])} any more`,
        }
      : isObject(event['answer'])
        ? {
            word: 'answer',
            style: 'cyan',
            text: `${toText(event['answer']['value'])} (${toText(event['answer']['by'])})`,
          }
        : { word: 'runner', style: 'dim', text: toEventText(event) },
  action_required: (event) => ({
    word: 'asks',
    style: 'yellow',
    text: joinGroups(' ', [
      [isObject(event['interaction']) ? event['interaction']['prompt'] : event['action']],
      [toOptionsText(event['interaction'])],
    ]),
  }),
  diagnostic: (event) =>
    event['reason'] === 'stderr'
      ? { word: 'stderr', style: 'dim', text: toText(event['line']) }
      : {
          word: 'ignored',
          style: 'yellow',
          text: joinGroups(': ', [[getMessage(event)], [event['line']]]),
        },
  // What a plain program printed has been seen line by line.
  result(event) {
    const text = Object.hasOwn(event, 'exit_status')
      ? ''
      : joinGroups(' ', [
          [event['status'] !== 'ok' && event['status']],
          [event['result'] !== null && toText(event['result'])],
        ])
    return text === '' ? undefined : { word: 'result', style: 'green', text }
  },
  artifact: (event) => ({
    word: 'artifact',
    style: 'cyan',
    text: joinGroups(' ', [[event['name']], [event['uri'] !== event['name'] && event['uri']]]),
  }),
  error: toErrorWords,
  runner_error: toErrorWords,
  runner_warning: (event) => ({ word: 'warning', style: 'yellow', text: toEventText(event) }),
  cancelled: (event) =>
    event['reason'] === undefined || event['reason'] === 'cancel-file'
      ? undefined
      : { word: 'cancelled', style: 'yellow', text: toText(event['reason']) },
}

function toErrorWords(event: RunEvent): EventWords {
  const { hint } = event
  return compact({
    word: 'error',
    style: 'red',
    text: joinGroups(' ', [[event['code']], [getMessage(event)]]),
    fix: typeof hint === 'string' && hint !== '' ? shorten(hint, MAX_TEXT_CHARS) : undefined,
  })
}

function toLevelWords(level: unknown): { readonly word: string; readonly style?: PaintStyle } {
  if (level === 'warn' || level === 'warning') return { word: 'warning', style: 'yellow' }
  if (level === 'error') return { word: 'error', style: 'red' }
  return level === 'debug' ? { word: 'debug', style: 'dim' } : { word: '' }
}

function toOptionsText(interaction: unknown): string | undefined {
  const options =
    isObject(interaction) && Array.isArray(interaction['options'])
      ? interaction['options'].slice(0, 20)
      : []
  return options.length === 0
    ? undefined
    : `(${options.map((option: unknown) => toText(isObject(option) ? option['value'] : option)).join(' | ')})`
}

function toArgumentsText(args: unknown): string | undefined {
  return Array.isArray(args) && args.length > 0
    ? quoteCommandLine(args.slice(0, 50).map(toText))
    : undefined
}

function toSecondsText(seconds: unknown): string | undefined {
  return typeof seconds === 'number'
    ? `${seconds < 1 ? Math.round(seconds * 100) / 100 : Math.round(seconds * 10) / 10} s`
    : undefined
}

// Groups of words: within one they stand beside each other, between them the separator.
function joinGroups(separator: string, groups: readonly (readonly unknown[])[]): string {
  const said = (part: unknown): boolean =>
    part !== undefined && part !== null && part !== '' && part !== false
  return shorten(
    groups
      .map((group) => group.filter(said).map(toText).join(' '))
      .filter(said)
      .join(separator),
    MAX_TEXT_CHARS,
  )
}

function toText(value: unknown): string {
  return typeof value === 'string'
    ? value.slice(0, MAX_TEXT_CHARS)
    : value === undefined
      ? ''
      : shorten(JSON.stringify(value) ?? '', MAX_TEXT_CHARS)
}

/** The colour of each state; the word always stands beside it. */
export const STATE_COLORS = {
  queued: 'dim',
  running: 'cyan',
  waiting_ai: 'yellow',
  completed: 'green',
  failed: 'red',
  cancelled: 'yellow',
} as const

/** A state in its colour. */
export function paintState(state: RunState, paint: TextPainter): string {
  return paint(STATE_COLORS[state], state)
}
