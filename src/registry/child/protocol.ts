/**
 * The run protocol (JSON lines): events, questions and one end. Every run has a temporary folder
 * with a workspace and a cancel file.
 */

import { toToolError } from '../../core/errors.ts'
import { onAbort } from '../../core/lifecycle.ts'
import type { OpenChild } from '../../process/run.ts'
import type { Context } from '../../protocol/context.ts'
import { readProtocolEnd } from '../../protocol/dialects/read-outcome.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { reviveToolError } from '../../protocol/tool-error.ts'
import type { ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import {
  buildAnswerLine,
  emitEvent,
  readEvent,
  readInteractionOptions,
  readSampling,
  toCallReply,
} from './events.ts'
import { getExitMeaning, isSuccessStatus, readExitFailure } from './exit.ts'
import type { ChildOutput } from './exit.ts'

const END_TYPES = new Set<unknown>(['result', 'error', 'cancelled'])

/** Understands the lines of one run, as they come. */
export type ProtocolListener = {
  readLine(line: string): void
  /** What the run came to, when the child is over. */
  conclude(output: ChildOutput): Promise<unknown>
}

/**
 * Tells events on, has questions answered, and keeps the first line that ends the run; what comes
 * behind it is refused.
 */
export function createProtocolListener(
  ctx: Context,
  answer: (question: JsonObject) => Promise<void>,
): ProtocolListener {
  let outcome: Outcome | undefined
  let unanswered: ToolError | undefined
  return {
    readLine(line) {
      const message = parseJsonObject(line)
      if (!message) return ctx.log(shorten(line, 2000), 'debug')
      if (outcome) return ctx.log(`the tool goes on after its end: ${shorten(line, 200)}`, 'warn')
      if (END_TYPES.has(message['type'])) outcome = readProtocolEnd(message, { tool: '' })
      else if (message['type'] === 'action_required')
        void answer(message).catch((error: unknown) => {
          unanswered = toToolError(error)
        })
      else {
        const event = readEvent(message)
        if (event) emitEvent(event, ctx)
      }
    },
    async conclude(output) {
      if (outcome?.ok) {
        const { status } = output
        if (output.signal !== null || getExitMeaning(output))
          throw reviveToolError(readExitFailure(output, undefined, undefined).error)
        if (!isSuccessStatus(output))
          ctx.log(`the tool gave a result, and then ended with exit status ${status}`, 'warn')
        return toCallReply(outcome, ctx)
      }
      // A question that nobody can answer is known a moment later than a quick end.
      await new Promise((resolve) => setImmediate(resolve))
      // It failed because nobody answered, whatever it says about it.
      if (unanswered) throw unanswered
      return toCallReply(readExitFailure(output, undefined, outcome), ctx)
    },
  }
}

/**
 * Lets somebody answer what a child asks with `action_required`, and writes the answer to its stdin
 * as one JSON line. Where nobody can, stdin is closed and the reason thrown, so that the child may
 * go on or end as it likes.
 */
export async function answerActionRequired(
  line: JsonObject,
  ctx: Context,
  child: OpenChild,
): Promise<void> {
  const context = isObject(line['context']) ? line['context'] : {}
  const id = context['id'] ?? line['id']
  try {
    const kind =
      typeof line['action'] === 'string' && Object.hasOwn(ASKERS_BY_ACTION, line['action'])
        ? line['action']
        : 'input'
    const answer = await ASKERS_BY_ACTION[kind]!(context, ctx, buildPrompt(line, context))
    await child.write(JSON.stringify(buildAnswerLine({ id, kind }, answer)))
  } catch (error) {
    child.closeInput()
    throw error
  }
}

type QuestionAsker = (context: JsonObject, ctx: Context, prompt: string) => Promise<unknown>

const ASKERS_BY_ACTION: { readonly [kind: string]: QuestionAsker } = {
  confirm: (context, ctx, prompt) =>
    ctx.ask({
      kind: 'confirm',
      prompt,
      ...readCommonOptions(context),
      ...compact({
        default: typeof context['default'] === 'boolean' ? context['default'] : undefined,
      }),
    }),
  decision: (context, ctx, prompt) => {
    const options = readInteractionOptions(context['options'])
    if (options.length === 0) return ASKERS_BY_ACTION['input']!(context, ctx, prompt)
    const { default: preset } = context
    return ctx.ask({
      kind: 'decision',
      prompt,
      options,
      ...readCommonOptions(context),
      ...compact({ default: typeof preset === 'string' ? preset : undefined }),
    })
  },
  input: ({ schema, default: preset, ...context }, ctx, prompt) =>
    ctx.ask({
      kind: 'input',
      prompt,
      ...readCommonOptions(context),
      ...compact({ schema: isObject(schema) ? schema : undefined, default: preset }),
    }),
  sample: (context, ctx, prompt) =>
    ctx.sample(prompt, { ...readCommonOptions(context), ...readSampling(context) }),
}

function buildPrompt({ action }: JsonObject, context: JsonObject): string {
  if (typeof context['prompt'] === 'string' && context['prompt'] !== '') return context['prompt']
  const facts = JSON.stringify(context)
  return facts === '{}' ? String(action) : `${String(action)} ${facts}`
}

function readCommonOptions({ timeout, key }: JsonObject): {
  readonly timeout?: number
  readonly key?: string
} {
  return compact({
    timeout: typeof timeout === 'number' && timeout > 0 ? timeout : undefined,
    key: typeof key === 'string' && /^[\w.-]{1,64}$/.test(key) ? key : undefined,
  })
}

/** What a run has for itself while it lasts. */
export type TemporaryRunFolder = {
  readonly env: { readonly [name: string]: string }
  readonly workspace: string
  /** What the tool reads besides: where the cancel file appears, and where logs lie. */
  readonly shown: readonly string[]
  remove(): Promise<void>
}

/**
 * Makes the folder of a run in the temporary directory, with the variables that tell the tool about
 * it. A call that is cancelled puts the cancel file there.
 */
export async function makeRunFolder({
  env,
  deadline,
  signal,
}: Context): Promise<TemporaryRunFolder> {
  const [{ mkdir, mkdtemp, realpath, rm, writeFile }, { tmpdir }, { join }] = await Promise.all([
    import('node:fs/promises'),
    import('node:os'),
    import('node:path'),
  ])
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'toolable-run-')))
  const inside = (name: string): string => join(folder, name)
  await Promise.all(['work', 'logs', 'control'].map((name) => mkdir(inside(name))))
  const stopListening = onAbort(
    signal,
    () => void writeFile(inside('control/CANCEL'), '').catch(() => undefined),
  )
  const runId = `r-${randomHex(5)}`
  return {
    workspace: inside('work'),
    shown: [inside('control'), inside('logs')],
    env: compact({
      RUN_ID: runId,
      TRACE_ID: env['TRACE_ID'] ?? `t-${randomHex(8)}`,
      WORKSPACE: inside('work'),
      LOG_DIR: inside('logs'),
      CANCEL_FILE: inside('control/CANCEL'),
      AI_PROTOCOL_VERSION: '1',
      IDEMPOTENCY_KEY: env['IDEMPOTENCY_KEY'] ?? runId,
      DEADLINE_TS: deadline ? deadline.at.toISOString() : undefined,
    }),
    async remove() {
      stopListening()
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
    },
  }
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
