import { isObject } from '../../../contract/json.ts'
import type { RunEvent } from '../../../contract/run-state.ts'
import { shorten } from '../../../contract/shorten.ts'

const LONGEST_TEXT = 500
const LONGEST_STEP = 200

/** What an event says, in one line for people; empty where its type says it all. Whoever prints it cleans it. */
export function eventText(event: RunEvent): string {
  const parts = Object.hasOwn(TEXTS, event.type)
    ? TEXTS[event.type]!(event)
    : [
        event['task_id'],
        event['status'],
        ...(isObject(event['child_event'])
          ? [eventText(event['child_event'] as RunEvent)]
          : said(event)),
      ]
  return shorten(
    parts
      .filter((part) => part !== undefined && part !== '' && part !== null)
      .map(toText)
      .join(' '),
    LONGEST_TEXT,
  )
}

/** The same for whoever sees beside it how far the run is, and how it ended. */
export function lastWords(event: RunEvent): string {
  if (event.type === 'progress')
    return shorten(messageOf(event) ?? toText(event['step'] ?? ''), LONGEST_TEXT)
  return event.type === 'result' && event['result'] !== undefined
    ? toText(event['result'])
    : eventText(event)
}

/** The message of an event, under either of its names. */
export function messageOf(event: { readonly [field: string]: unknown }): string | undefined {
  const message = event['message'] ?? event['msg']
  return typeof message === 'string' && message !== '' ? message : undefined
}

/** How far an event says that the tool is, from 0 to 100. */
export function percentOf(event: { readonly [field: string]: unknown }): number | undefined {
  const percent = event['percent'] ?? event['pct']
  return typeof percent === 'number' && Number.isFinite(percent)
    ? Math.min(100, Math.max(0, percent))
    : undefined
}

/** The step that an error names, itself or in what it tells besides: that of a workflow. */
export function failedStep({
  step,
  context,
}: {
  readonly [field: string]: unknown
}): string | undefined {
  const named = step ?? (isObject(context) ? context['step'] : undefined)
  return typeof named === 'string' && named !== '' ? named.slice(0, LONGEST_STEP) : undefined
}

type Parts = readonly unknown[]

const TEXTS: { readonly [type: string]: (event: RunEvent) => Parts } = {
  runner_start: (event) =>
    [event['tool'], event.attempt > 1 && `attempt ${event.attempt}`, event['level']].filter(
      (part) => part !== false,
    ),
  runner_end: (event) =>
    [
      event['state'],
      event['code'],
      typeof event['rc'] === 'number' && `(exit ${event['rc']})`,
    ].filter((part) => part !== false),
  runner_log: (event) =>
    isObject(event['answer'])
      ? [
          `answer to ${toText(event['answer']['id'])}`,
          event['answer']['by'] === undefined ? '' : `by ${toText(event['answer']['by'])}`,
        ]
      : said(event),
  runner_error: (event) => [event['code'], ...said(event)],
  runner_warning: (event) => [event['code'], ...said(event)],
  error: (event) => [
    event['code'],
    ...said(event),
    typeof event['hint'] === 'string' && event['hint'] !== '' ? `(${event['hint']})` : '',
  ],
  progress: (event) => {
    const percent = percentOf(event)
    return [
      percent === undefined ? '' : `${Math.round(percent * 10) / 10}%`,
      event['step'],
      ...said(event),
    ]
  },
  log: (event) => [event['level'], ...said(event)],
  action_required: (event) =>
    isObject(event['interaction'])
      ? [event['interaction']['prompt'] ?? event['interaction']['id']]
      : [event['action'], ...said(event)],
  diagnostic: (event) => [event['stream'], event['reason'], event['line'], ...said(event)],
  result: (event) => [event['status'], event['result']],
  cancelled: (event) => [event['reason']],
  artifact: (event) => [event['name'], event['uri'] ?? event['path']],
  item: (event) => [event['value']],
}

function said(event: RunEvent): Parts {
  return [messageOf(event)]
}

function toText(value: unknown): string {
  return typeof value === 'string'
    ? value.slice(0, LONGEST_TEXT)
    : shorten(JSON.stringify(value) ?? '', LONGEST_TEXT)
}
