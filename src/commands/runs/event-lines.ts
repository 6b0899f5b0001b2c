/**
 * Events of runs as lines: words for people, JSON for programs.
 */

import type { TextPainter } from '../../cli/formats/terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from '../../cli/formats/terminal-text.ts'
import type { RunEvent, RunState } from '../../protocol/run-state.ts'
import { quoteCommandLine, shorten } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import { getMessage, getPercent, toEventText } from '../../views/model/event-text.ts'
import type { Execution } from '../../workflow/engine.ts'
import type { OutputContext } from '../command.ts'
import { getPresentation } from '../command.ts'

/** Prints lines as they come, and waits for the reader; JSON for programs, words for people. */
export type LinePrinter = {
  events(events: readonly RunEvent[]): Promise<void>
  /** Lines of a stream of the tool. */
  text(run: string, stream: string, lines: readonly string[]): Promise<void>
  /** Lines for people only, as they are. */
  words(lines: (paint: TextPainter) => readonly string[]): Promise<void>
  /** True when the reader is gone. */
  readonly closed: boolean
}

type PrinterOptions = {
  /** Each line for people says which run it is of. */
  readonly named?: boolean
  /** Also events that say nothing to people, because they were asked for. */
  readonly everything?: boolean
  /** Words on stderr, whatever stdout carries. */
  readonly beside?: boolean
}

// What `--quiet` leaves out, besides all events of tasks: their run says how they ended.
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
  context: OutputContext,
  { named = false, everything = false, beside = false }: PrinterOptions = {},
): LinePrinter {
  const { io, globals } = context
  const { mode, color, stderrColor } = getPresentation(context)
  const paint = createTextPainter(beside ? stderrColor : color)
  const forPeople = beside || mode === 'text'
  const sink = beside ? io.stderr : io.stdout
  const tools = new Map<string, string>()
  const send = async (lines: readonly string[]): Promise<void> => {
    if (lines.length > 0) await sink.send(joinLines(lines))
  }
  const describe = (event: RunEvent): readonly string[] => {
    if (event.type === 'runner_start' && typeof event['tool'] === 'string')
      tools.set(event.run_id, event['tool'])
    if (globals.quiet && isNoteEvent(event)) return []
    return renderEvent(event, { paint, tool: tools.get(event.run_id), named, everything })
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
    words: async (lines) => (forPeople ? send(lines(paint)) : undefined),
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

/** The width of the column of words. */
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
  const toWords = Object.hasOwn(WORDS_BY_TYPE, event.type)
    ? WORDS_BY_TYPE[event.type]!
    : toOtherWords
  const said = toWords(event, tool) ?? (everything ? toOtherWords(event) : undefined)
  if (!said) return []
  const { word, text, fix } = said
  const isEnd = event.type === 'runner_end'
  const style = isEnd ? STATE_COLORS[word as RunState] : said.style
  const column = toColumn(cleanLine(word), style, paint)
  const time = paint('dim', cleanLine(String(event.ts).slice(11, 19)))
  const name = named ? `${event.run_id}  ` : ''
  const line = cleanLine(text)
  const shown = said.style === 'dim' ? paint('dim', line) : line
  const lines = [`${time}  ${name}${column}  ${shown}`.trimEnd()]
  if (fix !== undefined) lines.push(`${' '.repeat(name.length)}${renderFact('fix', fix, paint)}`)
  return lines
}

/** A fact below the events, in their columns. */
export function renderFact(word: string, text: string, paint: TextPainter): string {
  return `${' '.repeat(10)}${toColumn(word, 'cyan', paint)}  ${cleanLine(text)}`
}

function toColumn(word: string, style: PaintStyle | undefined, paint: TextPainter): string {
  const space = ' '.repeat(Math.max(0, WORD_COLUMN_WIDTH - word.length))
  return `${style ? paint(style, word) : word}${space}`
}

function toOtherWords(event: RunEvent): EventWords {
  const text = toEventText(event)
  if (!event.type.startsWith('task_')) return { word: event.type, style: 'cyan', text }
  const what = event.type.slice('task_'.length)
  return { word: 'task', style: 'cyan', text: text === '' ? what : `${what} ${text}` }
}

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
  // The task of a step says when it begins and ends.
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
  runner_log(event) {
    const { answer } = event
    if (!isObject(answer)) return { word: 'runner', style: 'dim', text: toEventText(event) }
    if (answer['withdrawn'] !== true) {
      const text = `${toText(answer['value'])} (${toText(answer['by'])})`
      return { word: 'answer', style: 'cyan', text }
    }
    const text = `nobody waits for the answer to ${toText(answer['id'])} any more`
    return { word: 'answer', style: 'dim', text }
  },
  action_required: (event) => ({
    word: 'asks',
    style: 'yellow',
    text: joinGroups(' ', [
      [isObject(event['interaction']) ? event['interaction']['prompt'] : event['action']],
      [toOptionsText(event['interaction'])],
    ]),
  }),
  diagnostic(event) {
    if (event['reason'] === 'stderr')
      return { word: 'stderr', style: 'dim', text: toText(event['line']) }
    const text = joinGroups(': ', [[getMessage(event)], [event['line']]])
    return { word: 'ignored', style: 'yellow', text }
  },
  // What a plain program printed has been seen line by line.
  result(event) {
    if (Object.hasOwn(event, 'exit_status')) return undefined
    const text = joinGroups(' ', [
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
  const options = isObject(interaction) ? interaction['options'] : undefined
  if (!Array.isArray(options) || options.length === 0) return undefined
  const values = options
    .slice(0, 20)
    .map((option: unknown) => toText(isObject(option) ? option['value'] : option))
  return `(${values.join(' | ')})`
}

function toArgumentsText(args: unknown): string | undefined {
  return Array.isArray(args) && args.length > 0
    ? quoteCommandLine(args.slice(0, 50).map(toText))
    : undefined
}

function toSecondsText(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number') return undefined
  const precision = seconds < 1 ? 100 : 10
  return `${Math.round(seconds * precision) / precision} s`
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
  if (value === undefined) return ''
  if (typeof value === 'string') return value.slice(0, MAX_TEXT_CHARS)
  return shorten(JSON.stringify(value) ?? '', MAX_TEXT_CHARS)
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

/** Lines as text, each with its end. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** How long an execution took; undefined while it runs, and where the clock went back. */
export function getDurationSeconds({
  created,
  ended,
}: Pick<Execution, 'created' | 'ended'>): number | undefined {
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return seconds >= 0 ? seconds : undefined
}
