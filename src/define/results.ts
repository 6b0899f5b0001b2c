/**
 * What a handler returns and yields: replies (`ok`, `partial`), content for a model (`content`), events of a stream (`stream`) and of a session (`session`).
 */

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
} from '../protocol/events.ts'
import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ErrorObject,
  ImageContent,
  OutcomeMeta,
  PartialSummary,
  ResourceLink,
  TextContent,
} from '../protocol/outcome.ts'
import type { Plan } from '../protocol/plan.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'

/** Marks what `ok` and `partial` return, also that of another copy of this package. */
export const REPLY_BRAND = Symbol.for('toolable.reply')

/**
 * A result with something to say about it. Told from ordinary objects by its brand, never by its
 * fields.
 */
export type Reply<Result = unknown> = {
  readonly [REPLY_BRAND]: true
  readonly result: Result
  readonly message?: string
  readonly hidden?: boolean
  readonly content?: ContentBlock | readonly ContentBlock[]
  readonly errors?: readonly PartialError[]
  /** Where in the result the succeeded items are. */
  readonly key?: string
  /** What somebody else's envelope said besides: it goes into ours as it is. */
  readonly foreign?: ForeignReplyInfo
}

/** What the envelope of a tool in another process says besides its result. */
type ForeignReplyInfo = Pick<OutcomeMeta, 'warnings' | 'truncated' | 'next_cursor' | 'run_id'> & {
  /** Counted by the tool itself. */ readonly summary?: PartialSummary
}

/** An error inside a partial result: what was caught, or the fields of an error. */
export type PartialError =
  Error | (Partial<ErrorObject> & { readonly code: string; readonly message: string })

/** What goes to the model with a result. */
export type ReplyOptions = {
  readonly message?: string
  /** Keeps the value itself out of the model's view. */
  readonly hidden?: boolean
  /** Pictures, sound, files and texts, made with `content`. */
  readonly content?: ContentBlock | readonly ContentBlock[]
}

/**
 * A result with a text and other content for the model; `hidden` keeps the value itself out of the
 * model's view.
 */
export function ok<Result>(result: Result, options: ReplyOptions = {}): Reply<Result> {
  return { [REPLY_BRAND]: true, result, ...pickReplyOptions(options) }
}

/**
 * A result of which some items failed. Succeeded items are counted in `result[key]`, or in the
 * first list in it.
 */
export function partial<Result>(
  result: Result,
  errors: readonly PartialError[],
  options: string | (ReplyOptions & { readonly key?: string }) = {},
): Reply<Result> {
  const given: ReplyOptions & { readonly key?: string } =
    typeof options === 'string' ? { key: options } : options
  return {
    [REPLY_BRAND]: true,
    result,
    ...pickReplyOptions(given),
    errors,
    ...compact({ key: given.key }),
  }
}

/** A reply together with what somebody else's envelope said besides. */
export function withForeignInfo<Result>(
  reply: Reply<Result>,
  foreign: ForeignReplyInfo,
): Reply<Result> {
  return Object.keys(foreign).length === 0 ? reply : { ...reply, foreign }
}

function pickReplyOptions({ message, hidden, content }: ReplyOptions): ReplyOptions {
  return compact({ message, hidden, content })
}

type ResourceLinkOptions = Partial<Omit<ResourceLink, 'type' | 'uri'>>
type BlockAnnotations = NonNullable<ContentBlock['annotations']>

/**
 * Builds what a model is shown besides a message: `ok(result, { content: [content.image(bytes,
 * 'image/png')] })`. Bytes become base64; text given for bytes has to be base64 already.
 */
export const content = {
  text: (text: string, annotations?: BlockAnnotations): TextContent => ({
    type: 'text',
    text,
    ...pickAnnotations(annotations),
  }),
  image: (
    data: Uint8Array | string,
    mimeType: string,
    annotations?: BlockAnnotations,
  ): ImageContent => ({
    type: 'image',
    data: toBase64(data),
    mimeType,
    ...pickAnnotations(annotations),
  }),
  audio: (
    data: Uint8Array | string,
    mimeType: string,
    annotations?: BlockAnnotations,
  ): AudioContent => ({
    type: 'audio',
    data: toBase64(data),
    mimeType,
    ...pickAnnotations(annotations),
  }),
  /** A resource with its contents: text stays text, bytes become base64. */
  resource(
    uri: string,
    contents: string | Uint8Array,
    mimeType?: string,
    annotations?: BlockAnnotations,
  ): EmbeddedResource {
    const place = compact({ uri, mimeType })
    return {
      type: 'resource',
      resource:
        typeof contents === 'string'
          ? { ...place, text: contents }
          : { ...place, blob: toBase64(contents) },
      ...pickAnnotations(annotations),
    }
  },
  /**
   * A resource that the reader may fetch; without a name the last part of its address is the name.
   */
  link: (
    uri: string,
    { name = getLastUriSegment(uri), ...more }: ResourceLinkOptions = {},
  ): ResourceLink => ({ type: 'resource_link', uri, name, ...more }),
} as const

/** Base64 of bytes; text is taken as base64 already. */
export function toBase64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data
  if (data instanceof Uint8Array)
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
  throw new ToolError('INTERNAL', 'content takes bytes (a Uint8Array) or base64 text')
}

function pickAnnotations(annotations: BlockAnnotations | undefined): {
  readonly annotations?: BlockAnnotations
} {
  return annotations === undefined ? {} : { annotations }
}

function getLastUriSegment(uri: string): string {
  const part =
    String(uri)
      .split(/[?#]/)[0]!
      .split('/')
      .findLast((each) => each !== '') ?? String(uri)
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** What a streaming tool yields to hand out its result before its end. */
export type ResultYield<Result = unknown> = { readonly type: 'result'; readonly result: Result }

/** What a generator tool may yield. */
type Yielded = ToolEvent | ResultYield

/**
 * One answer in a session: a JSON object. `{action: 'quit'}` means that nobody answers any more.
 */
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
  ): ProgressEvent => compact({ type: 'progress', message, percent, plan }),
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
