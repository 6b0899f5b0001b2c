/**
 * Executes a workflow for a tool call: as a run on record whose questions the caller answers.
 * Loaded on the first call.
 */

import type { Reply } from '../define/results.ts'
import { ok, withForeignInfo } from '../define/results.ts'
import type { Context } from '../protocol/context.ts'
import type { SuggestionInput } from '../protocol/tool-error.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { createFolderChannel } from '../runner/answer-channels.ts'
import { performRun } from '../runner/perform-run.ts'
import type { AnswerChannel, RunQuestion } from '../runner/questions.ts'
import { createRun } from '../runner/run-folder.ts'
import { createRunId, findRunsFolder } from '../runner/run-paths.ts'
import { readRunSummary } from '../runner/summary.ts'
import type { JsonObject } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { RunSummary } from '../views/model/run-summary.ts'
import type { LoadedWorkflow } from './lookup.ts'
import { createWorkflowRequest } from './request.ts'
import { toPlainCode } from './step-host.ts'
import { createWorkflowTarget } from './workflow-run.ts'
import type { RegistryWorkflowHost } from './workflow-types.ts'

export type WorkflowCall = { readonly loaded: LoadedWorkflow; readonly input: JsonObject }

/**
 * Executes a workflow for a call: as a run on record whose questions the caller or `toolable
 * answer` answers. Returns its result and the id of the run; throws its error.
 */
export async function callWorkflow(
  { loaded: { workflow, file }, input }: WorkflowCall,
  ctx: Context,
  { opened, cwd, surroundings, closed }: RegistryWorkflowHost,
): Promise<Reply> {
  const { env } = ctx
  const request = createWorkflowRequest(createRunId(), workflow, input, {
    cwd: ctx.cwd,
    env,
    file,
    caller: ctx.caller,
    ...compact({ surroundings }),
  })
  const paths = createRun(findRunsFolder(cwd), request)
  await performRun(paths, request, {
    env,
    start: createWorkflowTarget({ paths, request, registry: opened(), env, now: Date.now }),
    channels: [createCallerChannel(ctx), { ...createFolderChannel(paths.answers), passive: true }],
    onWritten: createProgressForwarder(ctx),
    signal: AbortSignal.any([ctx.signal, closed]),
  })
  return toReply(await readRunSummary(paths, request))
}

function toReply({ run_id, state, result, error }: RunSummary): Reply {
  if (state === 'completed') return withForeignInfo(ok(result ?? null), { run_id })
  const code = state === 'cancelled' ? 'CANCELLED' : toPlainCode(error?.code ?? 'INTERNAL')
  throw new ToolError(
    code,
    error?.message ?? `the workflow was ${state}`,
    compact({
      details: { run_id },
      suggestion: code !== 'CANCELLED' ? createSuggestion(code, run_id, error?.hint) : undefined,
    }),
  )
}

function createSuggestion(code: string, runId: string, hint: string | undefined): SuggestionInput {
  if (code === 'ANSWER_REQUIRED' && hint !== undefined)
    return {
      action: 'retry_with_modified_input',
      fix: 'Answer it, and the workflow goes on',
      example: hint,
      applicability: 'has_placeholders',
    }
  return hint ?? { action: 'abort', fix: `toolable runs show ${runId}` }
}

const QUESTION_KEY_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/

/**
 * The caller of the workflow answers its questions: a person at a terminal, the client of a server,
 * the model of an agent.
 */
function createCallerChannel({ ask, sample }: Pick<Context, 'ask' | 'sample'>): AnswerChannel {
  return {
    name: 'the caller',
    async answer(question, _signal, problem) {
      try {
        return { value: await askCaller(question, problem, { ask, sample }) }
      } catch (error) {
        if (ToolError.is(error) && error.code === 'ANSWER_REQUIRED') return undefined
        throw error
      }
    },
  }
}

function askCaller(
  { kind, prompt, options = [], schema, default: preset, sampling, key }: RunQuestion,
  problem: string | undefined,
  { ask, sample }: Pick<Context, 'ask' | 'sample'>,
): Promise<unknown> {
  const named = key !== undefined && QUESTION_KEY_PATTERN.test(key) ? { key } : {}
  const common = {
    prompt: problem === undefined ? prompt : `${prompt} (the answer ${problem})`,
    ...named,
  }
  const otherwise = preset === undefined ? {} : { default: preset }
  if (kind === 'sample')
    return sample(prompt, {
      ...named,
      ...compact({
        maxTokens: sampling?.max_tokens,
        system: sampling?.system,
        temperature: sampling?.temperature,
        stopSequences: sampling?.stop_sequences,
      }),
    })
  if (kind === 'confirm') return ask({ kind, ...common, ...(otherwise as { default?: boolean }) })
  if (kind === 'decision')
    return ask({ kind, options, ...common, ...(otherwise as { default?: string }) })
  return ask({ kind, ...compact({ schema }), ...common, ...otherwise })
}

/** Forwards the progress of a workflow to its caller, from the lines of its record. */
function createProgressForwarder({ progress }: Pick<Context, 'progress'>): (lines: string) => void {
  return (lines) => {
    for (const line of lines.trimEnd().split('\n')) {
      const event: unknown = JSON.parse(line)
      const update = isObject(event) ? toProgressMessage(event) : undefined
      if (update) progress(update.message, update.percent)
    }
  }
}

type ProgressMessage = { readonly message: string; readonly percent?: number }

function toProgressMessage(event: {
  readonly [field: string]: unknown
}): ProgressMessage | undefined {
  const { type, task_id: task, child_event: child } = event
  if (type === 'progress') return parseProgress(event)
  // The progress of the whole covers the steps at the top.
  if (type === 'task_done' && String(task).includes('/'))
    return { message: `${String(task)} ${event['status'] === 'ok' ? 'is done' : 'failed'}` }
  // The percentage of one task says nothing about the whole.
  const words = type === 'task_progress' && isObject(child) ? parseProgress(child) : undefined
  return words && { message: `${String(task)}: ${words.message}` }
}

function parseProgress({
  msg,
  message,
  step,
  pct,
  percent,
}: {
  readonly [field: string]: unknown
}): ProgressMessage | undefined {
  const text = [msg, message, step].find((word) => typeof word === 'string' && word !== '')
  const share = [pct, percent].find((number) => typeof number === 'number')
  return text === undefined
    ? undefined
    : compact({ message: String(text), percent: typeof share === 'number' ? share : undefined })
}
