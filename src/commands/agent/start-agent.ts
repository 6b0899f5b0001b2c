/**
 * `toolable agent`: runs an agent on record. What cannot work is reported before a run begins.
 */

import type { AgentPrompt } from '../../agent/types.ts'
import { createDialectContext, printOutcome } from '../../cli/output.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { CallOptions } from '../../core/call.ts'
import { createState } from '../../core/state/state.ts'
import type { Tool } from '../../core/tool.ts'
import { call, getDefinition } from '../../core/tool.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { reviveToolError, ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import { selectEntries } from '../../registry/filter.ts'
import type { AttemptOutcome } from '../../runner/attempt-outcome.ts'
import { performRun } from '../../runner/perform-run.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunRequest } from '../../runner/request.ts'
import { createRunRequest } from '../../runner/request.ts'
import { createRun } from '../../runner/run-folder.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { createRunId, findRunsFolder } from '../../runner/run-paths.ts'
import { readRunSummary } from '../../runner/summary.ts'
import { compact } from '../../util/values.ts'
import { chooseProgress } from '../command.ts'
import { pickRegistryFlags, withRegistry } from '../config.ts'
import { getRunCaller, openAnswerChannels } from '../run/consent.ts'
import { detachRun, parseRunOptions } from '../run/create-run.ts'
import { prepareHost } from '../run/supervise.ts'
import type { AgentOutput } from './agent-output.ts'
import { createAgentPresenter, createPlainOutput } from './agent-output.ts'
import { AGENT_TOOL, createAgentTool } from './agent-tool.ts'
import type { AgentFlags, AgentSettings } from './models.ts'
import { loadModel, loadPrompt } from './models.ts'

const NO_TOOLS_WARNING =
  'there are no tools here, so the model can only talk: name them in toolable.yaml (toolable init begins one), or give --folder or --prompt'

/**
 * Runs an agent on record; gives the exit status. What cannot work (no model, no such tool) is told
 * before a run begins.
 */
export async function startAgent(
  { wait, detach, progress: wish, ...given }: AgentFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals, set } = context
  const { config, folder, strict, probeUnsandboxed, cache, ...flags } = given
  if (globals.idempotencyKey !== undefined)
    throw new ToolError(
      'USAGE',
      'an agent takes no idempotency key: what a model does is never the same work twice',
      { field: 'idempotency-key', suggestion: 'Leave it out' },
    )
  const progress = chooseProgress(wish, globals, io)
  const surroundings = pickRegistryFlags(given)
  const settings = {
    ...flags,
    ...compact({ yes: globals.yes ? true : undefined, dryRun: globals.dryRun ? true : undefined }),
  }
  validateFlags(settings, io.env)
  const model = await loadModel(settings, io)
  if (settings.prompt !== undefined)
    await requireRenderablePrompt(settings.prompt, settings.params, io.cwd)
  const root = findRunsFolder(io.cwd, config)
  await recoverRuns(root)
  return withRegistry(surroundings, io, async (registry) => {
    // Fails, and says which was meant.
    const tools = selectEntries(registry.entries as readonly RegistryEntry[], settings.tools)
    const warnings = settings.prompt === undefined && tools.length === 0 ? [NO_TOOLS_WARNING] : []
    let stage: AgentOutput = createPlainOutput(context, progress)
    const voice = createAgentPresenter(context, () => stage, progress)
    const worker = (artifacts: string, secrets?: CallOptions['secrets']): Tool =>
      createAgentTool({ registry, artifacts, secrets, model, onEvent: voice.addEvent }) as Tool
    const entry = { id: AGENT_TOOL, definition: getDefinition(worker(root)), found: {} }
    // A prompt brings tools that no policy has looked at; those of the registry are looked at by
    // each call.
    // What it has done it would do again: whether to go on is for people to decide.
    const request: RunRequest = {
      ...(await createRunRequest(
        createRunId(),
        entry,
        undefined,
        { args: [], input: settings },
        {
          ...parseRunOptions({ retries: 0 }, globals, io.cwd),
          surroundings,
          caller: getRunCaller(io),
        },
        io,
      )),
      command: 'agent',
      ...compact({ orchestrator: settings.prompt === undefined || undefined }),
    }
    const paths = createRun(root, request)
    if (detach) return detachRun(paths, request, io, host, globals)
    prepareHost(host)
    if (progress === 'tree')
      stage = await (
        await import('./agent-tree-output.ts')
      ).createTreeOutput(paths, request, context)
    for (const warning of warnings) voice.warn(warning)
    const channels = openAnswerChannels(
      paths,
      io,
      { wait: wait === true, session: globals.session === true },
      stage.ask,
    )
    let outcome: Outcome | undefined
    const ending = await performRun(paths, request, {
      env: io.env,
      registry: {
        call: async (_tool, input, options) =>
          (outcome = await call(worker(paths.artifacts, options?.secrets), input, options)),
      },
      channels,
      onWritten: stage.addRecord,
      signal: host.signal,
    }).catch(async (error: unknown) => {
      await stage.end(false)
      throw error
    })
    io.stdin.close()
    const told = await toAgentOutcome(paths, request, ending, outcome)
    await stage.end(told.ok)
    if (!told.ok)
      throw reviveToolError({ ...told.error, details: { run_id: paths.id, ...told.error.details } })
    const { presentation } = voice
    // People have seen it already.
    const { message: _message, ...envelope } = told
    if (presentation.mode !== 'text' || globals.stream)
      await printOutcome(
        {
          ...envelope,
          meta: {
            ...told.meta,
            tool: AGENT_TOOL,
            version: set.version,
            run_id: paths.id,
            ...compact({ warnings: warnings.length > 0 ? warnings : undefined }),
          },
        },
        {
          io,
          presentation,
          context: createDialectContext(io, 'agent'),
          streamed: globals.stream === true,
          quiet: globals.quiet === true,
        },
      )
    return ending.rc
  })
}

/** Refuses flags that would do nothing beside the others. Throws INVALID_INPUT. */
function validateFlags(
  { prompt, params, tools, model, baseUrl, apiKeyFile }: AgentSettings,
  env: { readonly [name: string]: string | undefined },
): void {
  if (params !== undefined && prompt === undefined)
    throw createUselessFlagError(
      'params',
      'goes with --prompt only',
      'Add --prompt ./file.mjs, or leave it out',
    )
  if (tools !== undefined && prompt !== undefined)
    throw createUselessFlagError(
      'tools',
      'chooses tools of the registry, and --prompt brings its own',
      'Leave out one of the two',
    )
  const wanted = model ?? env['TOOLABLE_MODEL'] ?? 'openai:'
  if (wanted.startsWith('openai:')) return
  if (baseUrl !== undefined)
    throw createUselessFlagError(
      'base-url',
      `goes with openai:<name>, and the model is '${wanted.slice(0, 100)}'`,
      'Leave it out, or name a model with openai:',
    )
  if (apiKeyFile !== undefined)
    throw createUselessFlagError(
      'api-key-file',
      `goes with openai:<name>, and the model is '${wanted.slice(0, 100)}'`,
      'Leave it out: other providers have variables of their own for the key',
    )
}

function createUselessFlagError(flag: string, why: string, fix: string): ToolError {
  return new ToolError('INVALID_INPUT', `--${flag} ${why}`, { field: flag, suggestion: fix })
}

/**
 * Loads and renders the prompt once, so that params that do not fit are told before a run begins.
 * Throws what keeps it from being rendered.
 */
async function requireRenderablePrompt(
  path: string,
  params: AgentSettings['params'],
  cwd: string,
): Promise<void> {
  const prompt = (await loadPrompt(path, cwd)) as AgentPrompt
  const state = createState()
  try {
    await prompt.render(params as never, { state })
  } catch (error) {
    if (!ToolError.is(error) || error.field === undefined) throw error
    const { message, field, details } = error
    throw new ToolError('INVALID_INPUT', message, {
      field: 'params',
      cause: error,
      details: { ...details, param: field },
      suggestion: `Give the params of the prompt as one JSON object: --params '{"name": "value"}'`,
    })
  } finally {
    await state.close()
  }
}

/**
 * The outcome of a run of an agent: its own, unless the runner ended what it would have gone on
 * with.
 */
async function toAgentOutcome(
  paths: RunPaths,
  request: RunRequest,
  ending: AttemptOutcome,
  outcome: Outcome | undefined,
): Promise<Outcome> {
  if (outcome?.ok && ending.state === 'completed')
    return { ...outcome, result: { ...(outcome.result as object), run_id: paths.id } }
  if (
    outcome &&
    !outcome.ok &&
    (ending.state === 'cancelled') === (outcome.error.code === 'CANCELLED')
  )
    return outcome
  const { error } = await readRunSummary(paths, request)
  const { code, message, recoverable, retryable, category } = new ToolError(
    error?.code ?? 'INTERNAL',
    error?.message ?? 'the run failed',
  ).toObject()
  return {
    ok: false,
    status: 'error',
    error: compact({
      code,
      category,
      message,
      recoverable,
      retryable,
      suggestion:
        error?.hint !== undefined
          ? {
              action: 'retry_with_modified_input' as const,
              fix: error.hint,
              applicability: 'maybe_incorrect' as const,
            }
          : undefined,
    }),
    meta: { tool: AGENT_TOOL, duration_ms: 0 },
  }
}
