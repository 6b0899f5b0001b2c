/**
 * Calls a tool in another process. FORM_RUNNERS has one function per call form; most of them are
 * one run from input to answer (`runOnce`).
 */

import { toCancelledError } from '../../core/lifecycle.ts'
import type { ChildEnd, ChildReason } from '../../process/child.ts'
import { toLimitError } from '../../process/child.ts'
import { runChild } from '../../process/run.ts'
import type { Context } from '../../protocol/context.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { MEBIBYTE } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { CheckedFile } from '../cache.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import { buildChildEnv } from '../source.ts'
import { parseLenientJson, readAnswer } from './answer.ts'
import { buildProgramArgv, checkArguments, toFlagArguments } from './arguments.ts'
import type { CallForm, ChildCall, ChildServices, ConfinedOptions } from './child-call.ts'
import type { Confinement } from './confined-call.ts'
import { createStderrReader, emitEvent, readEvent, toCallReply } from './events.ts'
import type { AnswerRules } from './exit.ts'

/** One call of a tool in another process. */
type ChildRequest = {
  readonly call: ChildCall
  readonly input: JsonObject
  readonly ctx: Context
  readonly services: ChildServices
  readonly checked: CheckedFile | undefined
  /** For a tool confined by its manifest; absent: it has the rights of its caller. */
  readonly confined?: ConfinedOptions
}

/** What goes into a child: arguments after the fixed ones, and its stdin. */
type ChildFeed = {
  readonly args: readonly string[]
  readonly input?: string
  /** Events come as lines on stdout before the answer. */
  readonly streams?: boolean
}

const FORM_RUNNERS: { readonly [form in CallForm]: (request: ChildRequest) => Promise<unknown> } = {
  json: (request) => runOnce(request, toJsonFeed(request), { expects: 'json' }),
  flags: (request) =>
    runOnce(request, { args: toFlagArguments(request.input) }, { expects: 'text' }),
  stdin: (request) =>
    runOnce(
      request,
      { args: [], input: `${JSON.stringify(request.input)}\n` },
      { expects: 'json' },
    ),
  protocol: (request) => trackChild(request.services.running, runProtocol(request)),
  toolable: callToolable,
  program: callProgram,
}

/**
 * Runs a tool in another process, in the form that its call has: confined by its manifest, or with
 * the rights of its caller.
 */
export function createChildRunner(
  call: ChildCall,
  services: ChildServices,
  confinement?: Confinement,
): ForeignRun {
  const run = FORM_RUNNERS[call.form]
  return (input, ctx, checked) => {
    // A script learns of a dry run only by its input; one that does not would make changes.
    const knowsDryRun =
      call.form === 'toolable' || input['dry_run'] === true || input['dryRun'] === true
    if (ctx.dryRun && !knowsDryRun)
      throw new ToolError(
        'PRECONDITION',
        'the tool has no field by which it could be told of a dry run',
        { recoverable: false },
      )
    const request = { call, services, input, ctx, checked }
    if (!confinement) return run(request)
    const running = import('./confined-call.ts').then(({ runConfined }) =>
      runConfined(call, input, ctx, confinement, (preparedInput, preparedCtx, confined) =>
        run({ ...request, input: preparedInput, ctx: preparedCtx, confined }),
      ),
    )
    return trackChild(services.running, running)
  }
}

// Below the limit of one argument, which shares its memory with the environment.
const MAX_JSON_ARGUMENT_BYTES = 100_000

// By stdin where the input is large or secret and the tool reads stdin.
function toJsonFeed({ call, input }: ChildRequest): ChildFeed {
  const text = JSON.stringify(input)
  if (call.stdin && (call.secret || Buffer.byteLength(text) > MAX_JSON_ARGUMENT_BYTES))
    return { args: [], input: text }
  if (call.secret)
    throw new ToolError(
      'CONFIG',
      'the tool takes secrets and wants its input as an argument, which every user of the machine can read',
      {
        suggestion: "Let the tool read its input from stdin, and say 'call: stdin' in its manifest",
      },
    )
  return { args: [text] }
}

// The output of an ordinary program is data, and its exit status says whether it failed.
async function callProgram(request: ChildRequest): Promise<unknown> {
  const { program: form } = request.call
  if (!form) throw new ToolError('INTERNAL', 'nobody has said how the program takes its arguments')
  return runOnce(request, { args: buildProgramArgv(form, request.input) }, { expects: 'verbatim' })
}

// Warm where the program can be kept running, else started for this call.
async function callToolable(request: ChildRequest): Promise<unknown> {
  const { call, input, ctx, services, checked, confined } = request
  // A confined tool has a workspace per call, so no process can serve several calls.
  const isWarm = call.warm && !confined
  const outcome = isWarm ? await services.warm?.call(call, input, ctx, checked) : undefined
  if (outcome) return toCallReply(outcome, ctx)
  return runOnce(request, toToolableFeed(request), { expects: 'json', mustAnswer: true })
}

function toToolableFeed({ call, input, ctx }: ChildRequest): ChildFeed {
  const args = call.tool === undefined ? [] : [call.tool]
  const text = JSON.stringify(input)
  // Executables of the specification know neither stdin nor these flags.
  if (!call.stdin && !call.warm) {
    args.push(text)
    if (call.streaming) args.push('--stream')
    return { args, streams: call.streaming === true }
  }
  args.push('-')
  if (ctx.dryRun) args.push('--dry-run')
  if (call.destructive) args.push('--yes')
  return { args, input: text }
}

const MAX_PROTOCOL_BYTES = 256 * MEBIBYTE

async function runProtocol({ call, input, ctx, confined }: ChildRequest): Promise<unknown> {
  const args = toFlagArguments(input)
  checkArguments(args, 'Give the tool a file with the data instead')
  const [{ openChild }, { answerActionRequired, createProtocolListener, makeRunFolder }] =
    await Promise.all([import('../../process/run.ts'), import('./protocol.ts')])
  const folder = confined ? undefined : await makeRunFolder(ctx)
  try {
    const stderr = createStderrReader(ctx)
    const listener = createProtocolListener(ctx, (question) =>
      answerActionRequired(question, ctx, child),
    )
    const child = await openChild({
      command: [...call.command, ...args],
      grace: STOP_GRACE_MS,
      maxStdout: MAX_PROTOCOL_BYTES,
      maxLine: MEBIBYTE,
      ...toSurroundings(call, ctx, confined, folder?.env),
      signal: ctx.signal,
      onLine: listener.readLine,
      onErrorLine: stderr.readLine,
    })
    const end = await child.end
    throwEndError(end, ctx, stderr.tail())
    return await listener.conclude({
      ...end,
      stderr: stderr.tail(),
      ...compact({ exitCodes: call.exitCodes }),
    })
  } finally {
    await folder?.remove()
  }
}

function toSurroundings(
  call: ChildCall,
  ctx: Context,
  confined: ConfinedOptions | undefined,
  runEnv?: ConfinedOptions['env'],
): ConfinedOptions {
  return confined ?? { cwd: call.cwd ?? ctx.cwd, env: { ...buildChildEnv(call, ctx), ...runEnv } }
}

/** Milliseconds between SIGTERM and SIGKILL for a cancelled child. */
const STOP_GRACE_MS = 2000

const STDIN_HINT =
  "Send less, or let the tool read its input from stdin: 'call: stdin' in its manifest"
const FILE_HINT = 'Send less, or put the text into a file and give the tool its path'

/** Runs a child once, from its input to its answer. */
async function runOnce(
  { call, ctx, services, confined }: ChildRequest,
  { args, input, streams }: ChildFeed,
  rules: AnswerRules,
): Promise<unknown> {
  checkArguments(args, call.form === 'json' || call.form === 'flags' ? STDIN_HINT : FILE_HINT)
  const stderr = createStderrReader(ctx)
  const stream = streams ? readEventStream(ctx) : undefined
  const end = await trackChild(
    services.running,
    runChild({
      command: [...call.command, ...args],
      grace: STOP_GRACE_MS,
      ...toSurroundings(call, ctx, confined),
      ...compact({ input, onLine: stream?.readLine }),
      signal: ctx.signal,
      onErrorLine: stderr.readLine,
    }),
  )
  throwEndError(end, ctx, stderr.tail())
  const { outcome, events } = readAnswer(
    compact({
      stdout: stream ? stream.rest() : end.stdout,
      stderr: stderr.tail(),
      status: end.status,
      signal: end.signal,
      exitCodes: call.exitCodes,
    }),
    rules,
  )
  for (const event of events) emitEvent(event, ctx)
  return toCallReply(outcome, ctx)
}

// Events are emitted as they come; the rest of the output is the answer.
function readEventStream(ctx: Context) {
  const rest: string[] = []
  return {
    readLine(line: string): void {
      const document = line.startsWith('{') ? parseLenientJson(line)?.value : undefined
      const event = isObject(document) ? readEvent(document) : undefined
      if (event) emitEvent(event, ctx)
      else rest.push(line)
    },
    rest: () => Buffer.from(rest.join('\n')),
  }
}

/** Keeps a child in the list of those that still run. */
export function trackChild<End>(
  running: Set<Promise<unknown>> | undefined,
  child: Promise<End>,
): Promise<End> {
  if (!running) return child
  const forget = (): void => void running.delete(entry)
  const entry: Promise<unknown> = child.then(forget, forget)
  running.add(entry)
  return child
}

const END_ERRORS: {
  readonly [reason in ChildReason]?: (
    end: ChildEnd,
    details: JsonObject,
    signal: AbortSignal,
  ) => ToolError
} = {
  'not-started': ({ problem }) => {
    if (ToolError.is(problem)) return problem
    const reason = problem?.message ?? 'for an unknown reason'
    return new ToolError('CONFIG', `the program cannot be started: ${reason}`)
  },
  cancelled: ({ problem }, _details, signal) => {
    if (!problem) return toCancelledError(signal.reason)
    if (ToolError.is(problem)) return problem
    return new ToolError('INTERNAL', problem.message, { cause: problem })
  },
  timeout: ({ duration }, details) =>
    new ToolError('TIMEOUT', `the program was ended after ${Math.round(duration) / 1000} seconds`, {
      details,
    }),
  'stdout-limit': ({ stdout }, details) =>
    toOutputLimitError(`wrote more than ${stdout.length} bytes`, details),
  'line-limit': (_end, details) => toOutputLimitError('wrote a line that is too long', details),
  limit: ({ limit }) =>
    limit
      ? toLimitError(limit)
      : new ToolError('INTERNAL', 'the program used more than it may and was ended'),
}

function toOutputLimitError(problem: string, details: JsonObject): ToolError {
  return new ToolError('OUTPUT_LIMIT', `the program ${problem} and was ended`, {
    details,
    suggestion: { action: 'retry_with_modified_input', fix: 'Ask the tool for less' },
  })
}

/** Throws the error of a child that did not exit by itself. */
export function throwEndError(end: ChildEnd, ctx: Pick<Context, 'signal'>, stderr: string): void {
  const details = stderr === '' ? {} : { stderr: stderr.slice(-4000) }
  const error = END_ERRORS[end.reason]?.(end, details, ctx.signal)
  if (error) throw error
}
