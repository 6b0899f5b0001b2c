/**
 * The events of a run as text for people.
 */

import type { RunEvent } from '../../protocol/run-state.ts'
import { shorten } from '../../util/text.ts'
import { asString, compact, isObject } from '../../util/values.ts'

const MAX_TEXT_CHARS = 500
const MAX_STEP_CHARS = 200

/** How far a tool says it is. */
export type RunProgress = {
  readonly percent?: number
  readonly message?: string
  readonly step?: string
}

/** What was wrong, in the words of the tool or of the runner. */
export type RunFailure = {
  readonly code: string
  readonly message?: string
  readonly hint?: string
  /** The step that failed. */ readonly step?: string
}

/**
 * What an event says, in one line for people; empty when its type says it all. Callers clean it
 * before printing.
 */
export function toEventText(event: RunEvent): string {
  const parts = Object.hasOwn(TEXT_BY_TYPE, event.type)
    ? TEXT_BY_TYPE[event.type]!(event)
    : [
        event['task_id'],
        event['status'],
        isObject(event['child_event'])
          ? toEventText(event['child_event'] as RunEvent)
          : getMessage(event),
      ]
  return shorten(
    parts
      .filter((part) => part !== undefined && part !== '' && part !== null)
      .map(toText)
      .join(' '),
    MAX_TEXT_CHARS,
  )
}

/** The same for views that also show the progress and the outcome of the run. */
export function toLastText(event: RunEvent): string {
  if (event.type === 'progress')
    return shorten(getMessage(event) ?? toText(event['step'] ?? ''), MAX_TEXT_CHARS)
  return event.type === 'result' && event['result'] !== undefined
    ? toText(event['result'])
    : toEventText(event)
}

/** The message of an event, under either of its names. */
export function getMessage(event: { readonly [field: string]: unknown }): string | undefined {
  return asString(event['message'] ?? event['msg']) || undefined
}

/** How far an event says that the tool is, from 0 to 100. */
export function getPercent(event: { readonly [field: string]: unknown }): number | undefined {
  const percent = event['percent'] ?? event['pct']
  return typeof percent === 'number' && Number.isFinite(percent)
    ? Math.min(100, Math.max(0, percent))
    : undefined
}

// The step that an error names, itself or, in a workflow, in its context.
function getFailedStep({
  step,
  context,
}: {
  readonly [field: string]: unknown
}): string | undefined {
  const named = asString(step ?? (isObject(context) ? context['step'] : undefined))
  return named?.slice(0, MAX_STEP_CHARS) || undefined
}

/** How far a `progress` event says that the tool is. */
export function toProgress(event: RunEvent): RunProgress {
  return compact({
    percent: getPercent(event),
    message: getMessage(event)?.slice(0, MAX_TEXT_CHARS),
    step: asString(event['step'])?.slice(0, MAX_STEP_CHARS),
  })
}

/** What an `error`, `runner_error` or `cancelled` event says went wrong; undefined without a code. */
export function toFailure(event: RunEvent): RunFailure | undefined {
  const isCancelled = event.type === 'cancelled'
  const code = isCancelled ? 'E_CANCELLED' : event['code']
  if (typeof code !== 'string') return undefined
  return compact({
    code,
    message: isCancelled ? asString(event['reason']) : getMessage(event),
    hint: asString(event['hint']) || undefined,
    step: getFailedStep(event),
  })
}

type TextParts = readonly unknown[]

const TEXT_BY_TYPE: { readonly [type: string]: (event: RunEvent) => TextParts } = {
  runner_start: (event) => [
    event['tool'],
    event.attempt > 1 ? `attempt ${event.attempt}` : '',
    event['level'],
  ],
  runner_end: (event) => [
    event['state'],
    event['code'],
    typeof event['rc'] === 'number' ? `(exit ${event['rc']})` : '',
  ],
  runner_log: (event) =>
    isObject(event['answer'])
      ? [
          `answer to ${toText(event['answer']['id'])}`,
          event['answer']['by'] === undefined ? '' : `by ${toText(event['answer']['by'])}`,
        ]
      : [getMessage(event)],
  runner_error: (event) => [event['code'], getMessage(event)],
  runner_warning: (event) => [event['code'], getMessage(event)],
  error: (event) => [
    event['code'],
    getMessage(event),
    typeof event['hint'] === 'string' && event['hint'] !== '' ? `(${event['hint']})` : '',
  ],
  progress: (event) => {
    const percent = getPercent(event)
    return [
      percent === undefined ? '' : `${Math.round(percent * 10) / 10}%`,
      event['step'],
      getMessage(event),
    ]
  },
  log: (event) => [event['level'], getMessage(event)],
  action_required: (event) =>
    isObject(event['interaction'])
      ? [event['interaction']['prompt'] ?? event['interaction']['id']]
      : [event['action'], getMessage(event)],
  diagnostic: (event) => [event['stream'], event['reason'], event['line'], getMessage(event)],
  result: (event) => [event['status'], event['result']],
  cancelled: (event) => [event['reason']],
  artifact: (event) => [event['name'], event['uri'] ?? event['path']],
  item: (event) => [event['value']],
}

function toText(value: unknown): string {
  return typeof value === 'string'
    ? value.slice(0, MAX_TEXT_CHARS)
    : shorten(JSON.stringify(value) ?? '', MAX_TEXT_CHARS)
}
