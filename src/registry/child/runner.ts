/**
 * Calls a tool in another process. CALL_FORMS has one function per call form; most of them are one
 * run from input to answer (`runOnce`).
 */

import { toCancelledError } from '../../core/lifecycle.ts'
import { toLimitError } from '../../process/child.ts'
import type { ChildEnd, ChildReason } from '../../process/child.ts'
import { runChild } from '../../process/run.ts'
import type { Context } from '../../protocol/context.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import { buildChildEnv } from '../source.ts'
import { parseLenientJson, readAnswer } from './answer.ts'
import { buildProgramArgv, checkArguments, toFlagArguments } from './arguments.ts'
import type { CallForm, ChildCall, ChildServices } from './child-call.ts'
import type { CallFormRunner, ChildFeed, ChildRequest, Confinement } from './confined-call.ts'
import { createStderrReader, emitEvent, readEvent, toCallReply } from './events.ts'
import type { AnswerRules } from './exit.ts'

// Some way below what one argument can carry: it shares its room with the environment.
const MAX_JSON_ARGUMENT_BYTES = 100_000

/**
 * The input as one JSON argument; by stdin where it is large or secret and the tool reads stdin.
 */
const callWithJson: CallFormRunner = (request) =>
  runOnce(request, toJsonInput(request.call, request.input), { expects: 'json' })

function toJsonInput(call: ChildCall, input: JsonObject): ChildFeed {
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

/** Each field of the input as a flag. */
const callWithFlags: CallFormRunner = (request) =>
  runOnce(request, { args: toFlagArguments(request.input) }, { expects: 'text' })

/** The input as one JSON document on stdin, of any size. */
const callWithStdin: CallFormRunner = (request) =>
  runOnce(request, { args: [], input: `${JSON.stringify(request.input)}\n` }, { expects: 'json' })

/**
 * An ordinary program, by what its help says; its output is data, and its exit status says how it
 * went.
 */
const callProgram: CallFormRunner = async (request) => {
  const { program: form } = request.call
  if (!form) throw new ToolError('INTERNAL', 'nobody has said how the program takes its arguments')
  return runOnce(request, { args: buildProgramArgv(form, request.input) }, { expects: 'verbatim' })
}

const MAX_PROTOCOL_BYTES = 256 * 1024 * 1024
const MAX_PROTOCOL_LINE_BYTES = 1024 * 1024

/** Flags in, the JSON lines of the run protocol out: events, questions, and one end. */
const callWithProtocol: CallFormRunner = (request) =>
  trackChild(request.services.running, runProtocol(request))

async function runProtocol({ call, input, ctx, held }: ChildRequest): Promise<unknown> {
  const args = toFlagArguments(input)
  checkArguments(args, 'Give the tool a file with the data instead')
  const [{ openChild }, { makeRunFolder }, { createProtocolListener }, { answerActionRequired }] =
    await Promise.all([
      import('../../process/run.ts'),
      import('./protocol.ts'),
      import('./protocol.ts'),
      import('./protocol.ts'),
    ])
  const folder = held ? undefined : await makeRunFolder(ctx)
  try {
    const side = createStderrReader(ctx)
    const listener = createProtocolListener(ctx, (question) =>
      answerActionRequired(question, ctx, child),
    )
    const [program, ...fixed] = call.command
    const child = await openChild({
      command: [program, ...fixed, ...args],
      grace: STOP_GRACE_MS,
      maxStdout: MAX_PROTOCOL_BYTES,
      maxLine: MAX_PROTOCOL_LINE_BYTES,
      ...(held ?? {
        cwd: call.cwd ?? ctx.cwd,
        env: { ...buildChildEnv(call, ctx), ...folder!.env },
      }),
      signal: ctx.signal,
      onLine: listener.readLine,
      onErrorLine: side.readLine,
    })
    const end = await child.end
    const problem = toEndError(end, ctx, side.tail())
    if (problem) throw problem
    return await listener.conclude({
      ...end,
      stderr: side.tail(),
      ...compact({ exitCodes: call.exitCodes }),
    })
  } finally {
    await folder?.remove()
  }
}

/** A tool of a toolable executable: warm where it can be kept so, else started for this call. */
const callToolable: CallFormRunner = async (request) => {
  const { call, input, ctx, services, looked, held } = request
  // What is held has a workspace for each call, so that no process serves several.
  const outcome =
    call.warm && !held ? await services.warm?.call(call, input, ctx, looked) : undefined
  return outcome
    ? toCallReply(outcome, ctx)
    : runOnce(request, toToolableInput(request), { expects: 'json', mustAnswer: true })
}

function toToolableInput({ call, input, ctx }: ChildRequest): ChildFeed {
  const name = call.tool === undefined ? [] : [call.tool]
  const text = JSON.stringify(input)
  // Executables of the specification know neither stdin nor these flags.
  if (!call.stdin && !call.warm)
    return compact({
      args: [...name, text, ...(call.streaming ? ['--stream'] : [])],
      streams: call.streaming ? true : undefined,
    })
  return {
    args: [
      ...name,
      '-',
      ...(ctx.dryRun ? ['--dry-run'] : []),
      ...(call.destructive ? ['--yes'] : []),
    ],
    input: text,
  }
}

const CALL_FORMS: { readonly [form in CallForm]: CallFormRunner } = {
  json: callWithJson,
  flags: callWithFlags,
  stdin: callWithStdin,
  protocol: callWithProtocol,
  toolable: callToolable,
  program: callProgram,
}

/**
 * Runs a tool that lives in another process, in the form that it is called by: held by its
 * manifest, or with the rights of its caller.
 */
export function createChildRunner(
  call: ChildCall,
  services: ChildServices,
  held?: Confinement,
): ForeignRun {
  const run = CALL_FORMS[call.form]
  return (input, ctx, looked) => {
    // A script hears of a dry run by its own input only; what does not hear of it would act.
    const hears = call.form === 'toolable' || input['dry_run'] === true || input['dryRun'] === true
    if (ctx.dryRun && !hears)
      throw new ToolError(
        'PRECONDITION',
        'the tool has no field by which it could be told of a dry run',
        { recoverable: false },
      )
    const request = { call, services, input, ctx, looked }
    return held
      ? trackChild(
          services.running,
          import('./confined-call.ts').then(({ runConfined }) => runConfined(run, request, held)),
        )
      : run(request)
  }
}

/** Milliseconds that a cancelled child has to end by itself. */
export const STOP_GRACE_MS = 2000

const STDIN_HINT =
  "Send less, or let the tool read its input from stdin: 'call: stdin' in its manifest"
const FILE_HINT = 'Send less, or put the text into a file and give the tool its path'

/** Runs a child once, from its input to its answer. */
export async function runOnce(
  { call, ctx, services, held }: ChildRequest,
  feed: ChildFeed,
  rules: AnswerRules,
): Promise<unknown> {
  const [program, ...fixed] = call.command
  checkArguments(feed.args, call.form === 'json' || call.form === 'flags' ? STDIN_HINT : FILE_HINT)
  const side = createStderrReader(ctx)
  const stream = feed.streams && readEventStream(ctx)
  const end = await trackChild(
    services.running,
    runChild({
      command: [program, ...fixed, ...feed.args],
      grace: STOP_GRACE_MS,
      ...(held ?? { cwd: call.cwd ?? ctx.cwd, env: buildChildEnv(call, ctx) }),
      ...compact({ input: feed.input }),
      signal: ctx.signal,
      onErrorLine: side.readLine,
      ...compact({ onLine: stream ? stream.hear : undefined }),
    }),
  )
  const problem = toEndError(end, ctx, side.tail())
  if (problem) throw problem
  const { outcome, events } = readAnswer(
    compact({
      stdout: stream ? stream.rest() : end.stdout,
      stderr: side.tail(),
      status: end.status,
      signal: end.signal,
      exitCodes: call.exitCodes,
    }),
    rules,
  )
  for (const event of events) emitEvent(event, ctx)
  return toCallReply(outcome, ctx)
}

// Events are told as they come; what is left of the output is the answer.
function readEventStream(ctx: ChildRequest['ctx']): { hear(line: string): void; rest(): Buffer } {
  const rest: string[] = []
  return {
    hear(line) {
      const document = line.startsWith('{') ? parseLenientJson(line)?.value : undefined
      const event = isObject(document) ? readEvent(document) : undefined
      if (event) emitEvent(event, ctx)
      else rest.push(line)
    },
    rest: () => Buffer.from(rest.join('\n')),
  }
}

/** Keeps a child in the list of those that are not over. */
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

type ExplainEnd = (
  end: ChildEnd,
  ctx: Pick<Context, 'signal'>,
  details: { readonly stderr?: string },
) => ToolError

const ASK_FOR_LESS = { action: 'retry_with_modified_input', fix: 'Ask the tool for less' } as const

const END_ERRORS: { readonly [reason in ChildReason]?: ExplainEnd } = {
  'not-started': ({ problem }) =>
    ToolError.is(problem)
      ? problem
      : new ToolError(
          'CONFIG',
          `the program cannot be started: ${problem?.message ?? 'for an unknown reason'}`,
        ),
  cancelled: ({ problem }, { signal }) =>
    ToolError.is(problem)
      ? problem
      : problem
        ? new ToolError('INTERNAL', problem.message, { cause: problem })
        : toCancelledError(signal.reason),
  timeout: ({ duration }, _ctx, details) =>
    new ToolError('TIMEOUT', `the program was ended after ${Math.round(duration) / 1000} seconds`, {
      details,
    }),
  'stdout-limit': ({ stdout }, _ctx, details) =>
    new ToolError(
      'OUTPUT_LIMIT',
      `the program wrote more than ${stdout.length} bytes and was ended`,
      { details, suggestion: ASK_FOR_LESS },
    ),
  limit: ({ limit }) =>
    limit
      ? toLimitError(limit)
      : new ToolError('INTERNAL', 'the program used more than it may and was ended'),
  'line-limit': (_end, _ctx, details) =>
    new ToolError('OUTPUT_LIMIT', 'the program wrote a line that is too long and was ended', {
      details,
      suggestion: ASK_FOR_LESS,
    }),
}

/** The failure of a child that did not come to an end of its own; undefined for one that did. */
export function toEndError(
  end: ChildEnd,
  ctx: Pick<Context, 'signal'>,
  stderr: string,
): ToolError | undefined {
  return END_ERRORS[end.reason]?.(end, ctx, stderr === '' ? {} : { stderr: stderr.slice(-4000) })
}
