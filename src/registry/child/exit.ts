/**
 * Decides whether a child failed and why: its answer, JSON on stderr, the last error line, the exit
 * status and what the manifest says about it.
 */

import { stripVTControlCharacters } from 'node:util'
import { readContent, readError } from '../../protocol/dialects/read-error.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import { ERROR_TABLE } from '../../protocol/errors.ts'
import type { ErrorCode } from '../../protocol/errors.ts'
import type { ToolEvent } from '../../protocol/events.ts'
import type { EXIT_STATUSES } from '../../protocol/manifest.ts'
import type { ErrorObject, FailureOutcome, Outcome } from '../../protocol/outcome.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { FailOptions } from '../../protocol/tool-error.ts'
import { compact, isDeeperThan, isObject, parseJsonObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'

const MAX_STDERR_TAIL = 4000
const MAX_STDOUT_DETAIL = 16_000
const MAX_DETAIL_DEPTH = 200

/** True where the exit status says that all went well: 0, or what the manifest calls `ok`. */
export function isSuccessStatus({ status, exitCodes }: ChildOutput): boolean {
  return (
    status !== null &&
    status === ((exitCodes && Object.hasOwn(exitCodes, 'ok') ? exitCodes['ok'] : undefined) ?? 0)
  )
}

/**
 * The failure of a child that said so, ended badly, or gave no answer. What it said itself comes
 * first: in its answer, on stderr as JSON, on stderr as text, on stdout as text.
 */
export function readExitFailure(
  output: ChildOutput,
  value: unknown,
  envelope: Outcome | undefined,
): FailureOutcome {
  const said = envelope?.ok === false ? envelope.error : readStderrError(output)
  const error = said ?? explainExit(output, value)
  const details = { ...error.details, ...collectExitDetails(output, said ? undefined : value) }
  const { errors, summary } = envelope?.ok === false ? envelope : {}
  return compact({
    ok: false,
    status: 'error',
    error: {
      ...error,
      ...decideRetryable(output, error, value),
      details: { ...details, ...compact({ errors, summary }) },
    },
    errors,
    summary,
    meta: { tool: '', duration_ms: 0 },
  })
}

function explainExit(output: ChildOutput, value: unknown): ErrorObject {
  const { status, signal, stderr } = output
  if (isSuccessStatus(output))
    return toErrorObject('INTERNAL', 'the tool ended without an answer', {
      suggestion: {
        action: 'abort',
        fix: 'The author of the tool should print one JSON document, also when it fails',
      },
    })
  if (signal !== null) return toKilledError(signal, stderr)
  const cause = attributeError(stderr)
  const words =
    cause?.message ??
    (typeof value === 'string' && value.trim() !== ''
      ? readLastLines(value)
      : `the program ended with exit status ${status} and said nothing`)
  if (cause?.code !== undefined)
    return toErrorObject(
      cause.code,
      words,
      compact({
        retryable: false,
        suggestion:
          cause.fix !== undefined ? { action: 'abort' as const, fix: cause.fix } : undefined,
      }),
    )
  const meaning = getExitMeaning(output)
  if (meaning) return toErrorObject(meaning.code, words, { retryable: meaning.retryable })
  if (status === 126) return toErrorObject('PERMISSION', words)
  if (status === 127)
    return toErrorObject('DEPENDENCY', words, {
      retryable: false,
      suggestion: { action: 'abort', fix: 'Install the program that is missing' },
    })
  return readError(
    { message: words },
    compact({ tool: '', exitCode: status !== null ? status : undefined }),
  )
}

const EXTERNAL_SIGNALS = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'])

function toKilledError(signal: string, stderr: string): ErrorObject {
  const words = attributeError(stderr)?.message
  const message = `the program was ended by the signal ${signal}${words === undefined ? '' : `: ${words}`}`
  return EXTERNAL_SIGNALS.has(signal)
    ? toErrorObject('DEPENDENCY', message)
    : toErrorObject('INTERNAL', message)
}

// The manifest knows what a status means for a second try, unless the tool itself has said it.
function decideRetryable(
  output: ChildOutput,
  error: ErrorObject,
  value: unknown,
): { readonly retryable?: boolean } {
  const meaning = getExitMeaning(output)
  if (!meaning) return {}
  const own = isObject(value) ? (isObject(value['error']) ? value['error'] : value) : {}
  return Object.hasOwn(own, 'retryable') || Object.hasOwn(own, 'is_retryable')
    ? {}
    : { retryable: meaning.retryable || (error.retryable && !meaning.fatal) }
}

function collectExitDetails({ status, signal, stderr }: ChildOutput, value: unknown): object {
  const tail = stderr.trim().slice(-MAX_STDERR_TAIL)
  return compact({
    exit_status: status !== null ? status : undefined,
    signal: signal !== null ? signal : undefined,
    stderr: tail !== '' ? tail : undefined,
    stdout:
      value !== undefined && value !== ''
        ? typeof value === 'string'
          ? value.slice(-MAX_STDOUT_DETAIL)
          : limitDetail(value)
        : undefined,
  })
}

function limitDetail(value: unknown): unknown {
  if (isDeeperThan(MAX_DETAIL_DEPTH, value))
    return `[JSON that is nested more than ${MAX_DETAIL_DEPTH} levels deep]`
  const text = JSON.stringify(value)
  return text.length <= MAX_STDOUT_DETAIL ? value : text.slice(0, MAX_STDOUT_DETAIL)
}

function readLastLines(text: string): string {
  const lines = text.trim().split('\n')
  return lines.length <= 3 ? lines.join('\n').slice(0, 1000) : lines.at(-1)!.trim().slice(0, 1000)
}

function toErrorObject(code: string, message: string, options: FailOptions = {}): ErrorObject {
  return new ToolError(code, message, options).toObject()
}

/**
 * What a child left behind: its output, how it ended, and what its manifest says about exit
 * statuses.
 */
export type ChildOutput = {
  readonly stdout: Buffer
  /** The last part of it, notifications left out. */
  readonly stderr: string
  readonly status: number | null
  readonly signal: string | null
  readonly exitCodes?: { readonly [meaning: string]: number }
}

/** How far an output is understood. */
export type AnswerRules = {
  /**
   * `json`: an answer is JSON, scalars too. `text`: an answer may be text, so that `1.10` and
   * `true` stay what they are. `verbatim`: the exit status alone says how it went, and JSON is
   * data, whatever its words are.
   */
  readonly expects: 'json' | 'text' | 'verbatim'
  /** An answer has to be there. */
  readonly mustAnswer?: true
}

/** What a child answered: the outcome, and what it told on the way. */
export type ChildAnswer = { readonly outcome: Outcome; readonly events: readonly ToolEvent[] }

/** What a manifest says about an exit status. */
type ExitMeaning = {
  readonly code: ErrorCode
  readonly retryable: boolean
  readonly fatal: boolean
}

const CODES_BY_STATUS_NAME: { readonly [name: string]: ErrorCode } = {
  usage_error: 'USAGE',
  syntax_error: 'USAGE',
  data_error: 'INVALID_INPUT',
  no_input: 'NOT_FOUND',
  unavailable: 'DEPENDENCY',
  permission_denied: 'PERMISSION',
  config_error: 'CONFIG',
  timeout: 'TIMEOUT',
  cancelled: 'CANCELLED',
  terminated: 'CANCELLED',
} satisfies { readonly [name in (typeof EXIT_STATUSES)[number]['name']]?: ErrorCode }

/**
 * What the manifest calls the exit status of a child: `retryable_error`, `fatal_error`, a name of
 * our own statuses; undefined where it says nothing.
 */
export function getExitMeaning({
  status,
  exitCodes = {},
}: Pick<ChildOutput, 'status' | 'exitCodes'>): ExitMeaning | undefined {
  const name = Object.keys(exitCodes).find((key) => key !== 'ok' && exitCodes[key] === status)
  if (name === undefined) return undefined
  if (/retry|transient|temporary/i.test(name))
    return { code: 'DEPENDENCY', retryable: true, fatal: false }
  const code = Object.hasOwn(CODES_BY_STATUS_NAME, name) ? CODES_BY_STATUS_NAME[name]! : 'INTERNAL'
  return { code, retryable: ERROR_TABLE[code].retryable, fatal: /fatal/i.test(name) }
}

/**
 * What stderr says about the end of a program: the words that matter, and, where something is
 * missing on the machine, the code and what to do.
 */
type ErrorAttribution = {
  readonly message: string
  readonly code?: 'DEPENDENCY'
  readonly fix?: string
}

const MAX_MESSAGE_LENGTH = 1000
const MAX_STDERR_JSON = 64 * 1024

/** The words on stderr that say what went wrong; undefined where it is empty. */
function attributeError(stderr: string): ErrorAttribution | undefined {
  const lines = stripVTControlCharacters(stderr)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '')
  if (lines.length === 0) return undefined
  const message = pickErrorLine(lines).slice(0, MAX_MESSAGE_LENGTH)
  for (const { pattern, fix } of MISSING_DEPENDENCIES) {
    const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null)
    if (found)
      return {
        message: found.input.trim().slice(0, MAX_MESSAGE_LENGTH),
        code: 'DEPENDENCY',
        fix: fix(found[1] ?? ''),
      }
  }
  return { message }
}

/**
 * The error that a program wrote on stderr as JSON, when it ended badly without telling it on
 * stdout.
 */
function readStderrError({
  stderr,
  status,
}: {
  readonly stderr: string
  readonly status: number | null
}): ErrorObject | undefined {
  const lines = stderr.trim().split('\n')
  const candidates = [lines.at(-1)!, ...lines.slice(0, -1).reverse()]
    .filter((line) => line.startsWith('{') && line.length <= MAX_STDERR_JSON)
    .slice(0, 20)
  for (const text of [stderr.trim().slice(0, MAX_STDERR_JSON), ...candidates]) {
    const outcome = text.startsWith('{')
      ? readEnvelope(parseJsonObject(text), status ?? undefined)
      : undefined
    if (outcome?.ok === false) return outcome.error
  }
  return undefined
}

function pickErrorLine(lines: readonly string[]): string {
  const last = lines.at(-1)!.trim()
  if (lines.some((line) => line.startsWith('Traceback (most recent call last)')))
    return findTracebackError(lines)
  const thrown = lines.find((line) =>
    /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)\b.*: \S/.test(line),
  )
  if (thrown !== undefined) return thrown
  if (lines.length <= 3) return lines.map((line) => line.trim()).join('\n')
  return (
    lines
      .find((line) => /^(?:[\w./-]+: )*(?:error|fatal|panic|fehler)\b/i.test(line.trim()))
      ?.trim() ?? last
  )
}

// Behind the last frame of a traceback stands the error, which may have several lines; its first
// one names it.
function findTracebackError(lines: readonly string[]): string {
  const lastFrame = lines.findLastIndex((line) => /^\s+File "/.test(line))
  return lines.slice(lastFrame + 1).find((line) => !/^\s/.test(line)) ?? lines.at(-1)!.trim()
}

const MISSING_DEPENDENCIES: readonly { readonly pattern: RegExp; fix(name: string): string }[] = [
  {
    pattern: /ModuleNotFoundError: No module named '(\w[\w.-]*)'/,
    fix: (name) => `pip install ${name.split('.')[0]!}`,
  },
  {
    pattern: /Cannot find (?:module|package) '([\w@][\w@./-]*)'/,
    fix: (name) => `npm install ${name}`,
  },
  {
    pattern: /Can't locate ([\w/]+)\.pm in @INC/,
    fix: (name) => `cpan ${name.replaceAll('/', '::')}`,
  },
  { pattern: /cannot load such file -- (\w[\w./-]*)/, fix: (name) => `gem install ${name}` },
  {
    pattern: /: (?:line )?\d+: ([\w.+-]+): (?:command )?not found$/,
    fix: (name) => `Install ${name}, or add its folder to PATH`,
  },
  {
    pattern: /env: [‘'"]?([\w.+-]+)[’'"]?: No such file or directory/,
    fix: (name) => `Install ${name}, or add its folder to PATH`,
  },
]

const EMPTY_META = { tool: '', duration_ms: 0 }

/**
 * The outcome that a document carries: any dialect of ours, the answer of an MCP tool, or one of
 * the ways in which tools say that they failed; undefined for what is a result itself.
 */
export function readEnvelope(document: unknown, status: number | undefined): Outcome | undefined {
  const context = compact({ tool: '', exitCode: status })
  const outcome = readOutcome(document, context)
  if (outcome || !isObject(document)) return outcome
  if (isMcpResult(document)) return readMcpResult(document, context)
  const words = readFailureStatus(document)
  return words === undefined
    ? undefined
    : { ok: false, status: 'error', error: readError(words, context), meta: EMPTY_META }
}

const MCP_RESULT_KEYS = new Set(['content', 'structuredContent', 'isError', '_meta'])

function isMcpResult(document: JsonObject): boolean {
  const isMarked =
    typeof document['isError'] === 'boolean' || Object.hasOwn(document, 'structuredContent')
  return (
    isMarked &&
    Array.isArray(document['content']) &&
    Object.keys(document).every((key) => MCP_RESULT_KEYS.has(key))
  )
}

function readMcpResult(
  { content, structuredContent, isError }: JsonObject,
  context: { readonly tool: string },
): Outcome {
  const texts = (content as readonly unknown[])
    .filter(isObject)
    .filter(({ type, text }) => type === 'text' && typeof text === 'string')
    .map(({ text }) => text as string)
  const text = texts.join('\n')
  if (isError === true)
    return {
      ok: false,
      status: 'error',
      error: readError(
        isObject(structuredContent) ? { message: text, ...structuredContent } : text,
        context,
      ),
      meta: EMPTY_META,
    }
  const hasMore = (content as readonly unknown[]).some(
    (block) => isObject(block) && block['type'] !== 'text',
  )
  return {
    ok: true,
    status: 'success',
    result: structuredContent ?? text,
    ...(hasMore && readContent(content)),
    meta: EMPTY_META,
  }
}

const REASON_KEYS = [
  'reason',
  'detail',
  'description',
  'error_message',
  'errorMessage',
  'error_description',
]

// `{"status":"error"}` with other facts in it may be a report about something else.
function readFailureStatus(document: JsonObject): unknown {
  if (document['status'] !== 'error' && document['status'] !== 'failed') return undefined
  const { status, ...rest } = document
  if (Object.keys(rest).length === 0) return status === 'error' ? {} : undefined
  const reason = REASON_KEYS.find((key) => typeof rest[key] === 'string')
  if (reason === undefined) return undefined
  const { [reason]: message, ...others } = rest
  return { ...others, message }
}
