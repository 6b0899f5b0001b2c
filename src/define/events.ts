import type {
  ArtifactEvent,
  AwaitingInputEvent,
  ItemEvent,
  LogEvent,
  LogLevel,
  ProgressEvent,
  SessionEndEvent,
  SessionStartEvent,
  ToolEvent,
} from '../contract/events.ts'
import type { Plan } from '../contract/plan.ts'

/** What a streaming tool yields to hand out its result before its end. */
export type ResultYield<Result = unknown> = { readonly type: 'result'; readonly result: Result }

/** What a generator tool may yield. */
export type Yielded = ToolEvent | ResultYield

/** One answer in a session: a JSON object. `{action: 'quit'}` means that nobody answers any more. */
export type SessionAnswer = { readonly action?: unknown; readonly [field: string]: unknown }

/** A streaming tool's return type: yields events, returns the result. */
export type Stream<Result = void> =
  AsyncGenerator<Yielded, Result, unknown> | Generator<Yielded, Result, unknown>

/** A session tool's return type: yields questions, receives answers, returns the result. */
export type Session<Result = void> =
  AsyncGenerator<Yielded, Result, SessionAnswer> | Generator<Yielded, Result, SessionAnswer>

/** Events for streaming tools to yield. */
export const stream = {
  progress: (
    message: string,
    percent?: number,
    { plan }: { readonly plan?: Plan } = {},
  ): ProgressEvent => ({
    type: 'progress',
    message,
    ...(percent !== undefined && { percent }),
    ...(plan && { plan }),
  }),
  log: (message: string, level: LogLevel = 'info'): LogEvent => ({ type: 'log', level, message }),
  artifact: (name: string, uri: string): ArtifactEvent => ({ type: 'artifact', name, uri }),
  item: (value: unknown): ItemEvent => ({ type: 'item', value }),
  /** Hands out the result; the alternative is to return it. */
  result: <Result>(result: Result): ResultYield<Result> => ({ type: 'result', result }),
} as const

/** Events for session tools to yield; the value of `yield session.ask()` is the answer. */
export const session = {
  start: (message: string, prompt = '> '): SessionStartEvent => ({
    type: 'session_start',
    message,
    prompt,
  }),
  ask: (prompt = '> '): AwaitingInputEvent => ({ type: 'awaiting_input', prompt }),
  end: (status = 'success'): SessionEndEvent => ({ type: 'session_end', status }),
} as const
