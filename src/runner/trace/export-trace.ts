import { createHash } from 'node:crypto'
import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunRequest } from '../run-request.ts'
import type { OpenSpan } from './open-span.ts'
import { openSpan } from './open-span.ts'
import type { OtlpSpan } from './otlp-values.ts'
import { toAttributes, toNanoseconds } from './otlp-values.ts'
import { readTraceparent } from './traceparent.ts'

/** A message of OTLP/JSON for `/v1/traces`. */
export type OtlpTraces = {
  readonly resourceSpans: readonly [
    {
      readonly resource: object
      readonly scopeSpans: readonly [
        { readonly scope: object; readonly spans: readonly OtlpSpan[] },
      ]
    },
  ]
}

type Traced = Pick<
  RunRequest,
  'run_id' | 'tool' | 'version' | 'created' | 'trace_id' | 'traceparent' | 'parent_span_id'
>

const WRONG = { code: 2 } as const
const RIGHT = { code: 1 } as const

/** The spans of a run, read from its log: the run, each attempt, each task and each question. The same log gives the same spans, so that an export can be repeated. */
export async function exportTrace(
  request: Traced,
  events: AsyncIterable<RunEvent> | Iterable<RunEvent>,
): Promise<OtlpTraces> {
  const place = readTraceparent(request.traceparent)
  const traceId = place?.traceId ?? digest(request.trace_id, 32)
  const runSpan = place?.spanId ?? digest(request.run_id, 16)
  const created = toNanoseconds(request.created) ?? '0'
  const run = openSpan({
    traceId,
    spanId: runSpan,
    parentSpanId: request.parent_span_id,
    name: `run ${request.tool}`,
    start: created,
    about: {
      'toolable.run_id': request.run_id,
      'toolable.tool': request.tool,
      'toolable.tool_version': request.version,
    },
  })
  const spans: OtlpSpan[] = []
  const inner = new Map<string, OpenSpan>()
  let attempt: OpenSpan | undefined
  let last = created
  let ending: RunEvent | undefined
  let failure: string | undefined

  const begin = (
    key: string,
    name: string,
    parent: string,
    start: string,
    about: { readonly [key: string]: unknown },
  ): OpenSpan =>
    openSpan({
      traceId,
      spanId: digest(`${request.run_id} ${key}`, 16),
      parentSpanId: parent,
      name,
      start,
      about,
    })
  const open = (
    key: string,
    name: string,
    at: string,
    about: { readonly [key: string]: unknown },
  ): void => {
    if (attempt && !inner.has(key))
      inner.set(key, begin(`${attempt.spanId} ${key}`, name, attempt.spanId, at, about))
  }
  const close = (
    key: string,
    at: string,
    status: OtlpSpan['status'],
    more?: { readonly [key: string]: unknown },
  ): void => {
    const span = inner.get(key)
    if (!span) return
    inner.delete(key)
    spans.push(span.end(at, status, more))
  }
  const endAttempt = (at: string, event?: RunEvent): void => {
    for (const key of [...inner.keys()]) close(key, at, WRONG)
    if (attempt)
      spans.push(
        attempt.end(at, statusOf(event, failure), {
          'toolable.rc': event?.['rc'],
          'toolable.state': event?.['state'] ?? 'unfinished',
        }),
      )
    attempt = undefined
  }

  for await (const event of events) {
    const at = toNanoseconds(event.ts) ?? last
    last = BigInt(at) > BigInt(last) ? at : last
    const { type } = event
    const task =
      typeof event['task_id'] === 'string' && type.startsWith('task_')
        ? `task ${event['task_id']}`
        : undefined
    if (type === 'runner_start') {
      endAttempt(at)
      failure = undefined
      attempt = begin(`attempt ${event.attempt}`, `attempt ${event.attempt}`, runSpan, at, {
        'toolable.attempt': event.attempt,
        'toolable.level': event['level'],
      })
    } else if (type === 'runner_end') {
      endAttempt(at, event)
      ending = event
    } else {
      ;((task !== undefined && inner.get(task)) || (attempt ?? run)).note(event)
      if (type === 'error' || type === 'runner_error')
        failure = [event['code'], event['msg'] ?? event['message']]
          .filter((part) => typeof part === 'string')
          .join(': ')
      if (task !== undefined && (type === 'task_submitted' || type === 'task_started'))
        open(task, task, at, { 'toolable.task_id': event['task_id'] })
      else if (task !== undefined && (type === 'task_done' || type === 'task_error'))
        close(task, at, type === 'task_done' ? RIGHT : WRONG)
      const { interaction, answer } = event
      if (type === 'action_required' && isObject(interaction))
        open(`question ${String(interaction['id'])}`, 'question', at, {
          'toolable.interaction': interaction['id'],
          'toolable.prompt': interaction['prompt'],
        })
      else if (type === 'runner_log' && isObject(answer))
        close(`question ${String(answer['id'])}`, at, RIGHT, {
          'toolable.answered_by': answer['by'],
        })
    }
  }
  endAttempt(last)
  const whole = run.end(last, statusOf(ending, failure), {
    'toolable.state': ending?.['state'] ?? 'unfinished',
  })
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes({ 'service.name': request.tool }) },
        scopeSpans: [{ scope: { name: 'toolable' }, spans: [whole, ...spans] }],
      },
    ],
  }
}

function statusOf(end: RunEvent | undefined, failure: string | undefined): OtlpSpan['status'] {
  if (!end) return {}
  return end['state'] === 'completed'
    ? RIGHT
    : {
        code: 2,
        message:
          failure !== undefined && failure !== '' ? failure.slice(0, 1024) : String(end['state']),
      }
}

// Made of what is known, not of chance.
function digest(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}
