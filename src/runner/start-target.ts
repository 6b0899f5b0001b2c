/**
 * Starts the two built-in run targets, a program and a registry call, and keeps what they write to
 * stderr.
 */

import { constants } from 'node:fs'
import { captureStrayOutput } from '../core/call-scope.ts'
import type { ChildOptions } from '../process/child.ts'
import type { Redactor } from '../process/redaction.ts'
import { openChild } from '../process/run.ts'
import { dialect as acorDialect } from '../protocol/dialects/acor.ts'
import { toExitCode } from '../protocol/errors.ts'
import type { Interaction, ToolEvent } from '../protocol/events.ts'
import type { DialectContext } from '../protocol/output-protocols.ts'
import { readNotification } from '../registry/child/events.ts'
import type { Registry } from '../registry/types.ts'
import { SerialQueue } from '../util/async.ts'
import { KIBIBYTE, MEBIBYTE } from '../util/units.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { OutputDiagnostic } from './output-lines.ts'
import { createDiagnosticWriter, createOutputSplitter } from './output-lines.ts'
import type { RunTarget, RunTargetListener, StartRunTarget } from './run-target.ts'
import type { ToolLine } from './tool-output.ts'
import { createToolOutputReader } from './tool-output.ts'

/** The answer of a plain program is read from this much of what it prints. */
const MAX_KEPT_STDOUT_BYTES = 4 * MEBIBYTE
/** A run keeps this much of what it writes to stderr. */
const MAX_STDERR_BYTES = 64 * MEBIBYTE

type ProgramTargetOptions = {
  readonly runId: string
  /** Everything about the process: command, environment, sandbox, limits. */
  readonly child: Pick<
    ChildOptions,
    'command' | 'cwd' | 'env' | 'sandbox' | 'limits' | 'input' | 'onStart'
  >
  /** Its manifest says that it speaks the protocol. */
  readonly speaksProtocol: boolean
  /** It may report tasks. */
  readonly mayOrchestrate: boolean
  /** Bytes of a line, and of everything on stdout. */
  readonly maxLine: number
  readonly maxOutput: number
  /** The file that takes what it says on stderr. */
  readonly stderr: string
  readonly redactor: Redactor
}

/** Starts a program and reads what it says. */
export async function startProgramTarget(
  options: ProgramTargetOptions,
  listener: RunTargetListener,
): Promise<RunTarget> {
  const { runId, child: given, speaksProtocol, maxLine, maxOutput, redactor } = options
  const kept: Buffer[] = []
  let keptBytes = 0
  const stderr = await openStderrLog(options.stderr, MAX_STDERR_BYTES, redactor, {
    onDiagnostic: listener.onDoubt,
    onEvent: (event) => listener.onNotification(toToolLine(event)),
  })
  const reader = createToolOutputReader(
    compact({
      runId,
      mayOrchestrate: options.mayOrchestrate,
      maxLine,
      maxBytes: maxOutput,
      redactor,
      onEvent: listener.onLine,
      onDiagnostic: listener.onDoubt,
      onLimit: listener.onOutputLimit,
      onPlain: speaksProtocol ? undefined : listener.onPlain,
    }),
  )
  const child = await openChild({
    ...given,
    stdoutVariable: 'RUN_STDOUT',
    onOutput(chunk) {
      if (!speaksProtocol && !reader.speaksProtocol && keptBytes < MAX_KEPT_STDOUT_BYTES) {
        kept.push(chunk)
        keptBytes += chunk.length
      }
      reader.push(chunk)
      return listener.waitForDrain()
    },
    onErrorOutput: (chunk) => waitForBoth(stderr.push(chunk), listener.waitForDrain()),
  })
  if (given.input !== undefined) child.closeInput()
  const end = child.end.then(async (ended) => {
    reader.finish()
    await stderr.finish()
    reportStderrLoss(stderr, listener)
    const speaks = speaksProtocol || reader.speaksProtocol
    return {
      child: ended,
      speaksProtocol: speaks,
      stdout: Buffer.concat(speaks ? [] : kept),
      stderr: stderr.tail(),
    }
  })
  return {
    pid: child.pid,
    answer: (line: JsonObject) => void child.write(JSON.stringify(line)),
    closeInput: () => child.closeInput(),
    stop: (grace) => child.kill(grace),
    end,
  }
}

/** Says what is missing in the log of stderr, when it is closed. */
function reportStderrLoss(
  { problem, dropped }: Pick<StderrLog, 'problem' | 'dropped'>,
  listener: Pick<RunTargetListener, 'onDoubt'>,
): void {
  if (problem)
    listener.onDoubt({
      stream: 'stderr',
      reason: 'not_kept',
      msg: `stderr could not be written down: ${problem.message}`,
    })
  if (dropped > 0)
    listener.onDoubt({
      stream: 'stderr',
      reason: 'too_much',
      msg: `${dropped} bytes of stderr were not kept`,
      bytes: dropped,
    })
}

// What tools of other specifications tell on stderr, as the line that ours would write.
function toToolLine(event: ToolEvent): ToolLine {
  const line = acorDialect.event(event, { tool: '', runId: '', now: () => '' }) as ToolLine & {
    readonly [field: string]: unknown
  }
  const { v: _v, ts: _ts, run_id: _id, ...said } = line
  return said
}

function waitForBoth(one: void | Promise<void>, other: void | Promise<void>): void | Promise<void> {
  return one && other ? Promise.all([one, other]).then(() => undefined) : (one ?? other)
}

type CallTargetOptions = {
  readonly registry: Pick<Registry, 'call'>
  readonly tool: string
  readonly input: JsonObject
  readonly runId: string
  readonly dryRun?: true
  readonly env?: { readonly [name: string]: string | undefined }
  readonly secrets: { readonly [name: string]: string }
  readonly cwd: string
}

/**
 * Calls a tool that is no program of ours: of an MCP server, of a module, behind an address. What
 * it tells becomes the lines of the protocol.
 */
export function startCallTarget(
  { registry, tool, input, runId, dryRun, env, secrets, cwd }: CallTargetOptions,
  listener: RunTargetListener,
): RunTarget {
  const context: DialectContext = { tool, runId, now: () => new Date().toISOString(), input }
  const stop = new AbortController()
  const waiting = new Map<string, (value: unknown) => void>()
  const tell = (line: object | undefined): void => {
    if (line) listener.onLine(line as ToolLine)
  }
  const ask = (question: Interaction): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(question.id, resolve)
      tell(acorDialect.question(question, context))
    })
  tell(acorDialect.start(context))
  const end = registry
    .call(tool, input, {
      cwd,
      ...compact({ dryRun, env }),
      secrets,
      signal: stop.signal,
      onEvent: (event) =>
        tell(event.type === 'tool_invoked' ? undefined : acorDialect.event(event, context)),
      answer: ask,
      sample: async ({ id, prompt, key, ...sampling }) =>
        String(await ask(compact({ id, kind: 'sample', prompt, sampling, key }))),
    })
    .then((outcome) => {
      for (const line of acorDialect.outcome(outcome, context)) tell(line as object)
      return {
        child: {
          reason: stop.signal.aborted ? ('cancelled' as const) : ('exited' as const),
          status: outcome.ok ? 0 : toExitCode(outcome.error, 'json'),
          signal: null,
        },
        speaksProtocol: true,
        stdout: Buffer.alloc(0),
        stderr: '',
      }
    })
  return {
    pid: undefined,
    answer: ({ id, value, content }) => {
      waiting.get(String(id))?.(value === undefined ? content : value)
      waiting.delete(String(id))
    },
    closeInput() {
      for (const resolve of waiting.values()) resolve(undefined)
      waiting.clear()
    },
    stop: () => stop.abort(),
    end,
  }
}

/**
 * Starts a subject that works in this process: what it and its libraries write to the streams of
 * the process goes where the stderr of a program goes.
 */
export function recordStrayOutput(
  start: StartRunTarget,
  path: string,
  redactor: Redactor,
): StartRunTarget {
  return async (listener) => {
    const stray = createStrayLog(path, redactor, listener)
    const subject = await captureStrayOutput(stray.hear, () => start(listener))
    return { ...subject, end: subject.end.finally(stray.finish) }
  }
}

// Most write nothing: the file is opened for the first word.
function createStrayLog(
  path: string,
  redactor: Redactor,
  listener: RunTargetListener,
): { hear(bytes: Uint8Array): boolean; finish(): Promise<void> } {
  let opening: Promise<StderrLog | undefined> | undefined
  let over = false
  return {
    hear(bytes) {
      if (over) return false
      opening ??= openStderrLog(path, MAX_STDERR_BYTES, redactor, {
        onDiagnostic: listener.onDoubt,
      }).catch((error: Error) => {
        listener.onDoubt({
          stream: 'stderr',
          reason: 'not_kept',
          msg: `what was printed could not be written down: ${error.message}`,
        })
        return undefined
      })
      const kept = Buffer.from(bytes)
      void opening.then((log) => log?.push(kept))
      return true
    },
    async finish() {
      over = true
      const log = await opening
      if (!log) return
      await log.finish()
      reportStderrLoss(log, listener)
    },
  }
}

const MAX_STDERR_LINE_BYTES = 64 * KIBIBYTE
const STDERR_TAIL_BYTES = 4096
/** Bytes that may wait for the disk before the tool has to. */
const MAX_PENDING_STDERR_BYTES = MEBIBYTE

/** What a tool writes to stderr, on its way to a file and to listeners. */
type StderrLog = {
  /** A promise where the disk is behind. Never throws or rejects. */
  push(chunk: Buffer): void | Promise<void>
  /** Everything is written and the file is closed. Never rejects: `problem` tells. */
  finish(): Promise<void>
  /** The end of it, for messages. */
  tail(): string
  /** Bytes that did not fit in, or that could not be written. */
  readonly dropped: number
  /** Why the file is not whole. */
  readonly problem: Error | undefined
}

type StderrListener = {
  readonly onDiagnostic?: (diagnostic: OutputDiagnostic) => void
  /** Gets what a tool tells in the form of a notification. */
  readonly onEvent?: (event: ToolEvent) => void
}

/**
 * Opens the file for stderr of a run; what an earlier attempt wrote stays and counts. It takes no
 * more than `cap` bytes, without secrets; the rest is read and counted. Rejects where the file
 * cannot be opened.
 */
export async function openStderrLog(
  path: string,
  cap: number,
  redactor: Redactor,
  { onDiagnostic, onEvent }: StderrListener = {},
): Promise<StderrLog> {
  const { open } = await import('node:fs/promises')
  const file = await open(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  )
  const stream = redactor.stream()
  const diagnostics = onDiagnostic && createDiagnosticWriter('stderr', onDiagnostic, redactor)
  const tellText = (text: string | Buffer, length?: number): void =>
    diagnostics?.add('stderr', 'The tool wrote this to stderr', text, length)
  const lines = createOutputSplitter(MAX_STDERR_LINE_BYTES, {
    line(text) {
      const event = onEvent && readNotification(text)
      if (event) onEvent(event)
      else if (text.trim() !== '') tellText(text)
    },
    broken: tellText,
    long: tellText,
  })
  let room = cap - (await file.stat()).size
  let tail = Buffer.alloc(0)
  let waiting = 0
  let dropped = 0
  let problem: Error | undefined
  const queue = new SerialQueue()

  const write = async (bytes: Buffer): Promise<void> => {
    try {
      if (problem) dropped += bytes.length
      else await file.appendFile(bytes)
    } catch (error) {
      problem = error as Error
      dropped += bytes.length
    } finally {
      waiting -= bytes.length
    }
  }
  const take = (bytes: Buffer): void => {
    const kept = bytes.subarray(0, Math.max(0, room))
    dropped += bytes.length - kept.length
    room -= kept.length
    if (bytes.length > 0)
      tail = Buffer.concat([tail, bytes.subarray(-STDERR_TAIL_BYTES)]).subarray(-STDERR_TAIL_BYTES)
    if (kept.length === 0) return
    lines.push(kept)
    waiting += kept.length
    void queue.run(() => write(kept))
  }
  return {
    push(chunk) {
      take(stream.push(chunk))
      return waiting > MAX_PENDING_STDERR_BYTES ? queue.whenIdle() : undefined
    },
    async finish() {
      take(stream.finish())
      lines.finish()
      diagnostics?.finish()
      await queue.whenIdle()
      await file.close().catch((error: unknown) => {
        problem ??= error as Error
      })
    },
    tail: () => tail.toString(),
    get dropped() {
      return dropped
    },
    get problem() {
      return problem
    },
  }
}
