import { isObject } from '../../contract/json.ts'
import { quoteAllForShell } from '../../contract/quote-for-shell.ts'
import type { RunEvent, RunState } from '../../contract/run-state.ts'
import { shorten } from '../../contract/shorten.ts'
import { eventText, messageOf, percentOf } from '../../views/model/summary/event-text.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import { paintState } from './paint-state.ts'

type Style = Parameters<Paint>[0]
type Said = {
  readonly word: string
  readonly style?: Style
  readonly text: string
  readonly fix?: string
}

/** So wide is the column of words. */
const WIDTH = 9
const LONGEST = 500

/** What a line for people says besides the event. */
export type LineOptions = {
  readonly paint: Paint
  /** The id of the tool, which need not be said again in each step. */
  readonly tool: string | undefined
  /** Each line names its run. */
  readonly named: boolean
  /** Also what says nothing to people: signs of life, and what was shown before. */
  readonly everything: boolean
}

/** An event for people: its time, a word in a column, and what was said; no lines where that is nothing. */
export function eventLines(
  event: RunEvent,
  { paint, tool, named, everything }: LineOptions,
): string[] {
  const said =
    (Object.hasOwn(WORDS, event.type) ? WORDS[event.type]! : other)(event, tool) ??
    (everything ? other(event) : undefined)
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
    `${head}${painted}${' '.repeat(Math.max(0, WIDTH - column.length))}  ${style === 'dim' ? paint('dim', cleanLine(text)) : cleanLine(text)}`.trimEnd()
  return fix === undefined
    ? [line]
    : [line, `${named ? ' '.repeat(event.run_id.length + 2) : ''}${factLine('fix', fix, paint)}`]
}

/** A fact below the events, in their columns. */
export function factLine(word: string, text: string, paint: Paint): string {
  return `${' '.repeat(10)}${paint('cyan', word)}${' '.repeat(Math.max(0, WIDTH - word.length))}  ${cleanLine(text)}`
}

const other = (event: RunEvent): Said => ({
  word: event.type.startsWith('task_') ? 'task' : event.type,
  style: 'cyan',
  text: [event.type.startsWith('task_') ? event.type.slice(5) : '', eventText(event)]
    .filter((part) => part !== '')
    .join(' '),
})

// Undefined where the event says nothing to people.
const WORDS: { readonly [type: string]: (event: RunEvent, tool?: string) => Said | undefined } = {
  start: () => undefined,
  heartbeat: () => undefined,
  runner_start: (event) => ({
    word: 'run',
    style: 'bold',
    text: joined(' · ', [
      [textOf(event['tool']), argumentsOf(event['args'])],
      [event.run_id],
      [event.attempt > 1 && `attempt ${event.attempt}`],
      [event['level'] !== 'none' && event['level']],
    ]),
  }),
  runner_end: (event) => ({
    word: textOf(event['state']),
    text: joined(', ', [
      [event['code']],
      [typeof event['rc'] === 'number' && event['rc'] !== 0 && `exit ${event['rc']}`],
      [secondsOf(event['duration_s'])],
      [event['retry_in_s'] !== undefined && `next attempt in ${secondsOf(event['retry_in_s'])}`],
    ]),
  }),
  progress(event, tool) {
    const percent = percentOf(event)
    const { step } = event
    const isTool = tool !== undefined && (step === tool || tool.endsWith(`.${textOf(step)}`))
    return {
      word: percent === undefined ? '' : `${Math.round(percent)}%`,
      style: 'cyan',
      text: joined(': ', [[!isTool && step], [messageOf(event)]]),
    }
  },
  // When a step of a workflow begins and ends its task tells, or the next one.
  log: (event) =>
    event['level'] === 'debug' && event['step_state'] !== undefined
      ? undefined
      : { ...levelOf(event['level']), text: shorten(messageOf(event) ?? '', LONGEST) },
  task_submitted: () => undefined,
  task_progress(event) {
    const child = isObject(event['child_event']) ? event['child_event'] : {}
    const percent = percentOf(child)
    return {
      word: 'task',
      style: 'cyan',
      text: joined(' ', [
        [event['task_id']],
        [percent !== undefined && `${Math.round(percent)}%`],
        [messageOf(child)],
      ]),
    }
  },
  task_action_required: () => undefined,
  runner_log: (event) =>
    isObject(event['answer']) && event['answer']['withdrawn'] === true
      ? {
          word: 'answer',
          style: 'dim',
          text: `nobody waits for the answer to ${textOf(event['answer']['id'])} any more`,
        }
      : isObject(event['answer'])
        ? {
            word: 'answer',
            style: 'cyan',
            text: `${textOf(event['answer']['value'])} (${textOf(event['answer']['by'])})`,
          }
        : { word: 'runner', style: 'dim', text: eventText(event) },
  action_required: (event) => ({
    word: 'asks',
    style: 'yellow',
    text: joined(' ', [
      [isObject(event['interaction']) ? event['interaction']['prompt'] : event['action']],
      [optionsOf(event['interaction'])],
    ]),
  }),
  diagnostic: (event) =>
    event['reason'] === 'stderr'
      ? { word: 'stderr', style: 'dim', text: textOf(event['line']) }
      : {
          word: 'ignored',
          style: 'yellow',
          text: joined(': ', [[messageOf(event)], [event['line']]]),
        },
  // What a plain program printed has been seen line by line.
  result(event) {
    const text = Object.hasOwn(event, 'exit_status')
      ? ''
      : joined(' ', [
          [event['status'] !== 'ok' && event['status']],
          [event['result'] !== null && textOf(event['result'])],
        ])
    return text === '' ? undefined : { word: 'result', style: 'green', text }
  },
  artifact: (event) => ({
    word: 'artifact',
    style: 'cyan',
    text: joined(' ', [[event['name']], [event['uri'] !== event['name'] && event['uri']]]),
  }),
  error: failed,
  runner_error: failed,
  runner_warning: (event) => ({ word: 'warning', style: 'yellow', text: eventText(event) }),
  cancelled: (event) =>
    event['reason'] === undefined || event['reason'] === 'cancel-file'
      ? undefined
      : { word: 'cancelled', style: 'yellow', text: textOf(event['reason']) },
}

function failed(event: RunEvent): Said {
  const { hint } = event
  return {
    word: 'error',
    style: 'red',
    text: joined(' ', [[event['code']], [messageOf(event)]]),
    ...(typeof hint === 'string' && hint !== '' && { fix: shorten(hint, LONGEST) }),
  }
}

function levelOf(level: unknown): { readonly word: string; readonly style?: Style } {
  if (level === 'warn' || level === 'warning') return { word: 'warning', style: 'yellow' }
  if (level === 'error') return { word: 'error', style: 'red' }
  return level === 'debug' ? { word: 'debug', style: 'dim' } : { word: '' }
}

function optionsOf(interaction: unknown): string | undefined {
  const options =
    isObject(interaction) && Array.isArray(interaction['options'])
      ? interaction['options'].slice(0, 20)
      : []
  return options.length === 0
    ? undefined
    : `(${options.map((option: unknown) => textOf(isObject(option) ? option['value'] : option)).join(' | ')})`
}

function argumentsOf(args: unknown): string | undefined {
  return Array.isArray(args) && args.length > 0
    ? quoteAllForShell(args.slice(0, 50).map(textOf))
    : undefined
}

function secondsOf(seconds: unknown): string | undefined {
  return typeof seconds === 'number'
    ? `${seconds < 1 ? Math.round(seconds * 100) / 100 : Math.round(seconds * 10) / 10} s`
    : undefined
}

// Groups of words: within one they stand beside each other, between them the separator.
function joined(separator: string, groups: readonly (readonly unknown[])[]): string {
  const said = (part: unknown): boolean =>
    part !== undefined && part !== null && part !== '' && part !== false
  return shorten(
    groups
      .map((group) => group.filter(said).map(textOf).join(' '))
      .filter(said)
      .join(separator),
    LONGEST,
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value.slice(0, LONGEST)
    : value === undefined
      ? ''
      : shorten(JSON.stringify(value) ?? '', LONGEST)
}
