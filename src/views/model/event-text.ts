/**
 * The events of a run as text for people.
 */

import type { RunEvent } from '../../protocol/run-state.ts'
import { shorten } from '../../util/text.ts'
import { isObject } from '../../util/values.ts'

const MAX_TEXT_CHARS = 500
const MAX_STEP_CHARS = 200

/**
 * What an event says, in one line for people; empty where its type says it all. Whoever prints it
 * cleans it.
 */
export function toEventText(event: RunEvent): string {
  const parts = Object.hasOwn(TEXT_BY_TYPE, event.type)
    ? TEXT_BY_TYPE[event.type]!(event)
    : [
        event['task_id'],
        event['status'],
        ...(isObject(event['child_event'])
          ? [toEventText(event['child_event'] as RunEvent)]
          : getMessageParts(event)),
      ]
  return shorten(
    parts
      .filter((part) => part !== undefined && part !== '' && part !== null)
      .map(toText)
      .join(' '),
    MAX_TEXT_CHARS,
  )
}

/** The same for whoever sees beside it how far the run is, and how it ended. */
export function toLastText(event: RunEvent): string {
  if (event.type === 'progress')
    return shorten(getMessage(event) ?? toText(event['step'] ?? ''), MAX_TEXT_CHARS)
  return event.type === 'result' && event['result'] !== undefined
    ? toText(event['result'])
    : toEventText(event)
}

/** The message of an event, under either of its names. */
export function getMessage(event: { readonly [field: string]: unknown }): string | undefined {
  const message = event['message'] ?? event['msg']
  return typeof message === 'string' && message !== '' ? message : undefined
}

/** How far an event says that the tool is, from 0 to 100. */
export function getPercent(event: { readonly [field: string]: unknown }): number | undefined {
  const percent = event['percent'] ?? event['pct']
  return typeof percent === 'number' && Number.isFinite(percent)
    ? Math.min(100, Math.max(0, percent))
    : undefined
}

/** The step that an error names, itself or in what it tells besides: that of a workflow. */
export function getFailedStep({
  step,
  context,
}: {
  readonly [field: string]: unknown
}): string | undefined {
  const named = step ?? (isObject(context) ? context['step'] : undefined)
  return typeof named === 'string' && named !== '' ? named.slice(0, MAX_STEP_CHARS) : undefined
}

type TextParts = readonly unknown[]

const TEXT_BY_TYPE: { readonly [type: string]: (event: RunEvent) => TextParts } = {
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
      : getMessageParts(event),
  runner_error: (event) => [event['code'], ...getMessageParts(event)],
  runner_warning: (event) => [event['code'], ...getMessageParts(event)],
  error: (event) => [
    event['code'],
    ...getMessageParts(event),
    typeof event['hint'] === 'string' && event['hint'] !== '' ? `(${event['hint']})` : '',
  ],
  progress: (event) => {
    const percent = getPercent(event)
    return [
      percent === undefined ? '' : `${Math.round(percent * 10) / 10}%`,
      event['step'],
      ...getMessageParts(event),
    ]
  },
  log: (event) => [event['level'], ...getMessageParts(event)],
  action_required: (event) =>
    isObject(event['interaction'])
      ? [event['interaction']['prompt'] ?? event['interaction']['id']]
      : [event['action'], ...getMessageParts(event)],
  diagnostic: (event) => [
    event['stream'],
    event['reason'],
    event['line'],
    ...getMessageParts(event),
  ],
  result: (event) => [event['status'], event['result']],
  cancelled: (event) => [event['reason']],
  artifact: (event) => [event['name'], event['uri'] ?? event['path']],
  item: (event) => [event['value']],
}

function getMessageParts(event: RunEvent): TextParts {
  return [getMessage(event)]
}

function toText(value: unknown): string {
  return typeof value === 'string'
    ? value.slice(0, MAX_TEXT_CHARS)
    : shorten(JSON.stringify(value) ?? '', MAX_TEXT_CHARS)
}
