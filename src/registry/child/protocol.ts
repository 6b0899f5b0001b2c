/**
 * The run protocol (JSON lines): events, questions and one end. Every run has a temporary folder
 * with a workspace and a cancel file.
 */

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as waitForEvents } from 'node:timers/promises'
import { toToolError } from '../../core/errors.ts'
import { onAbort } from '../../core/lifecycle.ts'
import type { OpenChild } from '../../process/run.ts'
import type { Context } from '../../protocol/context.ts'
import { readProtocolEnd } from '../../protocol/dialects/read-outcome.ts'
import type { Interaction } from '../../protocol/events.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import type { ToolError } from '../../protocol/tool-error.ts'
import { reviveToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import {
  askCaller,
  buildAnswerLine,
  emitEvent,
  readEvent,
  readInteractionOptions,
  toCallReply,
} from './events.ts'
import type { ChildOutput } from './exit.ts'
import { getExitMeaning, isSuccessStatus, readExitFailure } from './exit.ts'

const END_TYPES = new Set<unknown>(['result', 'error', 'cancelled'])

/**
 * Reads the lines of one run: emits events, has questions answered, and keeps the first line that
 * ends the run; lines after it are refused.
 */
export function createProtocolListener(
  ctx: Context,
  answer: (question: JsonObject) => Promise<void>,
) {
  let outcome: Outcome | undefined
  let unanswered: ToolError | undefined
  return {
    readLine(line: string): void {
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
    /** The result of the run, after the child exited. */
    async conclude(output: ChildOutput): Promise<unknown> {
      if (outcome?.ok) {
        if (output.signal !== null || getExitMeaning(output))
          throw reviveToolError(readExitFailure(output, undefined, undefined).error)
        if (!isSuccessStatus(output))
          ctx.log(
            `the tool gave a result, and then ended with exit status ${output.status}`,
            'warn',
          )
        return toCallReply(outcome, ctx)
      }
      // The error of a question that cannot be answered arrives a moment after a quick end.
      await waitForEvents()
      // The missing answer is the cause of the failure, also where the tool reports another one.
      if (unanswered) throw unanswered
      return toCallReply(readExitFailure(output, undefined, outcome), ctx)
    },
  }
}

/**
 * Has a question of a child (`action_required`) answered, and writes the answer to its stdin as one
 * JSON line. Closes stdin and throws where it cannot be answered; the child decides what to do.
 */
export async function answerActionRequired(
  line: JsonObject,
  ctx: Context,
  child: OpenChild,
): Promise<void> {
  const context = isObject(line['context']) ? line['context'] : {}
  const id = context['id'] ?? line['id']
  const kind = toQuestionKind(line['action'], context)
  try {
    const answer = await askCaller(
      { kind, prompt: buildPrompt(line, context), ...readQuestionOptions(kind, context) },
      ctx,
    )
    await child.write(JSON.stringify(buildAnswerLine({ id, kind }, answer)))
  } catch (error) {
    child.closeInput()
    throw error
  }
}

function toQuestionKind(action: unknown, { options }: JsonObject): Interaction['kind'] {
  if (action === 'confirm' || action === 'sample') return action
  return action === 'decision' && readInteractionOptions(options).length > 0 ? action : 'input'
}

function buildPrompt({ action }: JsonObject, context: JsonObject): string {
  if (typeof context['prompt'] === 'string' && context['prompt'] !== '') return context['prompt']
  const facts = JSON.stringify(context)
  return facts === '{}' ? String(action) : `${String(action)} ${facts}`
}

const DEFAULT_TYPES: { readonly [kind: string]: string } = {
  confirm: 'boolean',
  decision: 'string',
}

function readQuestionOptions(kind: Interaction['kind'], context: JsonObject) {
  const { timeout, key, schema, options, default: preset } = context
  const hasDefault = (DEFAULT_TYPES[kind] ?? typeof preset) === typeof preset
  return compact({
    timeout: typeof timeout === 'number' && timeout > 0 ? timeout : undefined,
    key: typeof key === 'string' && /^[\w.-]{1,64}$/.test(key) ? key : undefined,
    schema: isObject(schema) ? schema : undefined,
    options: readInteractionOptions(options),
    default: hasDefault ? preset : undefined,
    sampling: context,
  })
}

/**
 * Makes the folder of a run in the temporary directory, with the variables that describe it to the
 * tool. Cancelling the call creates the cancel file there.
 */
export async function makeRunFolder({ env, deadline, signal }: Context) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'toolable-run-')))
  const workspace = join(folder, 'work')
  const logs = join(folder, 'logs')
  const control = join(folder, 'control')
  const cancelFile = join(control, 'CANCEL')
  await Promise.all([workspace, logs, control].map((path) => mkdir(path)))
  const stopListening = onAbort(signal, () => void writeFile(cancelFile, '').catch(() => undefined))
  const runId = `r-${randomHex(5)}`
  return {
    workspace,
    /** What the tool may read besides its workspace. */
    readable: [control, logs],
    env: compact({
      RUN_ID: runId,
      TRACE_ID: env['TRACE_ID'] ?? `t-${randomHex(8)}`,
      WORKSPACE: workspace,
      LOG_DIR: logs,
      CANCEL_FILE: cancelFile,
      AI_PROTOCOL_VERSION: '1',
      IDEMPOTENCY_KEY: env['IDEMPOTENCY_KEY'] ?? runId,
      DEADLINE_TS: deadline?.at.toISOString(),
    }),
    async remove(): Promise<void> {
      stopListening()
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
    },
  }
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
