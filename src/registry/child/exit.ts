/**
 * Decides whether a child failed and why: its answer, JSON on stderr, the last error line, the exit
 * status and what the manifest says about it.
 */

import { stripVTControlCharacters } from 'node:util'
import { readContent, readError } from '../../protocol/dialects/read-error.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import type { ErrorCode } from '../../protocol/errors.ts'
import { ERROR_TABLE } from '../../protocol/errors.ts'
import type { EXIT_STATUSES } from '../../protocol/exit-statuses.ts'
import type { ErrorObject, FailureOutcome, Outcome } from '../../protocol/outcome.ts'
import type { FailOptions } from '../../protocol/tool-error.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isDeeperThan, isObject, parseJsonObject } from '../../util/values.ts'

const MAX_STDERR_TAIL = 4000
const MAX_STDOUT_DETAIL = 16_000
const MAX_DETAIL_DEPTH = 200

/** What a child left: its output, how it ended, and what its manifest says about exit statuses. */
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
   * `true` are texts. `verbatim`: only the exit status says how it went, and JSON is data, also
   * where it looks like an error.
   */
  readonly expects: 'json' | 'text' | 'verbatim'
  /** Printing nothing is a failure. */
  readonly mustAnswer?: true
}

/** The meta of an outcome before the pipeline fills it in. */
export const EMPTY_META = { tool: '', duration_ms: 0 }

/** True for the exit status of a success: 0, or what the manifest calls `ok`. */
export function isSuccessStatus({ status, exitCodes = {} }: ChildOutput): boolean {
  const success = Object.hasOwn(exitCodes, 'ok') ? exitCodes['ok'] : undefined
  return status !== null && status === (success ?? 0)
}

/**
 * The failure of a child that reported one, ended badly, or gave no answer. Its own words come
 * first: in its answer, on stderr as JSON, on stderr as text, on stdout as text.
 */
export function readExitFailure(
  output: ChildOutput,
  value: unknown,
  envelope: Outcome | undefined,
): FailureOutcome {
  const failure = envelope?.ok === false ? envelope : undefined
  const reported = failure?.error ?? readStderrError(output)
  const error = reported ?? explainExit(output, value)
  const more = compact({ errors: failure?.errors, summary: failure?.summary })
  return {
    ok: false,
    status: 'error',
    error: {
      ...error,
      ...decideRetryable(output, error, value),
      details: {
        ...error.details,
        ...collectExitDetails(output, reported ? undefined : value),
        ...more,
      },
    },
    ...more,
    meta: EMPTY_META,
  }
}

function explainExit(output: ChildOutput, value: unknown): ErrorObject {
  const { status, signal, stderr } = output
  if (isSuccessStatus(output))
    return toErrorObject('INTERNAL', 'the tool ended without an answer', {
      suggestion: abortWith(
        'The author of the tool should print one JSON document, also when it fails',
      ),
    })
  const { message, fix } = attributeError(stderr) ?? {}
  if (signal !== null) return toKilledError(signal, message)
  const text = message ?? describeSilentExit(value, status)
  if (fix !== undefined)
    return toErrorObject('DEPENDENCY', text, { retryable: false, suggestion: abortWith(fix) })
  const meaning = getExitMeaning(output)
  if (meaning) return toErrorObject(meaning.code, text, { retryable: meaning.retryable })
  if (status === 126) return toErrorObject('PERMISSION', text)
  if (status === 127)
    return toErrorObject('DEPENDENCY', text, {
      retryable: false,
      suggestion: abortWith('Install the program that is missing'),
    })
  return readError({ message: text }, compact({ tool: '', exitCode: status ?? undefined }))
}

function abortWith(fix: string): FailOptions['suggestion'] & object {
  return { action: 'abort', fix }
}

function describeSilentExit(value: unknown, status: number | null): string {
  if (typeof value !== 'string' || value.trim() === '')
    return `the program ended with exit status ${status} and said nothing`
  const lines = value.trim().split('\n')
  return (lines.length <= 3 ? lines.join('\n') : lines.at(-1)!.trim()).slice(0, 1000)
}

const EXTERNAL_SIGNALS = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'])

function toKilledError(signal: string, words: string | undefined): ErrorObject {
  const message = `the program was ended by the signal ${signal}${words === undefined ? '' : `: ${words}`}`
  return toErrorObject(EXTERNAL_SIGNALS.has(signal) ? 'DEPENDENCY' : 'INTERNAL', message)
}

// The manifest says whether a status is worth a second try, unless the tool itself did.
function decideRetryable(
  output: ChildOutput,
  error: ErrorObject,
  value: unknown,
): { readonly retryable?: boolean } {
  const meaning = getExitMeaning(output)
  if (!meaning) return {}
  const answer = isObject(value) ? value : {}
  const own = isObject(answer['error']) ? answer['error'] : answer
  if (Object.hasOwn(own, 'retryable') || Object.hasOwn(own, 'is_retryable')) return {}
  return { retryable: meaning.retryable || (error.retryable && !meaning.fatal) }
}

function collectExitDetails({ status, signal, stderr }: ChildOutput, value: unknown): JsonObject {
  return compact({
    exit_status: status ?? undefined,
    signal: signal ?? undefined,
    stderr: stderr.trim().slice(-MAX_STDERR_TAIL) || undefined,
    stdout: value === undefined || value === '' ? undefined : limitDetail(value),
  })
}

function limitDetail(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(-MAX_STDOUT_DETAIL)
  if (isDeeperThan(MAX_DETAIL_DEPTH, value))
    return `[JSON that is nested more than ${MAX_DETAIL_DEPTH} levels deep]`
  const text = JSON.stringify(value)
  return text.length <= MAX_STDOUT_DETAIL ? value : text.slice(0, MAX_STDOUT_DETAIL)
}

function toErrorObject(code: ErrorCode, message: string, options?: FailOptions): ErrorObject {
  return new ToolError(code, message, options).toObject()
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
 * What the manifest calls the exit status of a child: `retryable_error`, `fatal_error`, or the name
 * of one of our own statuses. Undefined where the manifest does not name it.
 */
export function getExitMeaning({
  status,
  exitCodes = {},
}: Pick<ChildOutput, 'status' | 'exitCodes'>):
  { readonly code: ErrorCode; readonly retryable: boolean; readonly fatal: boolean } | undefined {
  const name = Object.keys(exitCodes).find((key) => key !== 'ok' && exitCodes[key] === status)
  if (name === undefined) return undefined
  if (/retry|transient|temporary/i.test(name))
    return { code: 'DEPENDENCY', retryable: true, fatal: false }
  const code = Object.hasOwn(CODES_BY_STATUS_NAME, name) ? CODES_BY_STATUS_NAME[name]! : 'INTERNAL'
  return { code, retryable: ERROR_TABLE[code].retryable, fatal: /fatal/i.test(name) }
}

const MAX_MESSAGE_LENGTH = 1000
const MAX_STDERR_JSON = 64 * 1024

/**
 * Picks the line of stderr that says what went wrong; `fix` where something is missing on the
 * machine. Undefined where stderr is empty.
 */
function attributeError(
  stderr: string,
): { readonly message: string; readonly fix?: string } | undefined {
  const lines = stripVTControlCharacters(stderr)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
  if (lines.length === 0) return undefined
  for (const { pattern, fix } of MISSING_DEPENDENCIES) {
    const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null)
    if (!found) continue
    return { message: found.input.trim().slice(0, MAX_MESSAGE_LENGTH), fix: fix(found[1] ?? '') }
  }
  return { message: pickErrorLine(lines).slice(0, MAX_MESSAGE_LENGTH) }
}

/** Reads the error that a program wrote on stderr as JSON, instead of on stdout. */
function readStderrError({ stderr, status }: ChildOutput): ErrorObject | undefined {
  const text = stderr.trim()
  const lines = text
    .split('\n')
    .reverse()
    .filter((line) => line.startsWith('{') && line.length <= MAX_STDERR_JSON)
    .slice(0, 20)
  for (const candidate of [text.slice(0, MAX_STDERR_JSON), ...lines]) {
    if (!candidate.startsWith('{')) continue
    const outcome = readEnvelope(parseJsonObject(candidate), status ?? undefined)
    if (outcome?.ok === false) return outcome.error
  }
  return undefined
}

function pickErrorLine(lines: readonly string[]): string {
  const trimmed = lines.map((line) => line.trim())
  if (lines.some((line) => line.startsWith('Traceback (most recent call last)'))) {
    // After the last frame comes the error, which may have several lines; its first one names it.
    const lastFrame = lines.findLastIndex((line) => /^\s+File "/.test(line))
    return lines.slice(lastFrame + 1).find((line) => !/^\s/.test(line)) ?? trimmed.at(-1)!
  }
  const thrown = lines.find((line) =>
    /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)\b.*: \S/.test(line),
  )
  if (thrown !== undefined) return thrown
  if (lines.length <= 3) return trimmed.join('\n')
  const marked = /^(?:[\w./-]+: )*(?:error|fatal|panic|fehler)\b/i
  return trimmed.find((line) => marked.test(line)) ?? trimmed.at(-1)!
}

const toInstallFix = (name: string): string => `Install ${name}, or add its folder to PATH`

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
  { pattern: /: (?:line )?\d+: ([\w.+-]+): (?:command )?not found$/, fix: toInstallFix },
  { pattern: /env: [‘'"]?([\w.+-]+)[’'"]?: No such file or directory/, fix: toInstallFix },
]

/**
 * Reads the outcome that a document carries: any dialect of ours, the answer of an MCP tool, or one
 * of the ways in which tools report a failure. Undefined for a document that is itself a result.
 */
export function readEnvelope(document: unknown, status: number | undefined): Outcome | undefined {
  const context = compact({ tool: '', exitCode: status })
  const outcome = readOutcome(document, context)
  if (outcome || !isObject(document)) return outcome
  if (isMcpResult(document)) return readMcpResult(document, context)
  const failure = readFailureStatus(document)
  return failure === undefined ? undefined : toFailure(failure, context)
}

function toFailure(error: unknown, context: { readonly tool: string }): FailureOutcome {
  return { ok: false, status: 'error', error: readError(error, context), meta: EMPTY_META }
}

const MCP_RESULT_KEYS = new Set(['content', 'structuredContent', 'isError', '_meta'])

type McpResult = JsonObject & { readonly content: readonly unknown[] }

function isMcpResult(document: JsonObject): document is McpResult {
  return (
    (typeof document['isError'] === 'boolean' || Object.hasOwn(document, 'structuredContent')) &&
    Array.isArray(document['content']) &&
    Object.keys(document).every((key) => MCP_RESULT_KEYS.has(key))
  )
}

function readMcpResult(
  { content, structuredContent, isError }: McpResult,
  context: { readonly tool: string },
): Outcome {
  const blocks = content.filter(isObject)
  const text = blocks
    .filter((block) => block['type'] === 'text' && typeof block['text'] === 'string')
    .map((block) => block['text'])
    .join('\n')
  if (isError === true)
    return toFailure(
      isObject(structuredContent) ? { message: text, ...structuredContent } : text,
      context,
    )
  const hasMore = blocks.some(({ type }) => type !== 'text')
  return compact({
    ok: true,
    status: 'success',
    result: structuredContent ?? text,
    content: hasMore ? readContent(content)?.content : undefined,
    meta: EMPTY_META,
  })
}

const REASON_KEYS = [
  'reason',
  'detail',
  'description',
  'error_message',
  'errorMessage',
  'error_description',
]

// `{"status":"error"}` with other fields in it may be a report about something else.
function readFailureStatus(document: JsonObject): unknown {
  const { status, ...rest } = document
  if (status !== 'error' && status !== 'failed') return undefined
  if (Object.keys(rest).length === 0) return status === 'error' ? {} : undefined
  const reason = REASON_KEYS.find((key) => typeof rest[key] === 'string')
  if (reason === undefined) return undefined
  const { [reason]: message, ...others } = rest
  return { ...others, message }
}
